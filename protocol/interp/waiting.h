// SPDX-License-Identifier: Apache-2.0
//
// Names that a source gave before its first event. The row of a name refers to an event, so these
// names wait for one (nvtxt-store(5), "Names"). Of several names of one thing the last one counts.
// As with variables (symtab.h), those that were given or changed are listed until they are settled.
#pragma once

#include "protocol/interp/source.h"
#include "protocol/table/hash.h"

struct nvtxt_waiting_name {
    struct nvtxt_hash_node node; // by what is named
    struct nvtxt_waiting_name *next;
    struct nvtxt_waiting_name *next_changed;
    bool changed;
    enum nvtxt_name_kind kind; // CATEGORY, THREAD or DOMAIN
    uint32_t category;
    uint32_t pid, tid;
    bool own_pid;                // see struct nvtxt_name
    struct nvtxt_refstr *domain; // NULL: none
    struct nvtxt_refstr *text;
};

struct nvtxt_waiting {
    struct nvtxt_waiting_name *first, *last; // in the order in which things were named first
    struct nvtxt_hash table;
    size_t bytes; // of texts and domains
    struct nvtxt_waiting_name *first_changed, *last_changed;
    size_t changed_bytes; // of the texts and domains of those
};

void nvtxt_waiting_deinit(struct nvtxt_waiting *waiting); // a zeroed struct is an empty one

enum nvtxt_waiting_result {
    NVTXT_WAITING_DONE = 0,
    NVTXT_WAITING_TOO_MANY = 1,  // limits.waiting_names
    NVTXT_WAITING_TOO_LARGE = 2, // limits.variable_bytes
};

// Keeps a name, in place of an older one of the same thing. `domain` (borrowed, may be NULL) is
// what name->domain shows. Returns an nvtxt_waiting_result or -ENOMEM; only DONE changes anything.
int nvtxt_waiting_set(struct nvtxt_waiting *waiting, const struct nvtxt_limits *limits,
                      const struct nvtxt_name *name, struct nvtxt_refstr *domain);

// From now on no name counts as changed.
void nvtxt_waiting_settle(struct nvtxt_waiting *waiting);

// Names that their source may not give: how many, and of the first one the process and why.
struct nvtxt_waiting_dropped {
    size_t count;
    uint32_t pid;
    const char *why;
};

// Hands all names to the sink, with the time (ns) and the thread of their event, and forgets them.
// Names that the guard refuses are dropped. Returns 0, or -errno of the sink.
int nvtxt_waiting_store(struct nvtxt_waiting *waiting, int64_t at, uint32_t pid, uint32_t tid,
                        const struct nvtxt_guard *guard, const struct nvtxt_sink *sink,
                        struct nvtxt_waiting_dropped *dropped);
