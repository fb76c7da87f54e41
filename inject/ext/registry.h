// SPDX-License-Identifier: Apache-2.0
//
// What programs have registered, by domain and number: schemas, scopes, counters. It is kept for
// the life of the process, and nobody ever waits: a call in a signal handler or in a child finds
// what was complete.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "inject/handles.h"

enum registry_kind {
    REGISTRY_SCHEMA,
    REGISTRY_SCOPE,
    REGISTRY_COUNTER,
    REGISTRY_CONTENT, // what is known by what it says; see registration.c
    REGISTRY_KINDS
};

#define REGISTRY_MOST 65536u // of each kind in a process

// The next number of ours, 0 when there were REGISTRY_MOST. `its` is what the library behind us has
// given (0: nothing). That becomes ours, too, when no program gives such a number itself and we
// have not given it to something else; then events need not be changed for that library.
uint64_t registry_number(enum registry_kind kind, uint64_t its);

// The number that the library behind us gave where ours is `number`; else `number`.
uint64_t registry_chained(enum registry_kind kind, uint64_t number);

// Whether there is a number for which registry_chained() gives another one.
bool registry_has_chained(void);

// Keeps a thing under a number; the newest counts. Numbers of ours are the same in all domains.
// Returns false without memory, or when there are REGISTRY_MOST.
bool registry_put(enum registry_kind kind, const struct inject_domain *domain, uint64_t number,
                  const void *thing);

// NULL: nobody registered it.
const void *registry_find(enum registry_kind kind, const struct inject_domain *domain,
                          uint64_t number);
