// SPDX-License-Identifier: Apache-2.0
//
// The names that --metrics asks for: NAME, regex:RE over all that are listed, group:G of the
// sections; without the option all that are listed. Each name once.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/report/command/loaded.h"
#include "client/report/job.h"
#include "protocol/base/hash.h"
#include "store/value/arena.h"

struct wanted_metric {
    struct nvtxt_hash_node node;
    const char *name;
    bool missing; // there is no such metric
};

struct wanted_metrics {
    struct wanted_metric **metrics; // owned; in the order in which they were asked for
    size_t count, room;
    struct nvtxt_hash table;
    struct store_arena arena;
};

// Says what is missing, with the nearest name, and raises the exit status. Returns 0, an enum
// outcome after a sentence, or -errno. Deinit it in any case.
int wanted_metrics_init(struct wanted_metrics *wanted, struct report_job *job,
                        const struct report_loaded *loaded);
void wanted_metrics_deinit(struct wanted_metrics *wanted); // fine when zeroed
