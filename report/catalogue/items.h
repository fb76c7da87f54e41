// SPDX-License-Identifier: Apache-2.0
//
// Numbers for roll-ups that are no numbers of single events: gaps, intervals, busy times,
// iterations, counts of sources.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/catalogue/figures.h"

// Each item has the raw number of its key (report_group_raws()) and a value; where the samples are
// doubles, `values` has their bits. A user zeroes it first.
struct report_items {
    uint32_t *raws;
    uint64_t *values;
    double *averages; // beside `values`; NULL when the figure has none of its own
    size_t count, room;
    struct report_id *ids; // of raw numbers, when the key is the line; texts: of the samples
    size_t id_count;
};

void report_items_deinit(struct report_items *items);

// Collects the items of samples->id. Sets samples->na when there can be none, samples->empty, and
// samples->real. Returns 0 or -ENOMEM.
int report_items_collect(struct report_figures *figures, struct report_samples *samples,
                         struct report_items *items);
