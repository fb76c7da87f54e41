// SPDX-License-Identifier: Apache-2.0
//
// The test of ranks against values that were computed elsewhere, and verdicts on made-up runs.
#include <stdlib.h>
#include <string.h>

#include "report/stats/diff.h"
#include "tests/unit/report_kit.h"

#define NEAR(value, wanted) cr_expect_float_eq(value, wanted, 1e-9, "%.12f", value)

Test(report_diff, ranks_share_what_is_equal) {
    const uint64_t low[] = {1, 2, 3}, high[] = {4, 5, 6}, mixed[] = {1, 2, 2, 5};
    const uint64_t other[] = {2, 2, 3, 9, 9}, same[] = {7, 7, 7};
    NEAR(report_mann_whitney(low, 3, high, 3), 1.963961012123931);
    NEAR(report_mann_whitney(high, 3, low, 3), -1.963961012123931);
    // U = 15.0 of 20; the four twos and the two nines are ties.
    NEAR(report_mann_whitney(mixed, 4, other, 5), 1.285058810634358);
    cr_expect_eq(report_mann_whitney(same, 3, same, 3), 0);
    cr_expect_eq(report_mann_whitney(low, 3, low, 3), 0);
}

static uint64_t state;

static double chance(void) { // in [0, 1)
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

#define NAMES 4
#define MOST 64

// `count` iterations of NAMES ranges; those of the first name are `factor` times as long.
static struct report_model *noisy(size_t count, double factor, double noise) {
    static const char *const names[NAMES] = {"first", "second", "third", "fourth"};
    static struct report_kit_event events[MOST * NAMES];
    int64_t at = 0;
    for (size_t i = 0; i < count * NAMES; i++) {
        double length = 100000.0 * (double)(i % NAMES + 1) * (i % NAMES == 0 ? factor : 1);
        length *= 1 + noise * (chance() + chance() + chance() - 1.5);
        events[i] =
            (struct report_kit_event)KIT_RANGE(1, names[i % NAMES], at, at + (int64_t)length);
        at += (int64_t)length;
    }
    return report_kit_model(events, count * NAMES);
}

static struct report_diff diff;

static enum report_diff_verdict compare(struct report_model *base, struct report_model *new) {
    cr_assert(report_diff_init(&diff, base, new, 2) == 0);
    report_kit_free(base);
    report_kit_free(new);
    return diff.verdict;
}

Test(report_diff, noise_alone_is_neutral) {
    unsigned neutral = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        state = seed;
        neutral += compare(noisy(30, 1, 0.1), noisy(30, 1, 0.1)) == REPORT_DIFF_NEUTRAL;
        report_diff_deinit(&diff);
    }
    cr_expect_geq(neutral, 95, "%u", neutral);
}

Test(report_diff, five_percent_are_found_in_thirty_iterations) {
    unsigned found = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        state = seed;
        found += compare(noisy(30, 1, 0.05), noisy(30, 1.05, 0.05)) == REPORT_DIFF_REGRESSION &&
                 strncmp(diff.reason, ":first got slower (+", 20) == 0;
        report_diff_deinit(&diff);
        found += compare(noisy(30, 1.05, 0.05), noisy(30, 1, 0.05)) == REPORT_DIFF_IMPROVEMENT;
        report_diff_deinit(&diff);
    }
    cr_expect_geq(found, 190, "%u", found);
}

Test(report_diff, a_capture_against_itself_is_neutral) {
    cr_expect_eq(compare(report_kit_f1(), report_kit_f1()), REPORT_DIFF_NEUTRAL);
    cr_expect_eq(diff.row_count, 6);
    for (size_t i = 0; i < diff.row_count; i++) {
        cr_expect_eq(diff.rows[i].change, REPORT_DIFF_SAME);
        cr_expect(diff.rows[i].has_delta && diff.rows[i].delta_pct == 0);
    }
    report_diff_deinit(&diff);
}

#define ROW(index, text, change_)                                                                  \
    cr_expect(strncmp(diff.rows[index].name.data, text, strlen(text)) == 0 &&                      \
                  diff.rows[index].change == (change_),                                            \
              "%.*s", (int)diff.rows[index].name.len, diff.rows[index].name.data)

Test(report_diff, few_ranges_are_compared_by_their_means) {
    const struct report_kit_event base[] = {
        KIT_RANGE(1, "a", 0, 1000), KIT_RANGE(1, "gone", 1000, 1300), KIT_START_END(1, "a", 0, 5)};
    const struct report_kit_event new[] = {
        KIT_RANGE(1, "a", 0, 1021), KIT_RANGE(1, "new", 2000, 2100), KIT_START_END(1, "a", 0, 50)};
    cr_expect_eq(compare(report_kit_model(base, 3), report_kit_model(new, 3)),
                 REPORT_DIFF_REGRESSION);
    cr_expect_str_eq(diff.reason, ":a got slower (+2.1 %)");
    ROW(0, ":gone", REPORT_DIFF_REMOVED);
    ROW(1, ":new", REPORT_DIFF_ADDED);
    ROW(2, ":a", REPORT_DIFF_SLOWER);
    cr_expect_eq(diff.rows[2].kind, REPORT_START_END);
    cr_expect(!diff.rows[2].decides && !diff.rows[2].has_z && !diff.rows[0].has_delta);
    ROW(3, ":a", REPORT_DIFF_SLOWER);
    report_diff_deinit(&diff);
}

Test(report_diff, two_percent_are_no_change) {
    const struct report_kit_event base[] = {KIT_RANGE(1, "a", 0, 1000)};
    const struct report_kit_event new[] = {KIT_RANGE(1, "a", 0, 1020)};
    cr_expect_eq(compare(report_kit_model(base, 1), report_kit_model(new, 1)), REPORT_DIFF_NEUTRAL);
    report_diff_deinit(&diff);
}

Test(report_diff, too_little_in_common_is_inconclusive) {
    const struct report_kit_event base[] = {KIT_RANGE(1, "a", 0, 49), KIT_RANGE(1, "b", 49, 100)};
    const struct report_kit_event new[] = {KIT_RANGE(1, "a", 0, 49)};
    cr_expect_eq(compare(report_kit_model(base, 2), report_kit_model(new, 1)),
                 REPORT_DIFF_INCONCLUSIVE);
    cr_expect_str_eq(diff.reason,
                     "the names that both have are 49.0 % of the time of BASE: less than 50 %");
    report_diff_deinit(&diff);
    cr_expect_eq(compare(report_kit_model(base, 2), report_kit_model(NULL, 0)),
                 REPORT_DIFF_INCONCLUSIVE);
    cr_expect_str_eq(diff.reason, "NEW has no ranges");
    report_diff_deinit(&diff);
}
