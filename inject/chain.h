// SPDX-License-Identifier: Apache-2.0
//
// inject: what the rooms above share, which turn calls of NVTX into calls of libnvtxt: the binary
// interface (abi), handles for programs and numbers that belong to numbers, both without a lock
// (handles, pairs), texts of messages (text), and the library of NVTXT_CHAIN, which sees each call
// as well (chain). It owns the handles, for the life of the process; rings, session and sender are
// libnvtxt's. It runs on whatever thread of the program calls; it makes no thread, takes no lock,
// and allocates nothing on an event.
//
// This is the other injection library, behind ours (NVTXT_CHAIN): it is loaded and initialised once
// a process, with tables that look like a program's and are ours. It gets each call after we
// recorded it, on the thread of the call and outside of our locks. Its slots are read at each call,
// for a library may fill them late, or empty them. What it returns is kept here and in our handles,
// and the program gets ours.
#pragma once

#include <stdbool.h>

#include "inject/abi.h"

// Loads and initialises it when the environment names one; `ours` is our own entry, to know
// ourselves by. Called once in a process.
void chain_load(abi_initialize ours);

// Gives it the slots of a module of the extension that we know; the second time does nothing.
void chain_load_extension(const struct abi_extension *module);

// Whether there is one.
bool chain_is_loaded(void);

// Its functions as it wrote them, by module and callback number.
extern abi_function chain_slots[ABI_MODULES][ABI_SLOTS_MOST];

// Its function for a callback now; NULL: none.
static inline abi_function chain_find(enum abi_module module, unsigned callback) {
    return __atomic_load_n(&chain_slots[module][callback], __ATOMIC_ACQUIRE);
}
abi_function chain_find_extension(uint16_t module, unsigned callback);

// Calls it, when it has such a function: CHAIN(ABI_CORE, ABI_MARK_A, void (*)(const char *), text).
#define CHAIN(module, callback, type, ...)                                                         \
    do {                                                                                           \
        abi_function chained_ = chain_find(module, callback);                                      \
        if (__builtin_expect(chained_ != NULL, 0)) {                                               \
            ((type)chained_)(__VA_ARGS__);                                                         \
        }                                                                                          \
    } while (0)

// Ids of ranges, ours and its. `put` returns what the program is given: `ours`, or another one
// where several ranges have it. `take` returns false when there is no pair, and forgets the pair.
uint64_t chain_range_put(uint64_t ours, uint64_t its);
bool chain_range_take(uint64_t ours, uint64_t *its);
