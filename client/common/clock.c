// SPDX-License-Identifier: Apache-2.0
//
// clock_gettime(2). A clock that the kernel knows cannot fail, so nothing here returns an error.
#include "client/common/clock.h"

#define NS_A_MS 1000000

int64_t clock_read_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NS_A_SECOND + now.tv_nsec;
}

int64_t clock_realtime_ns(void) {
    return clock_read_ns(CLOCK_REALTIME);
}

int64_t clock_monotonic_ms(void) {
    return clock_read_ns(CLOCK_MONOTONIC) / NS_A_MS;
}
