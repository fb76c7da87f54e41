// SPDX-License-Identifier: Apache-2.0
//
// What programs have registered, by domain and number: schemas, scopes, counters, and by what it
// says, so that it is found when it is registered again. It is kept for the life of the process,
// and nobody ever waits: a call in a signal handler or in a child finds what was complete.
#pragma once

#include <stdbool.h>

#include "inject/ext/abi_ext.h"
#include "inject/handles.h"

enum registry_kind {
    REGISTRY_SCHEMA,
    REGISTRY_SCOPE,
    REGISTRY_COUNTER,
    REGISTRY_SCHEMA_CONTENT, // by registry_content(), as the two below
    REGISTRY_SCOPE_CONTENT,
    REGISTRY_COUNTER_CONTENT,
    REGISTRY_HEAP_CONTENT,
    REGISTRY_KINDS
};

#define REGISTRY_MOST 65536u     // of each kind in a process
#define REGISTRY_LOST UINT64_MAX // the number of what came after them

// Whether another thing can be put. Where not, the call is counted as unsupported.
bool registry_has_room(enum registry_kind kind);

// The next number of ours. `its` is what the library behind us has given (0: nothing). That becomes
// ours, too, when no program gives such a number itself and we have not given it to something else;
// then events need not be changed for that library.
uint64_t registry_number(enum registry_kind kind, uint64_t its);

// The number of what is not kept: one of ours for `its`, REGISTRY_LOST without it. It is never
// found.
uint64_t registry_lost(enum registry_kind kind, uint64_t its);

// The number that the library behind us gave where ours is `number`; else `number`.
uint64_t registry_chained(enum registry_kind kind, uint64_t number);

// Whether there is a number for which registry_chained() gives another one.
bool registry_has_chained(void);

// Keeps a thing under a number; the newest counts. Numbers of ours are the same in all domains.
// Returns false without memory, or when there are REGISTRY_MOST.
bool registry_put(enum registry_kind kind, const struct inject_domain *domain, uint64_t number,
                  const void *thing);

// A number of ours for what something says, `len` bytes in a domain. Different things may have the
// same: who finds a thing compares.
uint64_t registry_content(const struct inject_domain *domain, const void *bytes, size_t len);

// NULL: nobody registered it.
const void *registry_find(enum registry_kind kind, const struct inject_domain *domain,
                          uint64_t number);

// ---- Schemas, enums and scopes ------------------------------------------------------------------

// Each call returns the number of what is kept, 0 when it cannot be.
uint64_t registration_schema(const struct inject_domain *domain, const struct abi_schema *attr);
uint64_t registration_enum(const struct inject_domain *domain, const struct abi_enum *attr);
uint64_t registration_scope(const struct inject_domain *domain, const struct abi_scope *attr);

// The number that the library behind us gives for what a call of the extension PAYLOAD registers, 0
// without one.
uint64_t registration_chained(unsigned callback, const struct inject_domain *domain,
                              const void *attr);
