// SPDX-License-Identifier: Apache-2.0
//
// The clocks of this machine, and the offsets of those that events may use against the timeline
// (CLOCK_REALTIME). The offsets are measured again when somebody needs them and the last
// measurement is old; there is no timer. CNTVCT exists on aarch64 only. Loop thread
// only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/interp/interp.h"

#define CLOCKS_MAX_AGE_NS 10000000000 // nvtxt(5), "Time": every 10 s while in use

struct clock_reading {
    enum nvtxt_timebase base;
    int64_t clock_ns;       // the clock, in ns (CNTVCT: scaled by its frequency)
    int64_t realtime_ns;    // CLOCK_REALTIME at that moment
    int64_t uncertainty_ns; // half the width of the triple
    struct nvtxt_clock_offset offset;
};

#define CLOCKS_MAX 5

struct clocks {
    uint32_t generation; // counts measurements; 0: never measured
    int64_t measured_ns; // CLOCK_BOOTTIME
    struct clock_reading readings[CLOCKS_MAX];
    size_t count;
};

// Measures when there is no measurement yet or the last one is older than CLOCKS_MAX_AGE_NS.
// Returns true when it did.
bool clocks_refresh(struct clocks *clocks);

// Gives the offsets to an interpreter.
void clocks_apply(const struct clocks *clocks, struct nvtxt_interp *interp);
