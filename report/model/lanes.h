// SPDX-License-Identifier: Apache-2.0
//
// The lanes of a capture while time goes on: nvtxt-report(1), "THE MODEL". A lane is the push/pop
// ranges of one thread and domain; its walk has the indexes of the events that are open. A range is
// open from its start to before its end.
//
// A lane is moved to times that never go back, and takes its ranges in the order of events.
#pragma once

#include <stdint.h>

#include "protocol/table/hash.h"
#include "protocol/table/walk.h"
#include "report/load/capture.h"

struct report_lane {
    struct nvtxt_hash_node node;
    uint32_t thread, domain;  // indexes in the capture
    struct report_lane *next; // of the same thread
    struct nvtxt_walk walk;
    int64_t counted; // to here the model has counted its time
};

struct report_lanes {
    const struct report_capture *capture; // borrowed
    struct nvtxt_hash table;
    struct report_lane **of_thread; // owned: the first lane of each thread; the rest by `next`
};

int report_lanes_init(struct report_lanes *lanes, const struct report_capture *capture);
void report_lanes_deinit(struct report_lanes *lanes); // fine when zeroed

// The lane of a push/pop range; made when there is none yet. NULL when memory is short.
struct report_lane *report_lanes_find(struct report_lanes *lanes, const struct report_event *event);

// Moves the lane of a push/pop range, an index of an event, to its start, and puts it on top.
// Returns 0 or -ENOMEM.
int report_lanes_begin(struct report_lanes *lanes, uint32_t event, struct report_lane **lane);
