// SPDX-License-Identifier: Apache-2.0
//
// The measured offsets, compared with the clocks.
#include "daemon/base/clocks.h"

#include <criterion/criterion.h>
#include <time.h>

static int64_t now(clockid_t id) {
    struct timespec time;
    clock_gettime(id, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

Test(clocks, measures_once_in_a_while) {
    struct clocks clocks = {0};
    cr_assert(clocks_refresh(&clocks));
    cr_assert_not(clocks_refresh(&clocks));
    cr_assert_eq(clocks.generation, 1);
    size_t count = clocks.count;
    clocks.measured_ns -= CLOCKS_MAX_AGE_NS;
    cr_assert(clocks_refresh(&clocks));
    cr_assert_eq(clocks.generation, 2);
    cr_assert_eq(clocks.count, count);
}

Test(clocks, moves_each_clock_to_realtime) {
    static const struct {
        enum nvtxt_timebase base;
        clockid_t id;
    } known[] = {{NVTXT_TIMEBASE_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW},
                 {NVTXT_TIMEBASE_MONOTONIC, CLOCK_MONOTONIC},
                 {NVTXT_TIMEBASE_BOOTTIME, CLOCK_BOOTTIME}};
    struct clocks clocks = {0};
    clocks_refresh(&clocks);
    for (size_t i = 0; i < 3; i++) {
        const struct clock_reading *reading = &clocks.readings[i];
        int64_t ns = 0;
        cr_assert_eq(reading->base, known[i].base);
        cr_assert(reading->offset.known);
        cr_assert_geq(reading->uncertainty_ns, 0);
        cr_assert_eq(reading->clock_ns + reading->offset.offset_ns, reading->realtime_ns);
        cr_assert_eq(nvtxt_clock_apply(&reading->offset, now(known[i].id), &ns), 0);
        cr_assert_lt(llabs(ns - now(CLOCK_REALTIME)), 100000000);
    }
}
