// SPDX-License-Identifier: Apache-2.0
//
// A time as people write it, with what they leave out, and its nanoseconds. Reads no clock.
// Gregorian, also before 1582; the local zone is that of the C library (TZ).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/clock.h"

struct nvtxt_civil {
    int64_t year;
    int month, day, yday, hour, minute, second; // month and day from 1; 0: not given; yday likewise
    int64_t ns;
    int64_t epoch_ns;
    int64_t zone_s; // east of Greenwich
    bool has_year, has_epoch, has_zone, twelve, pm;
};

// The local zone's offset in the hour that was asked for last. Begins zeroed.
struct nvtxt_civil_zone {
    bool known;
    int64_t hour; // in which it holds
    int64_t offset_s;
};

// `near_ns`: a time without a year gets the latest one that is not more than a day after it, one
// without a date the day that brings it closest. `*ns` counts from the Unix epoch. False when there
// is no such time, or when it does not fit.
bool nvtxt_civil_to_ns(const struct nvtxt_civil *civil, struct nvtxt_civil_zone *zone,
                       int64_t near_ns, int64_t *ns);
