// SPDX-License-Identifier: Apache-2.0
//
// A walk over the events of a capture in order, with the state at each: nvtxt-report(1), "THE
// MODEL". The state of an event is the stacks of all lanes of its thread and the start/end ranges
// that are open in its process, at its start, itself included.
//
// Lanes are looked at when somebody asks for them. Open start/end ranges are told one by one, as
// they open and close, so that who needs them keeps a count for each name and process.
#pragma once

#include <stdbool.h>

#include "report/model/lanes.h"

// A start/end range opens or closes. All that open at a time are told before the first event of
// that time, whatever their place in the order; one without length closes when time goes on.
typedef void report_walk_function(void *context, uint32_t event, bool opens);

struct report_walk {
    struct report_lanes lanes; // of_thread[] has the lanes of a thread
    report_walk_function *tell;
    void *context;
    struct report_ends open; // start/end ranges
    bool begun;
    int64_t now;
    struct report_lane *passing; // its top has no length: it is in the state of one event only
};

// The events are in order: report_model_build() was called. `tell` may be NULL. Returns 0 or
// -ENOMEM; deinit in each case.
int report_walk_init(struct report_walk *walk, const struct report_capture *capture,
                     report_walk_function *tell, void *context);
void report_walk_deinit(struct report_walk *walk);

// Goes to an event: each one in turn, none left out. Returns 0 or -ENOMEM.
int report_walk_to(struct report_walk *walk, uint32_t event);

// The stack of a lane at the event, bottom first: report_lane_depth() indexes. Ask for lanes of the
// event's thread only. It lives until the next step.
const uint32_t *report_walk_stack(struct report_walk *walk, struct report_lane *lane);
