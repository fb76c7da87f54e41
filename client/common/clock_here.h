// SPDX-License-Identifier: Apache-2.0
//
// --clock=here: the clocks of this machine still run, so times that a file got from them since the
// boot can be moved to the timeline.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/interp/interp.h"

#define CLOCK_HERE_MAX 5

struct clock_here {
    size_t count;
    struct clock_here_reading {
        enum nvtxt_timebase base;
        int64_t clock_ns;       // the clock (a counter scaled to ns)
        int64_t realtime_ns;    // CLOCK_REALTIME at that moment
        int64_t uncertainty_ns; // the two readings are at most so far apart
        struct nvtxt_clock_offset offset;
    } readings[CLOCK_HERE_MAX];
};

// Reads all clocks of this machine against CLOCK_REALTIME.
void clock_here_measure(struct clock_here *clocks);

// Gives an interpreter these readings.
void clock_here_apply(const struct clock_here *clocks, struct nvtxt_interp *interp);
