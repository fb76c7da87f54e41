// SPDX-License-Identifier: Apache-2.0
//
// Whether something came more often than before: the tail of the binomial distribution against
// sums of exact terms.
#include "report/logs/patterns.h"

#include <criterion/criterion.h>
#include <math.h>

static double slow(uint64_t count, uint64_t least, double share) {
    double sum = 0;
    for (uint64_t k = least; k <= count; k++) {
        double term = 1;
        for (uint64_t i = 0; i < k; i++) {
            term *= (double)(count - i) / (double)(k - i) * share;
        }
        sum += term * pow(1 - share, (double)(count - k));
    }
    return sum;
}

Test(burst, chances_are_those_of_a_slow_sum) {
    for (uint64_t count = 1; count <= 60; count += 7) {
        for (uint64_t least = 0; least <= count; least++) {
            for (double share = 0.05; share < 1; share += 0.3) {
                cr_assert_float_eq(report_chance(count, least, share), slow(count, least, share),
                                   1e-9);
            }
        }
    }
    cr_assert_eq(report_chance(5, 0, 0.5), 1);
    cr_assert_eq(report_chance(5, 6, 0.5), 0);
    cr_assert_float_eq(report_chance(2000000, 1000000, 0.5), 0.5, 0.01);
}

Test(burst, it_takes_five_times_as_often_and_more_than_chance) {
    cr_assert(report_is_burst(50, 1, 90, 9));       // 10 were to come
    cr_assert_not(report_is_burst(49, 1, 90, 9));   // not 5 times
    cr_assert_not(report_is_burst(2, 1, 1, 9));     // by chance in 2.8 %
    cr_assert_not(report_is_burst(2, 1, 0, 9));     // 1 %
    cr_assert(report_is_burst(4, 1, 0, 9));         // 0.01 %
    cr_assert_not(report_is_burst(100, 1, 100, 0)); // nothing was before
}
