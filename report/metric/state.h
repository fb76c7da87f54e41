// SPDX-License-Identifier: Apache-2.0
//
// What the metrics of a scope have in common while they are computed. Only this room includes it.
#pragma once

#include "protocol/base/hash.h"
#include "report/metric/catalogue.h"
#include "report/metric/group.h"
#include "report/metric/metric.h"
#include "report/model/model.h"
#include "store/value/arena.h"

// A metric that was asked for.
struct report_known {
    struct nvtxt_hash_node node; // by name
    struct report_metric metric;
};

// See samples.h. Without a key there is one group.
struct report_samples {
    bool filled;
    enum report_catalogue_id id;
    enum report_key key;
    const char *na;    // why there are none; NULL: there may be
    const char *empty; // why a group without any has no average and the like
    bool real;
    uint64_t *values;            // of group g: [starts[g] .. starts[g + 1])
    double *reals;               // instead of them
    const struct report_id *ids; // of the groups; NULL without a key
    const uint32_t *starts;
    size_t count; // groups
    struct store_arena arena;
};

struct report_metrics {
    struct report_model *model;                   // borrowed
    const struct report_scope *scope;             // borrowed
    const struct report_definitions *definitions; // borrowed; may be NULL
    struct nvtxt_hash known;
    struct store_arena arena; // of the known metrics
    struct store_arena kept;  // of groups
    struct report_groups groups[REPORT_KEY_EVENT + 1];
    bool grouped[REPORT_KEY_EVENT + 1];
    struct report_samples samples[2]; // the last without a key, the last with one
};

// The scope's events by a key. Returns 0 or -ENOMEM.
int report_state_groups(struct report_metrics *metrics, enum report_key key,
                        const struct report_groups **groups);

// Time from the smallest start to the largest start or end of the scope's events.
uint64_t report_state_elapsed(const struct report_metrics *metrics);
