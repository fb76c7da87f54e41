// SPDX-License-Identifier: Apache-2.0
//
// How a set of lengths of time is spread: sum, mean, median, percentiles. The rules are those of
// nvtxt-report(1), "THE MODEL": the median is the mean of the two middle values, a percentile is
// the nearest rank, the standard deviation that of a sample. The sum is exact, whatever it is.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct report_spread {
    size_t count;
    unsigned __int128 sum;
    uint64_t min, max;  // both 0 without values
    double avg, stddev; // both 0 without values; stddev of one value: 0
    double median;      // exact when it fits into 53 bits
};

// `values` are put into another order.
struct report_spread report_spread_of(uint64_t *values, size_t count);

// One figure of them alone, the same to the bit; of no values 0. The median puts them into another
// order.
double report_average(const uint64_t *values, size_t count);
double report_deviation(const uint64_t *values, size_t count);
double report_median(uint64_t *values, size_t count);

// Of one value or more.
uint64_t report_largest(const uint64_t *values, size_t count);

// The ceil(percent / 100 x count)-th smallest value, the smallest for 0. `percent` is from 0 to
// 100, `count` more than 0. `values` are put into another order; it takes time linear in `count`.
uint64_t report_percentile(uint64_t *values, size_t count, double percent);

// The rank, from 0, of the value that report_percentile() gives.
size_t report_percentile_rank(size_t count, double percent);

// The value of that rank (from 0, below `count`). Afterwards no value before `rank` is larger, and
// none after it is smaller.
uint64_t report_nth(uint64_t *values, size_t count, size_t rank);
