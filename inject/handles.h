// SPDX-License-Identifier: Apache-2.0
//
// What programs get from us as handles. Each is an object that lives as long as the process,
// because programs go on to use domains that they destroyed. It holds what libnvtxt knows it by,
// and the handle that the library behind us gave. Memory is taken from mmap without a lock, so that
// a call in a signal handler, in malloc or in a child cannot stand still.
#pragma once

#include <errno.h>
#include <stdbool.h>

#include "inject/abi.h"
#include "lib/nvtxt.h"

struct inject_domain {
    struct nvtxt_domain *domain; // NULL: events without a domain
    void *chained;
};

struct inject_string {
    const struct nvtxt_string *string; // NULL: libnvtxt keeps no more of them
    const char *text;
    void *chained;
};

struct inject_resource {
    void *chained;
};

// Zeroed memory for good, at multiples of 16 bytes; NULL when there is none. errno stays.
void *inject_alloc(size_t size);

// A new handle; NULL without memory. Texts are copied, and NULL is "".
struct inject_domain *inject_domain_new(const char *name);

// The same text gives the same handle, unless the library behind us may have one of its own for
// each (`is_chained`). All have 48 MiB together; beyond, it is NULL, which is no text, and counted.
struct inject_string *inject_string_new(const char *text, bool is_chained);

// A handle of a program's may be NULL.
static inline struct nvtxt_domain *inject_domain_of(const struct inject_domain *handle) {
    return handle ? handle->domain : NULL;
}
static inline void *inject_domain_chained(const struct inject_domain *handle) {
    return handle ? handle->chained : NULL;
}
static inline void *inject_string_chained(const struct inject_string *handle) {
    return handle ? handle->chained : NULL;
}

// What a push or pop returns to the program.
static inline int inject_level(int level) {
    return level >= 0 ? level : level == -ENOENT ? ABI_NONE_OPEN : ABI_NOT_TRACKED;
}

// ---- Pairs --------------------------------------------------------------------------------------

// Numbers that belong to numbers, for all threads, without a lock: a call in a signal handler or in
// a child never waits here. A key stands in one of a few places of a table; when all are taken
// there are further tables, until what comes is not kept.

#define PAIRS_TABLES 16u

struct pair {
    _Atomic uint64_t key; // 0: free; 1: being written
    _Atomic uint64_t value;
};

// All zero at the start.
struct pairs {
    struct pair *_Atomic tables[PAIRS_TABLES];
};

// Keeps a pair; a key may be there more than once. Returns false when there is no room or memory.
bool pairs_put(struct pairs *pairs, uint64_t key, uint64_t value);

// Returns false when there is no such key. `take` removes the pair, and of several any one.
bool pairs_get(struct pairs *pairs, uint64_t key, uint64_t *value);
bool pairs_take(struct pairs *pairs, uint64_t key, uint64_t *value);
