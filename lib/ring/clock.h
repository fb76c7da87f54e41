// SPDX-License-Identifier: Apache-2.0
//
// The clock of the records. A duration must not jump, so it counts as CLOCK_MONOTONIC does. Where
// the kernel reads that clock from the processor's counter (TSC), records have the counter itself,
// which is twice as fast to read, and a pass converts them: between two points at which both were
// read it draws a straight line. Points are taken at each pass, so whatever becomes of the counter
// meanwhile (a new rate, a pause of the machine), a time is wrong by no more than that allows.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

extern bool clock_is_tsc; // records have ticks; else nanoseconds

static inline uint64_t clock_monotonic(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// The time of a record.
static inline uint64_t clock_record(void) {
#ifdef __x86_64__
    if (__builtin_expect(clock_is_tsc, 1)) {
        return __builtin_ia32_rdtsc();
    }
#endif
    return clock_monotonic();
}

// Sets clock_is_tsc. Before the first record of the process.
void clock_choose(void);

struct clock_point {
    uint64_t ticks, ns; // at the same moment
};

struct clock_point clock_now(void);

#define CLOCK_POINTS 32u

// From records to nanoseconds of CLOCK_MONOTONIC.
struct clock_map {
    bool is_tsc;
    double rate; // ns of a tick; 0: unknown
    bool is_rough;
    uint32_t count;
    struct clock_point points[CLOCK_POINTS]; // the last ones, and fewer and fewer of before
    bool breaks[CLOCK_POINTS];               // the counter and the clock parted before this point
};

// Begins with one point, and the rate if it is known, else 0.
void clock_map_init(struct clock_map *map, bool is_tsc, struct clock_point first, double rate);

// Adds a point. Times of records before it are final then.
void clock_map_add(struct clock_map *map, struct clock_point point);

// The time of a record, which grows with `ticks`.
uint64_t clock_map_ns(const struct clock_map *map, uint64_t ticks);
