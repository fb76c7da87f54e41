// SPDX-License-Identifier: Apache-2.0
//
// Metrics and scopes: as the JSON of nvtxt-report(1), and their values as people read them.
#pragma once

#include <stdbool.h>

#include "protocol/base/buf.h"
#include "report/catalogue/value.h"
#include "report/table/write.h"

const char *report_type_name(enum report_type type); // "u64"

// A metric as an object, where a value may stand. `label` NULL: null.
void report_render_metric_json(struct report_json *json, const struct report_metric *metric,
                               const char *label);

// The members of that object alone, for a caller that adds others.
void report_render_metric_members(struct report_json *json, const struct report_metric *metric,
                                  const char *label);

// A value as a cell of a table.
struct report_cell report_value_cell(const struct report_value *value);

// {"kind","id"} as the member `name`; of a result also "name" and "path".
void report_render_scope_json(struct report_json *json, const char *name,
                              const struct report_scope *scope);

// "capture", "process 100", "result 0: kernel".
void report_render_scope_text(struct nvtxt_buf *to, const struct report_scope *scope);

// The capture has an empty text; an id of digits is written to `digits`.
#define REPORT_ID_DIGITS 24
struct nvtxt_slice report_render_id(const struct report_id *id, char digits[REPORT_ID_DIGITS]);

enum report_units {
    REPORT_UNITS_AUTO,
    REPORT_UNITS_BASE,  // times stay in ns and nothing is rounded to few digits
    REPORT_UNITS_SHORT, // three digits: of a screen
};

// Whether people see no unit after a number: it counts something, as the label says.
bool report_unit_counts(const char *unit);

// The number with its unit, at most `size` bytes with its NUL: "15", "1.5 ms", "97.2 %". A text is
// the text. Returns `text`.
#define REPORT_VALUE_TEXT 512
const char *report_render_value(char text[REPORT_VALUE_TEXT], const struct report_value *value,
                                const char *unit, enum report_units units);

// How the value of a metric is shown to people.
struct report_metric_view {
    enum report_units units;
    bool instances;    // after the value, in parentheses
    bool instance_ids; // with their ids
    bool full_names;   // else ids are cut as text cuts names, see report/table/plain.h
    const struct report_screen *screen; // NULL: none; it has the time of day of a moment
};

// The value, with its instances when they are wanted; or N/A and why.
void report_render_metric_text(struct nvtxt_buf *to, const struct report_metric *metric,
                               const struct report_metric_view *view);
