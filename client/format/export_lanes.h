// SPDX-License-Identifier: Apache-2.0
//
// Lanes: viewers of trace events draw the ranges of one thread as a stack, and drop or distort
// ranges that cross. Start/end ranges may cross, and so may ranges of two sources that name the
// same thread. So a range that would cross another one of its thread gets the first further lane of
// that thread on which it crosses none.
//
// A lane remembers which times its ranges cover, as the tree that they nest in. When there are too
// many of them the oldest are melted into solid stretches: a later range that begins or ends inside
// of one counts as crossing. So memory is bounded, what is drawn nests in any case, and only a
// range that comes very late may be on a lane that it would not have needed.
#pragma once

#include <stdint.h>

#include "protocol/base/hash.h"

struct export_lanes {
    struct nvtxt_hash threads;
    struct lane_thread *all;  // owned
    struct lane_thread *last; // of the range before
    uint64_t spans;           // remembered in all lanes
    uint64_t looks;           // into lanes, one by one or as the tree over them says
    uint64_t forced;          // ranges that cross others after all: EXPORT_LANES_MAX was not enough
};

#define EXPORT_LANES_MAX 1024 // of a thread; ranges that are open at once and do not nest

void export_lanes_deinit(struct export_lanes *lanes); // a zeroed struct is an empty one

// Quick are ranges that come by their start: each costs the logarithm of their number. A range that
// starts before one that was placed already may look into lane after lane; when a thread has done
// so for EXPORT_LANES_LOOKS lanes a range, further ones of that kind look only where the last one
// went, so they may get a lane that they do not need, or be forced.
#define EXPORT_LANES_LOOKS 64

// Finds the lane of a range, 0 for the thread itself, and remembers the range. A range without
// length, or that ends before it starts, crosses nothing. Returns 0 or -ENOMEM.
int export_lanes_place(struct export_lanes *lanes, uint64_t global_tid, int64_t start, int64_t end,
                       unsigned *lane);
