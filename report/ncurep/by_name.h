// SPDX-License-Identifier: Apache-2.0
//
// The metrics of a result by their names. It owns an index of the strings of a report, whose memory
// serves one result after the other. Of metrics of one name the first counts; one whose name the
// file does not have has none.
#pragma once

#include "report/ncurep/ncurep.h"
#include "report/ncurep/result.h"

struct report_by_name {
    const struct report_ncurep *report; // borrowed
    uint32_t *order;                    // the number of a string of each text, by text; owned
    uint32_t *texts;                    // the place in `order` of each string; owned
    size_t text_count;
    struct nvtxt_slice result; // borrowed from the report
    // Of each text: the metric of that name, if it is of the result of this turn. Owned.
    struct report_by_name_place {
        uint32_t place, turn;
    } *places;
    uint32_t turn;
};

// After report_ncurep_index(). Returns 0 or -ENOMEM; deinit in each case.
int report_by_name_init(struct report_by_name *by_name, const struct report_ncurep *report);
void report_by_name_deinit(struct report_by_name *by_name);

// Goes over the metrics of a result; of the same one again it does nothing.
void report_by_name_set(struct report_by_name *by_name, struct nvtxt_slice result);

// A metric of the result that was set. False: it has none of that name.
bool report_by_name_find(const struct report_by_name *by_name, struct nvtxt_slice name,
                         struct report_ncurep_metric *metric);

// Whether some result of the report may have a metric of that name: the report has the text.
bool report_by_name_knows(const struct report_by_name *by_name, struct nvtxt_slice name);

// The name of a metric of the result, if the metric is the one that report_by_name_find() gives.
bool report_by_name_name(const struct report_by_name *by_name,
                         const struct report_ncurep_metric *metric, struct nvtxt_slice *name);
