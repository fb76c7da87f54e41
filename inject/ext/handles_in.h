// SPDX-License-Identifier: Apache-2.0
//
// Handles of strings in the bytes of payloads, for the library behind us, which has its own.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "inject/abi.h"
#include "inject/handles.h"

#define HANDLES_IN_MOST 64

// Where handles stand in payloads.
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
