// SPDX-License-Identifier: Apache-2.0
//
// Events a second of a source, over its last seconds.
#include "daemon/source/rates.h"

#include <criterion/criterion.h>

Test(rates, are_zero_before_anything_came) {
    struct rates rates = {0};
    struct stats stats = {0};
    cr_assert_eq(rates_get(&rates, 5000, &stats).lines, 0);
}

Test(rates, show_a_steady_stream) {
    struct rates rates = {0};
    struct stats stats = {0};
    uint64_t now = 1000000;
    for (int i = 0; i < 600; i++, now += 100) {
        rates_note(&rates, now, &stats);
        stats.lines += 200;
        stats.events += 100;
        stats.bytes += 4000;
    }
    struct rates_per_second got = rates_get(&rates, now, &stats);
    cr_assert_eq(got.lines, 2000);
    cr_assert_eq(got.events, 1000);
    cr_assert_eq(got.bytes, 40000);
}

Test(rates, fall_to_zero_when_nothing_comes) {
    struct rates rates = {0};
    struct stats stats = {0};
    rates_note(&rates, 1000, &stats);
    stats.lines = 5000;
    cr_assert_eq(rates_get(&rates, 1001, &stats).lines, 5000, "a burst counts as over a second");
    cr_assert_eq(rates_get(&rates, 6000, &stats).lines, 1000);
    cr_assert_eq(rates_get(&rates, 1000 + RATES_SPAN_MS + 1, &stats).lines, 0);
}

Test(rates, forget_what_was_before_a_silence) {
    struct rates rates = {0};
    struct stats stats = {0};
    rates_note(&rates, 1000, &stats);
    stats.lines = 5000;
    rates_note(&rates, 100000, &stats);
    stats.lines = 5010;
    cr_assert_eq(rates_get(&rates, 101000, &stats).lines, 10);
}
