// SPDX-License-Identifier: Apache-2.0
//
// The names in a store, for an export that writes them again. A name is found by what it names, and
// marked when an event has it. The names of categories, threads and domains have the time of an
// event, and wait for that event. The last name of a thing counts; the same name in a later segment
// is not written again. Memory grows with the names, not with the events.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "protocol/interp/event.h"
#include "protocol/table/hash.h"
#include "store/read/event_members.h"
#include "store/read/reader.h"

struct export_name {
    struct nvtxt_hash_node by_key;  // by what is named
    struct nvtxt_hash_node by_time; // of its event, while it waits for it
    struct export_name *next;
    enum nvtxt_name_kind kind;
    uint32_t category;
    uint64_t handle;     // of a resource
    uint64_t global_tid; // of the thread that is named; of a resource or counter: of its process;
                         // else of the event
    int64_t at;
    bool waits;                         // in the table by time
    bool written;                       // with this text; only the caller uses this
    bool used;                          // by an event that was exported
    struct nvtxt_refstr *domain, *text; // owned
    struct nvtxt_refstr *what; // owned; the kind of a resource, the name of a counter, else NULL
    struct nvtxt_refstr *json; // owned; of a counter, NULL: none
};

struct export_names {
    struct nvtxt_hash keys, times;
    struct export_name *first; // owned; the newest
    size_t waiting;
};

void export_names_deinit(struct export_names *names); // a zeroed struct is an empty one

// Adds a name of the segment that begins. Returns 0 or -ENOMEM.
int export_names_add(struct export_names *names, const struct store_read_name *given);

// Finds the name of a thing; only the fields that say what is named count. NULL when there is none.
struct export_name *export_names_find(const struct export_names *names,
                                      const struct store_read_name *thing);

// The same of a thing that an event has: marks the name as used.
static inline struct export_name *export_names_use(const struct export_names *names,
                                                   const struct store_read_name *thing) {
    struct export_name *name = export_names_find(names, thing);
    if (name) {
        name->used = true;
    }
    return name;
}

// Adds the counters of a segment. Returns what store_read_counters() does.
int export_names_add_counters(struct export_names *names, struct store_reader *reader);

// The counter that an event is a sample of: a marker with its name, in its process and domain.
// NULL: none. It lives as long as the names.
const struct export_name *export_names_counter(const struct export_names *names,
                                               const struct store_named_event *row);

// Visits the names that wait for an event of this thread that starts at `at`; they do not wait any
// more. With `others` also names of categories that the source gave in another process: they stand
// in the main thread of that. A value of `visit` other than 0 ends this and is returned.
int export_names_each_at(struct export_names *names, int64_t at, uint64_t global_tid, bool others,
                         int (*visit)(void *context, struct export_name *name), void *context);
