// SPDX-License-Identifier: Apache-2.0
//
// Sums, medians and percentiles, against a sort.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "report/model/spread.h"

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

#define MOST 3000

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void expect_ranks(const uint64_t *sorted, uint64_t *values, size_t count, uint64_t *state) {
    for (int i = 0; i < 8; i++) {
        size_t rank = next(state) % count;
        cr_assert_eq(report_nth(values, count, rank), sorted[rank]);
        for (size_t k = 0; k < count; k++) {
            cr_assert(k < rank ? values[k] <= sorted[rank] : values[k] >= sorted[rank]);
        }
    }
}

Test(report_spread, ranks_are_those_of_a_sort) {
    static uint64_t values[MOST], sorted[MOST];
    uint64_t state = 1;
    for (int round = 0; round < 400; round++) {
        size_t count = 1 + next(&state) % (round < 300 ? 60 : MOST);
        uint64_t spread = 1 + next(&state) % (round % 3 ? 5 : 1u << 30);
        uint64_t shape = next(&state) % 3;
        for (size_t i = 0; i < count; i++) {
            uint64_t value = shape == 0 ? i : next(&state) % spread;
            values[i] = sorted[i] = shape == 2 ? UINT64_MAX - value : value;
        }
        qsort(sorted, count, sizeof(*sorted), compare);
        expect_ranks(sorted, values, count, &state);
        struct report_spread spread_of = report_spread_of(values, count);
        unsigned __int128 both = (unsigned __int128)sorted[(count - 1) / 2] + sorted[count / 2];
        double median = (double)((long double)both / 2);
        cr_assert_eq(spread_of.median, median);
        cr_assert_eq(spread_of.min, sorted[0]);
        cr_assert_eq(spread_of.max, sorted[count - 1]);
    }
}

Test(report_spread, a_percentile_is_the_nearest_rank) {
    cr_expect_eq(report_percentile_rank(1, 0), 0);
    cr_expect_eq(report_percentile_rank(1, 100), 0);
    cr_expect_eq(report_percentile_rank(3, 90), 2);
    cr_expect_eq(report_percentile_rank(3, 50), 1);
    cr_expect_eq(report_percentile_rank(4, 50), 1);
    cr_expect_eq(report_percentile_rank(10, 90), 8);
    cr_expect_eq(report_percentile_rank(1000, 99.9), 998);
    cr_expect_eq(report_percentile_rank(1001, 99.9), 999);
    cr_expect_eq(report_percentile_rank(100, 7), 6);
    cr_expect_eq(report_percentile_rank(100, 29), 28);
    cr_expect_eq(report_percentile_rank(1000, 0.1), 0);
}

Test(report_spread, sums_pass_64_bits) {
    uint64_t values[] = {UINT64_MAX, UINT64_MAX, 0, UINT64_MAX};
    struct report_spread spread = report_spread_of(values, 4);
    cr_expect(spread.sum == (unsigned __int128)UINT64_MAX * 3);
    cr_expect_eq(spread.median, (double)UINT64_MAX);
    struct report_spread none = report_spread_of(values, 0);
    cr_expect(none.sum == 0 && none.avg == 0 && none.max == 0);
}

Test(report_spread, the_deviation_is_that_of_a_sample) {
    uint64_t values[] = {100, 140}, one[] = {5};
    cr_expect_float_eq(report_spread_of(values, 2).stddev, 28.2842712474619, 1e-12);
    cr_expect_eq(report_spread_of(values, 2).avg, 120);
    cr_expect_eq(report_spread_of(one, 1).stddev, 0);
}
