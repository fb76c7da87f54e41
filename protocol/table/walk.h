// SPDX-License-Identifier: Apache-2.0
//
// What is open while time goes on. Ranges come in the order of their starts and stand on a stack;
// each leaves at its end, wherever it stands. So of those that are over:
//
//   for (; nvtxt_walk_due(&walk, now); nvtxt_walk_leave(&walk)) {
//       ...
//   }
//   r = nvtxt_walk_begin(&walk, end, id);
//
// A range costs a few steps, and the logarithm of what is open where ranges cross. A walk knows
// nothing of threads or of names: whoever wants them has a walk for each.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NVTXT_WALK_GAP UINT32_MAX // the id of what is over, but was not on top

struct nvtxt_open {
    int64_t end;
    uint32_t id; // the owner's
};

// The next end, of equal ends the upper one first.
struct nvtxt_walk_end {
    int64_t at;
    size_t place; // of the range, on the stack
};

struct nvtxt_walk {           // zeroed: nothing is open
    struct nvtxt_open *stack; // owned; the first one at the bottom; the top is no gap
    size_t stacked, room; // with gaps: never more than gaps and ranges in equal number, and a few
    size_t count;         // of open ranges
    bool crossed;         // some cross; it stays until none is open
    // Then: a heap of the ends of all open ranges.
    struct nvtxt_walk_end *ends; // owned; [0] is the first one
    size_t ends_room;
    uint64_t moves; // entries that closing gaps has moved; tests look at it
};

void nvtxt_walk_deinit(struct nvtxt_walk *walk); // empties it

// Puts a range on the stack, when all that is over at its start has left. One without length stays
// until somebody asks what is due. Returns 0 or -ENOMEM.
int nvtxt_walk_begin(struct nvtxt_walk *walk, int64_t end, uint32_t id);

// The range that ends first, of equal ends the upper one, if it is over at that time: its end is
// not after it. Else NULL. It lives until the walk changes.
static inline const struct nvtxt_open *nvtxt_walk_due(const struct nvtxt_walk *walk, int64_t time) {
    if (walk->count == 0) {
        return NULL;
    }
    size_t place = walk->crossed ? walk->ends[0].place : walk->stacked - 1;
    return walk->stack[place].end <= time ? &walk->stack[place] : NULL;
}

// Takes away the range that ends first; there is one. True: gaps were closed, and all ranges have
// new places.
bool nvtxt_walk_leave(struct nvtxt_walk *walk);

// Takes away all that is over at that time.
static inline void nvtxt_walk_move(struct nvtxt_walk *walk, int64_t time) {
    while (nvtxt_walk_due(walk, time)) {
        nvtxt_walk_leave(walk);
    }
}

// The range on top; there is one.
static inline const struct nvtxt_open *nvtxt_walk_top(const struct nvtxt_walk *walk) {
    return &walk->stack[walk->stacked - 1];
}
