// SPDX-License-Identifier: Apache-2.0
//
// The lines of one pattern, with what is masked in it as columns, and figures of the columns that
// have numbers.
#pragma once

#include "report/load/capture.h"
#include "report/logs/mask.h"
#include "report/table/json.h"
#include "report/table/table.h"

struct report_values {
    const struct report_capture *capture; // borrowed
    struct nvtxt_slice text;              // borrowed; a pattern, or
    struct report_mask wanted;            // a line of it
    size_t places;                        // that it has, at most REPORT_MASK_PLACES
    uint32_t *lines;                      // owned; indexes of events
    size_t count, room;
    struct report_place_figures {
        size_t numbers; // lines whose value is one
        double min, median, p90, max;
    } figures[REPORT_MASK_PLACES];
};

// Finds the lines among the selected ones of the capture. `text` is a pattern, or a line of it; it
// is borrowed. Returns 0 or -ENOMEM; deinit it in any case.
int report_values_init(struct report_values *values, const struct report_capture *capture,
                       struct nvtxt_slice text);
void report_values_deinit(struct report_values *values);

// Two tables: the figures of each place, and a row for each line. Return 0 or -ENOMEM; deinit the
// table in any case. What they borrow lives as long as the capture.
int report_values_figures_table(struct report_table *table, const struct report_values *values);
int report_values_lines_table(struct report_table *table, const struct report_values *values);

// Members of an object that has begun: pattern, places, matches.
void report_values_json(struct report_json *json, const struct report_values *values);
