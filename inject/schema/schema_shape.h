// SPDX-License-Identifier: Apache-2.0
//
// What a value takes, by its type alone: bytes and alignment. Schemas may nest themselves, and name
// one another so that there is no end to it: a meter counts the steps, and fails when there are too
// many, or when they nest too deep.
#pragma once

#include "inject/schema/schema.h"

#define SCHEMA_LEVELS 64u       // of arrays and objects, that of several payloads included
#define SCHEMA_UNKNOWN SIZE_MAX // a size or position that cannot be said

// What payloads refer to. `string` and `scope` return NULL for what they do not know; a handle of a
// string stands at `at`.
struct schema_world {
    const struct schema *(*schema)(const struct schema_world *world, uint64_t id);
    const char *(*string)(const struct schema_world *world, uint64_t handle, const char *at);
    const char *(*scope)(const struct schema_world *world, uint64_t id);
    // Bytes that may be read at an address outside of the payloads. NULL: as many as there are.
    size_t (*readable)(const struct schema_world *world, const void *address);
};

struct schema_meter {
    const struct schema_world *world;
    uint32_t steps;
    bool has_failed;
};

// Whether one more step may be done.
bool schema_meter_step(struct schema_meter *meter);

// The schema or enum of a type; NULL: it is one of NVTX's, or nobody's.
const struct schema *schema_find(const struct schema_world *world, uint64_t type);

// The size is SCHEMA_UNKNOWN when values differ in it, or when nobody knows the type.
struct schema_shape schema_shape_of(struct schema_meter *meter, uint64_t type);
struct schema_shape schema_entry_shape(struct schema_meter *meter, const struct schema *schema,
                                       const struct schema_entry *entry);

// What stands at the place of an entry is an address or an offset, and its value elsewhere. A
// `char *` is what a string entry is that says nothing else.
bool schema_is_pointer(const struct schema_entry *entry);
bool schema_is_offset(const struct schema_entry *entry);

// Sizes; what is too large is SCHEMA_UNKNOWN, and so is what is made of that.
static inline size_t schema_plus(size_t a, size_t b) {
    return a > SCHEMA_UNKNOWN - b ? SCHEMA_UNKNOWN : a + b;
}
static inline size_t schema_times(size_t a, uint64_t b) {
    size_t product;
    bool is_over = a == SCHEMA_UNKNOWN || __builtin_mul_overflow(a, b, &product);
    return is_over ? SCHEMA_UNKNOWN : product;
}
static inline size_t schema_aligned(size_t at, size_t align) {
    size_t over = align > 1 ? at % align : 0;
    return at == SCHEMA_UNKNOWN || over == 0 ? at : schema_plus(at, align - over);
}
