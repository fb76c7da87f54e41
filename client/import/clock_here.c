// SPDX-License-Identifier: Apache-2.0
//
// Two clocks cannot be read at one moment: realtime is read between two readings of the other
// clock, a few times. The try with the shortest time between its two readings counts.
#include "client/import/load.h"

#include <time.h>

#include "protocol/base/clock.h"

#define TRIES 8 // enough that one of them is not interrupted

#if defined(__aarch64__)
#define HAS_COUNTER true
static int64_t read_counter(void) {
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return (int64_t)ticks;
}
static int64_t counter_frequency(void) {
    uint64_t hertz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
    return (int64_t)hertz;
}
#else
#define HAS_COUNTER false
static int64_t read_counter(void) {
    return 0;
}
static int64_t counter_frequency(void) {
    return 0;
}
#endif

// One reading; `frequency` is 0 for clocks that count nanoseconds.
static int64_t read_scaled(clockid_t clock, int64_t frequency) {
    struct nvtxt_clock_offset scale = {.known = true, .frequency = frequency};
    int64_t ns = 0;
    if (frequency == 0) {
        return nvtxt_clock_ns(clock);
    }
    return nvtxt_clock_apply(&scale, read_counter(), &ns) == 0 ? ns : 0;
}

static void measure(struct clock_here *clocks, enum nvtxt_timebase base, clockid_t clock,
                    int64_t frequency) {
    struct clock_here_reading *best = &clocks->readings[clocks->count++];
    *best = (struct clock_here_reading){.base = base, .uncertainty_ns = INT64_MAX};
    int64_t narrowest = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        int64_t before = read_scaled(clock, frequency);
        int64_t realtime = nvtxt_realtime_ns();
        int64_t width = read_scaled(clock, frequency) - before;
        if (width < narrowest) {
            narrowest = width;
            best->clock_ns = before + width / 2;
            best->realtime_ns = realtime;
            best->uncertainty_ns = (width + 1) / 2;
        }
    }
    best->offset.known = true;
    best->offset.frequency = frequency;
    best->offset.offset_ns = best->realtime_ns - best->clock_ns;
}

void clock_here_measure(struct clock_here *clocks) {
    clocks->count = 0;
    measure(clocks, NVTXT_TIMEBASE_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW, 0);
    measure(clocks, NVTXT_TIMEBASE_MONOTONIC, CLOCK_MONOTONIC, 0);
    measure(clocks, NVTXT_TIMEBASE_BOOTTIME, CLOCK_BOOTTIME, 0);
    if (HAS_COUNTER && counter_frequency() > 0) {
        measure(clocks, NVTXT_TIMEBASE_CNTVCT, CLOCK_MONOTONIC_RAW, counter_frequency());
    }
}

void clock_here_apply(const struct clock_here *clocks, struct nvtxt_interp *interp) {
    for (size_t i = 0; i < clocks->count; i++) {
        nvtxt_interp_set_clock(interp, clocks->readings[i].base, clocks->readings[i].offset);
    }
}
