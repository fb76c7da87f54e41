// SPDX-License-Identifier: Apache-2.0
//
// The names that stand in a store, for an export that writes them again: found by what is named,
// marked when an event bears them, and, all but those of processes, waiting for the event that they
// stood at. What was said last of a thing counts; said again in a later segment it need not be
// written again. Memory grows with the names, not with the events.
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
    uint64_t global_tid; // of what is named; else of its event
    int64_t at;
    bool waits;                         // in the table by time
    bool written;                       // with this text; for who writes
    bool used;                          // by an event that was exported
    struct nvtxt_refstr *domain, *text; // owned
};

struct export_names {
    struct nvtxt_hash keys, times;
    struct export_name *first; // owned; told last
    size_t waiting;
};

void export_names_deinit(struct export_names *names); // a zeroed struct is an empty one

// A name of the segment that begins. Returns 0 or -ENOMEM.
int export_names_tell(struct export_names *names, const struct store_read_name *told);

// An event bears the name of this. NULL when it has none.
struct export_name *export_names_use(struct export_names *names, enum nvtxt_name_kind kind,
                                     uint32_t category, uint64_t global_tid,
                                     struct nvtxt_slice domain);

// Visits the names that wait for an event that starts at `at`, and for its thread, which is that of
// the event or of the thread that is named; they wait no more. What is not 0 ends it and is
// returned.
int export_names_each_at(struct export_names *names, int64_t at, uint64_t global_tid,
                         int (*visit)(void *context, struct export_name *name), void *context);
