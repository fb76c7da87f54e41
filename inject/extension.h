// SPDX-License-Identifier: Apache-2.0
//
// What inject/ext gives to inject, which includes nothing of it: a module for each extension, with
// its functions by callback number, and the reading of payloads that events of the core carry.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "inject/abi.h"
#include "inject/handles.h"

// More callbacks than any module has; NVTX keeps 63 slots.
#define EXTENSION_SLOTS 63u

// Room for the JSON value of an event: what libnvtxt takes, and a NUL.
#define EXTENSION_JSON_BYTES (24u * 1024 + 1)

struct extension_module {
    uint16_t module, compat; // numbers; `compat` is what we tell to a library behind us
    uint32_t count;
    const abi_function *functions; // by callback number, from 0; NULL: not ours
};

extern const struct extension_module extension_mem, extension_payload, extension_counters;

// Writes the payloads of an event as one JSON value with a NUL behind it. Returns its bytes; 0 when
// there is nothing to say. `domain` may be NULL.
size_t extension_json(const struct inject_domain *domain, const struct abi_payload *payloads,
                      size_t count, char *json, size_t size);

// The payloads as the library behind us knows them: with its numbers of schemas and its handles.
// Returns `payloads` itself or what was put together at `room`; NULL: it cannot be said.
const struct abi_payload *extension_chained(const struct abi_payload *payloads, size_t count,
                                            void *room, size_t size);
