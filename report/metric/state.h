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

struct report_metrics {
    struct report_model *model;                   // borrowed
    const struct report_scope *scope;             // borrowed
    const struct report_definitions *definitions; // borrowed; may be NULL
    struct nvtxt_hash known;
    struct store_arena arena; // of the known metrics
    struct store_arena kept;  // of groups
    struct report_groups groups[REPORT_KEY_EVENT + 1];
    bool grouped[REPORT_KEY_EVENT + 1];
};
