// SPDX-License-Identifier: Apache-2.0
//
// What programs get from us as handles. Each is an object that lives as long as the process,
// because programs go on to use domains that they destroyed. It holds what libnvtxt knows it by,
// and the handle that the library behind us gave. Memory is taken from mmap without a lock, so that
// a call in a signal handler, in malloc or in a child cannot stand still.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
