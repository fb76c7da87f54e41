// SPDX-License-Identifier: Apache-2.0
//
// A measurement reads the clock, CLOCK_REALTIME, and the clock again. Of several such triples the
// narrowest counts, because its width bounds the error.
#include "daemon/base/clocks.h"
#include "protocol/base/clock.h"

#define TRIPLES 5 // at least one of them meets no interrupt

static int64_t read_raw(void) {
    return nvtxt_clock_ns(CLOCK_MONOTONIC_RAW);
}

#if defined(__aarch64__)
static int64_t read_cntvct(void) {
    uint64_t ticks;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
    return (int64_t)ticks;
}

static int64_t cntvct_frequency(void) {
    uint64_t frequency;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
    return (int64_t)frequency;
}
#endif

// `frequency` 0: the clock counts nanoseconds.
static struct clock_reading measure(enum nvtxt_timebase base, int64_t (*read)(void),
                                    int64_t frequency) {
    struct clock_reading best = {.base = base};
    int64_t narrowest = INT64_MAX;
    for (int i = 0; i < TRIPLES; i++) {
        int64_t before = read();
        int64_t realtime = nvtxt_realtime_ns();
        int64_t after = read();
        if (after - before >= narrowest) {
            continue;
        }
        narrowest = after - before;
        best.clock_ns = before + (after - before) / 2;
        best.realtime_ns = realtime;
    }
    struct nvtxt_clock_offset offset = {.known = true, .frequency = frequency};
    int64_t on_timeline = best.clock_ns;
    if (nvtxt_clock_apply(&offset, best.clock_ns, &on_timeline) != 0) {
        offset.known = false; // no real counter has such values: the clock stays unknown
    }
    offset.offset_ns = best.realtime_ns - on_timeline;
    best.offset = offset;
    best.clock_ns = on_timeline;
    best.uncertainty_ns = (narrowest + 1) / 2;
    if (frequency) {
        best.uncertainty_ns = (int64_t)((double)best.uncertainty_ns * 1e9 / (double)frequency);
    }
    return best;
}

bool clocks_refresh(struct clocks *clocks) {
    int64_t now = nvtxt_boottime_ns();
    if (clocks->generation && now - clocks->measured_ns < CLOCKS_MAX_AGE_NS) {
        return false;
    }
    clocks->measured_ns = now;
    clocks->generation++;
    clocks->count = 0;
    clocks->readings[clocks->count++] = measure(NVTXT_TIMEBASE_MONOTONIC_RAW, read_raw, 0);
    clocks->readings[clocks->count++] = measure(NVTXT_TIMEBASE_MONOTONIC, nvtxt_monotonic_ns, 0);
    clocks->readings[clocks->count++] = measure(NVTXT_TIMEBASE_BOOTTIME, nvtxt_boottime_ns, 0);
#if defined(__aarch64__)
    clocks->readings[clocks->count++] =
        measure(NVTXT_TIMEBASE_CNTVCT, read_cntvct, cntvct_frequency());
#endif
    return true;
}

void clocks_apply(const struct clocks *clocks, struct nvtxt_interp *interp) {
    for (size_t i = 0; i < clocks->count; i++) {
        nvtxt_interp_set_clock(interp, clocks->readings[i].base, clocks->readings[i].offset);
    }
    // CLOCK_REALTIME is the timeline: it needs no offset.
}
