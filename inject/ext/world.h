// SPDX-License-Identifier: Apache-2.0
//
// What payloads of a domain refer to: schemas and scopes that were registered, and handles of
// strings, which are addresses of ours.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "inject/abi.h"
#include "inject/handles.h"
#include "inject/schema/schema_json.h"

struct world {
    struct schema_world world; // first
    const struct inject_domain *domain;
};

// A scope that a program registered.
struct scope {
    const struct nvtxt_domain *domain;
    uint64_t own; // the number that the program gave it; 0: none
    uint64_t number;
    char path[];
};

struct world world_of(const struct inject_domain *domain);

// Bytes of a value of a type or schema; SIZE_MAX: its values differ, or nobody knows it.
size_t world_value_size(const struct inject_domain *domain, uint64_t schema);

// The path of a scope; NULL: it is not a program's.
const char *world_scope(const struct inject_domain *domain, uint64_t scope);

// ---- Handles in payloads ------------------------------------------------------------------------

#define HANDLES_IN_MOST 64

// Where handles of strings stand in payloads: the library behind us has its own.
struct handles_in {
    size_t count;
    const char *at[HANDLES_IN_MOST];
    bool is_over; // there may be more
};

void handles_in_find(struct handles_in *found, const struct inject_domain *domain,
                     const struct abi_payload *payloads, size_t count);

// Puts the library's own handles into a copy of `size` bytes at `from`. Returns how many of those
// that were found stand in there.
size_t handles_in_replace(const struct handles_in *found, const char *from, size_t size,
                          char *copy);
