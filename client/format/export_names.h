// SPDX-License-Identifier: Apache-2.0
//
// The names in a store, for an export that writes them again. A name is found by what it names, and
// marked when an event has it. Each name but those of processes has the time of an event, and waits
// for that event. The last name of a thing counts; the same name in a later segment is not written
// again. Memory grows with the names, not with the events.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/hash.h"
#include "protocol/base/refstr.h"
#include "protocol/interp/event.h"
#include "store/read/reader.h"

struct export_name {
    struct nvtxt_hash_node by_key;  // by what is named
    struct nvtxt_hash_node by_time; // of its event, while it waits for it
    struct export_name *next;
    enum nvtxt_name_kind kind;
    uint32_t category;
    uint64_t global_tid; // of the thread that is named; else of the event
    int64_t at;
    bool waits;                         // in the table by time
    bool written;                       // with this text; only the caller uses this
    bool used;                          // by an event that was exported
    struct nvtxt_refstr *domain, *text; // owned
};

struct export_names {
    struct nvtxt_hash keys, times;
    struct export_name *first; // owned; the newest
    size_t waiting;
};

void export_names_deinit(struct export_names *names); // a zeroed struct is an empty one

// Adds a name of the segment that begins. Returns 0 or -ENOMEM.
int export_names_add(struct export_names *names, const struct store_read_name *given);

// Finds the name of a thing of an event and marks it as used. NULL when there is none.
struct export_name *export_names_use(struct export_names *names, enum nvtxt_name_kind kind,
                                     uint32_t category, uint64_t global_tid,
                                     struct nvtxt_slice domain);

// Visits the names that wait for an event of this thread that starts at `at`; they do not wait any
// more. A value of `visit` other than 0 ends this and is returned.
int export_names_each_at(struct export_names *names, int64_t at, uint64_t global_tid,
                         int (*visit)(void *context, struct export_name *name), void *context);
