// SPDX-License-Identifier: Apache-2.0
//
// The clocks of the machine as numbers. Realtime is for what is stored and shown; it may jump. The
// others are for waiting and for rates; only differences of them mean something. A clock that the
// kernel knows cannot fail, so nothing here returns an error. Nothing in protocol/ asks for the
// time: this is for the rooms above it.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NVTXT_NS_A_SECOND INT64_C(1000000000)
#define NVTXT_NS_A_MS INT64_C(1000000)

static inline int64_t nvtxt_clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NVTXT_NS_A_SECOND + now.tv_nsec;
}

static inline int64_t nvtxt_realtime_ns(void) { // since 1970
    return nvtxt_clock_ns(CLOCK_REALTIME);
}

static inline int64_t nvtxt_monotonic_ns(void) {
    return nvtxt_clock_ns(CLOCK_MONOTONIC);
}

static inline int64_t nvtxt_boottime_ns(void) { // with the time that the machine slept
    return nvtxt_clock_ns(CLOCK_BOOTTIME);
}

static inline int64_t nvtxt_monotonic_ms(void) {
    return nvtxt_monotonic_ns() / NVTXT_NS_A_MS;
}

// A time of one of these clocks, not below 0, for calls that wait until then.
static inline struct timespec nvtxt_timespec(int64_t ns) {
    return (struct timespec){.tv_sec = (time_t)(ns / NVTXT_NS_A_SECOND),
                             .tv_nsec = (long)(ns % NVTXT_NS_A_SECOND)};
}

// Sums and differences of times that files may say anything about: the nearest that there is.
static inline int64_t nvtxt_time_plus(int64_t time, int64_t more) {
    int64_t sum;
    bool fits = !__builtin_add_overflow(time, more, &sum);
    return fits ? sum : time < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t nvtxt_time_minus(int64_t time, int64_t base) {
    int64_t rest;
    bool fits = !__builtin_sub_overflow(time, base, &rest);
    return fits ? rest : time < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t nvtxt_earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}
