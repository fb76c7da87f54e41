// SPDX-License-Identifier: Apache-2.0
//
// The events of a model, one each: as the members that nvtxt-export(1) writes and those of
// nvtxt-report(1), "events", and as the rows of a table. Nothing is kept of an event.
#pragma once

#include "report/model/model.h"
#include "report/render/kit/json.h"
#include "report/stats/table.h"

struct report_events {
    const struct report_model *model; // borrowed
    struct nvtxt_slice *names;        // owned: DOMAIN:MESSAGE
    uint32_t *selected;               // owned, only of a table: indexes of the selected events
};

int report_events_init(struct report_events *events, const struct report_model *model);
void report_events_deinit(struct report_events *events);

// An object, without a line end. `index` is that in the order of the model.
void report_event_json(struct report_events *events, struct nvtxt_out *out, size_t index);

// The selected events as a table whose rows are made when they are written. It borrows `events`.
// Returns 0 or -ENOMEM.
int report_events_table(struct report_events *events, struct report_table *table);
