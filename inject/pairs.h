// SPDX-License-Identifier: Apache-2.0
//
// Numbers that belong to numbers, for all threads, without a lock: a call in a signal handler or in
// a child never waits here. A key stands in one of a few places of a table; when all are taken
// there are further tables, until what comes is not kept.
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
