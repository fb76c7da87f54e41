// SPDX-License-Identifier: Apache-2.0
//
// inject/ext: what NVTX's extensions PAYLOAD, COUNTERS and MEM say, as events, counters and names
// of libnvtxt. Any thread of the program calls; nothing here holds a lock, calls malloc or changes
// errno. What is registered lives as long as the process, in memory of inject_alloc().
//
// This header is what inject/core needs of it: a module for each extension, with its functions by
// callback number, and the reading of payloads that events of the core carry.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "inject/abi.h"
#include "inject/handles.h"
#include "lib/nvtxt.h"

struct extension_module {
    uint16_t module, compat; // numbers; `compat` is that of the layouts that we know
    uint32_t count;
    const abi_function *functions; // by callback number, from 0; NULL: not ours
    uint16_t oldest_compat;        // from which on layouts are the same
};

extern const struct extension_module extension_mem, extension_payload, extension_counters;

// Takes what an event says.
typedef uint64_t (*extension_consumer)(const void *context, const struct nvtxt_attr *attr);

// Reads the payloads of an event into `attr` (its JSON; message, category and color where a member
// is meant for them), hands that to `consume` once and returns what it returns. `domain` may be
// NULL.
uint64_t extension_read(const struct inject_domain *domain, const struct abi_payload *payloads,
                        size_t count, const struct nvtxt_attr *attr, extension_consumer consume,
                        const void *context);

// The payloads as the library behind us knows them, with its handles of strings. Numbers of schemas
// are its own already: what it gave is what the program got.
// Returns `payloads` itself or what was put together at `room`; NULL: it cannot be said.
const struct abi_payload *extension_chained(const struct inject_domain *domain,
                                            const struct abi_payload *payloads, size_t count,
                                            void *room, size_t size);
