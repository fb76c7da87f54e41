// SPDX-License-Identifier: Apache-2.0
//
// The lanes of a capture, and their stacks while time goes on: nvtxt-report(1), "THE MODEL". A lane
// is the push/pop ranges of one thread and domain. A range is open from its start to before its
// end. Ranges that cross are fine: the oldest one that is over leaves the stack from the middle.
//
// A lane is moved to times that never go back, and takes its ranges in the order of events.
#pragma once

#include <stdint.h>

#include "protocol/base/hash.h"
#include "report/load/capture.h"
#include "report/model/ends.h"

struct report_lane {
    struct nvtxt_hash_node node;
    uint32_t thread, domain;  // indexes in the capture
    uint32_t number;          // from 0, as they came
    struct report_lane *next; // of the same thread
    struct report_ends open;  // ranges on the stack
    // The stack, bottom first, with ranges between that are over; see report_lane_stack().
    uint32_t *stack;
    size_t stacked, room;
    int64_t now;
};

struct report_lanes {
    const struct report_capture *capture; // borrowed
    struct nvtxt_hash table;
    struct report_lane **of_thread; // owned: the first lane of each thread; the rest by `next`
    size_t count;
};

int report_lanes_init(struct report_lanes *lanes, const struct report_capture *capture);
void report_lanes_deinit(struct report_lanes *lanes); // fine when zeroed

// The lane of a push/pop range; made when there is none yet. NULL when memory is short.
struct report_lane *report_lanes_find(struct report_lanes *lanes, const struct report_event *event);

// Moves the lane to a time: what is over leaves the stack. `self_ns`, an array beside the events,
// gets the time that passed, each piece for the range that was the last one; NULL: nobody wants it.
void report_lane_move(const struct report_lanes *lanes, struct report_lane *lane, int64_t to,
                      uint64_t *self_ns);

// How many ranges are on the stack.
static inline size_t report_lane_depth(const struct report_lane *lane) {
    return lane->open.count;
}

// The range on top, or REPORT_NONE.
static inline uint32_t report_lane_top(const struct report_lane *lane) {
    return lane->stacked > 0 ? lane->stack[lane->stacked - 1] : REPORT_NONE;
}

// Puts an event of the lane on the stack, after a move to its start. One without length stays until
// the next move. Returns 0 or -ENOMEM.
int report_lane_push(const struct report_lanes *lanes, struct report_lane *lane, uint32_t event);

// The stack, bottom first: report_lane_depth() indexes of events. It lives until the lane changes.
const uint32_t *report_lane_stack(const struct report_lanes *lanes, struct report_lane *lane);
