// SPDX-License-Identifier: Apache-2.0
//
// The clock of the records: CLOCK_MONOTONIC, since a duration must not jump. The sender moves it to
// the timeline.
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_record(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
