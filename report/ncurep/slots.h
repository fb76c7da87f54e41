// SPDX-License-Identifier: Apache-2.0
//
// A hash table over a list of its owner, which needs 5 bytes for each entry: a file may have as
// many ids as it has bytes. It holds the numbers of entries, from 1 on, and there is room for as
// many as the owner says first. The owner compares:
//
//   size_t at = report_slots_start(&slots, hash);
//   while (slots.places[at] && list[slots.places[at] - 1].id != id) {
//       at = report_slots_next(&slots, at);
//   }
//   // places[at] is the entry, or 0: the owner may put the number of a new one there
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/base/hash_value.h"

struct report_slots {
    uint32_t *places; // owned
    size_t count, room;
};

void report_slots_deinit(struct report_slots *slots); // a zeroed one is fine

// Empties it, and makes room for `count` entries. Returns 0 or -ENOMEM.
int report_slots_reset(struct report_slots *slots, size_t count);

static inline size_t report_slots_start(const struct report_slots *slots, uint64_t hash) {
    return hash % slots->count;
}

static inline size_t report_slots_next(const struct report_slots *slots, size_t at) {
    return at + 1 < slots->count ? at + 1 : 0;
}

// The hash value of two numbers.
static inline uint64_t report_slots_hash(uint64_t one, uint64_t other) {
    const uint64_t both[2] = {one, other};
    return nvtxt_hash_bytes((struct nvtxt_slice){(const char *)both, sizeof(both)});
}
