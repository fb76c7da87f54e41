// SPDX-License-Identifier: Apache-2.0
//
// The names that --metrics asks for: NAME, regex:RE over all that are listed, group:G of the
// sections; without the option all that are listed. Each name once.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/report/command/loaded.h"
#include "protocol/table/hash.h"
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
    struct report_job *job;             // borrowed
    const struct report_loaded *loaded; // borrowed
    bool *told;                         // of each word of the option: it names nothing; owned
};

// Says what is missing, with the nearest name, and raises the exit status. Returns 0, an enum
// outcome after a sentence, or -errno. Deinit it in any case.
int wanted_metrics_init(struct wanted_metrics *wanted, struct report_job *job,
                        const struct report_loaded *loaded);

// The same of a result, after report_loaded_enter(): before that there are none. Of a scope of
// events it does nothing: all have the same names. A word that names nothing is said once.
int wanted_metrics_enter(struct wanted_metrics *wanted, const struct report_scope *scope);
void wanted_metrics_deinit(struct wanted_metrics *wanted); // fine when zeroed
