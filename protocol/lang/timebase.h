// SPDX-License-Identifier: Apache-2.0
//
// Time bases and mappings: from the time a producer writes to nanoseconds since the Unix epoch.
// Pure arithmetic in 128 bits; measured clock offsets come in as values. Rules: nvtxt(5), "Time".
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"

enum nvtxt_timebase {
    NVTXT_TIMEBASE_MANUAL,
    NVTXT_TIMEBASE_RELATIVE,
    NVTXT_TIMEBASE_MONOTONIC_RAW,
    NVTXT_TIMEBASE_MONOTONIC,
    NVTXT_TIMEBASE_BOOTTIME,
    NVTXT_TIMEBASE_REALTIME,
    NVTXT_TIMEBASE_CNTVCT,
    NVTXT_TIMEBASE_UNKNOWN,
    NVTXT_TIMEBASE_COUNT,
};

// The time base of a name; any word that is not in the table is NVTXT_TIMEBASE_UNKNOWN.
enum nvtxt_timebase nvtxt_timebase_find(struct nvtxt_slice name);

// The word for it ("ClockMonotonicRaw"); "unknown" for NVTXT_TIMEBASE_UNKNOWN.
const char *nvtxt_timebase_name(enum nvtxt_timebase base);

// True when the time base is a clock of this machine (the Arm counter only on Arm).
bool nvtxt_timebase_is_clock(enum nvtxt_timebase base);

// Seconds and nanoseconds of the system, as nanoseconds, or the nearest that Int64 has: files may
// have any date.
int64_t nvtxt_time_ns(int64_t seconds, int64_t ns);

// From the values of a clock to the timeline: ns = t * 1e9 / frequency + offset_ns.
struct nvtxt_clock_offset {
    bool known;
    int64_t offset_ns;
    int64_t frequency; // ticks per second; 0 means nanoseconds
};

// Moves `time` of a clock to the timeline. Returns 0, or 1 when the result does not fit Int64.
int nvtxt_clock_apply(const struct nvtxt_clock_offset *clock, int64_t time, int64_t *ns);

enum nvtxt_mapping_mode { NVTXT_MAPPING_NONE, NVTXT_MAPPING_LERP, NVTXT_MAPPING_LIN };

// lerp: ns = ns_a + (t - nvtxt_a)(ns_b - ns_a)/(nvtxt_b - nvtxt_a)
// lin:  ns = ns_a + (t - nvtxt_a) * 1e9 / freq
struct nvtxt_mapping {
    enum nvtxt_mapping_mode mode;
    int64_t ns_a, ns_b;
    int64_t nvtxt_a, nvtxt_b;
    int64_t freq; // ticks per second
};

// NULL for a possible mapping, else a sentence fragment that says what is wrong with it.
const char *nvtxt_mapping_fault(const struct nvtxt_mapping *mapping);

// Maps `time`, rounding towards minus infinity. The mapping must have no fault and not be NONE.
// Returns 0, or 1 when the result does not fit Int64.
int nvtxt_mapping_apply(const struct nvtxt_mapping *mapping, int64_t time, int64_t *ns);
