// SPDX-License-Identifier: Apache-2.0
//
// client/lane: on which track of a trace an event is drawn, and in which order a track's events are
// written. It owns what is remembered of the ranges and tracks of an export; one thread. It knows
// no format and writes nothing.
//
// This header gives each range a lane of its thread. Viewers of trace events draw the ranges of one
// thread as a stack, and drop or distort ranges that cross. Start/end ranges may cross, and so may
// ranges of two sources that name the same thread. So a range that would cross another one of its
// thread gets the first further lane of that thread on which it crosses none.
//
// A lane remembers which times its ranges cover, as the tree that they nest in. When there are too
// many ranges, the oldest are merged into solid spans: a later range that begins or ends inside of
// a solid span counts as crossing. So memory is bounded, and what is drawn always nests. Only a
// range that comes very late may be on a lane that it did not need.
#pragma once

#include <stdint.h>

#include "protocol/table/hash.h"

struct export_lanes {
    struct nvtxt_hash threads;
    struct lane_thread *all;  // owned
    struct lane_thread *last; // the thread of the range before
    uint64_t spans;           // remembered in all lanes
    uint64_t looks;           // how many lanes were tried, alone or through the tree over them
    uint64_t steps;           // how many spans were looked into
    uint64_t forced;          // ranges that cross others because EXPORT_LANES_MAX was not enough
    // The number of the batch that is placed now, for outputs that write the begins and ends of a
    // lane one by one, and whose readers leave those of the same time in the order of the file. A
    // range crosses one of an earlier batch, too, if it begins at the same time and goes around it,
    // or ends when that begins: its begin or end would stand after that begin. Others leave it 0.
    uint32_t batch;
};

#define EXPORT_LANES_MAX 1024 // of a thread; ranges that are open at once and do not nest

void export_lanes_deinit(struct export_lanes *lanes); // a zeroed struct is an empty one

// Ranges in the order of their starts are quick: each costs the logarithm of their number. A range
// that starts before one that was placed already may have to try many lanes. When the ranges of a
// thread have tried EXPORT_LANES_LOOKS lanes each, on average, further late ranges try only a few
// lanes, from that of the last one on; so they may get a lane that they do not need, or be forced.
#define EXPORT_LANES_LOOKS 64

// Finds the lane of a range, 0 for the thread itself, and remembers the range. A range without
// length, or that ends before it starts, crosses nothing. Returns 0 or -ENOMEM.
int export_lanes_place(struct export_lanes *lanes, uint64_t global_tid, int64_t start, int64_t end,
                       unsigned *lane);
