// SPDX-License-Identifier: Apache-2.0
//
// The metrics of one event: nvtxt-metrics(7), "METRICS OF AN EVENT".
#pragma once

#include "report/catalogue/value.h"
#include "report/model/model.h"
#include "store/value/arena.h"

// What may be asked for, in the order of the names.
struct report_event_metric_row {
    const char *name, *unit, *text;
    enum report_type type;
    const char *of; // which events have it
};
size_t report_event_metric_count(void);
struct report_event_metric_row report_event_metric_row(size_t i);

// What is made is of `arena`. `event` is an index in the order. Both return 0 or -ENOMEM.
// The names end with NULL; the metric is NULL when the event has none of that name.
int report_event_metric_names(const struct report_model *model, uint32_t event,
                              struct store_arena *arena, const char *const **names);
int report_event_metric(const struct report_model *model, uint32_t event, const char *name,
                        struct store_arena *arena, const struct report_metric **metric);

// The payload as a value: an integer below 0 is a double. False: there is none.
bool report_event_payload(const struct report_event *event, struct report_value *value);
