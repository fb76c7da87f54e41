// SPDX-License-Identifier: Apache-2.0
//
// The test of ranks against values that were computed elsewhere, verdicts on made-up runs, and how
// often noise alone gets one.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/diff.h"
#include "report/diff/paths.h"
#include "tests/unit/report_kit.h"

#define NEAR(value, wanted) cr_expect_float_eq(value, wanted, 1e-9, "%.12f", value)

Test(report_diff, ranks_share_what_is_equal) {
    const uint64_t low[] = {1, 2, 3}, high[] = {4, 5, 6}, mixed[] = {1, 2, 2, 5};
    const uint64_t other[] = {2, 2, 3, 9, 9}, same[] = {7, 7, 7};
    NEAR(report_diff_mann_whitney(low, 3, high, 3), 1.963961012123931);
    NEAR(report_diff_mann_whitney(high, 3, low, 3), -1.963961012123931);
    // U = 15.0 of 20; the four twos and the two nines are ties.
    NEAR(report_diff_mann_whitney(mixed, 4, other, 5), 1.285058810634358);
    cr_expect_eq(report_diff_mann_whitney(same, 3, same, 3), 0);
    cr_expect_eq(report_diff_mann_whitney(low, 3, low, 3), 0);
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
static struct report_durations sides[2];

static enum report_diff_verdict compare(struct report_model *base, struct report_model *new) {
    cr_assert(report_durations_init(&sides[0], base) == 0);
    cr_assert(report_durations_init(&sides[1], new) == 0);
    cr_assert(report_diff_init(&diff, &sides[0], &sides[1], 2) == 0);
    report_kit_free(base);
    report_kit_free(new);
    return diff.verdict;
}

static void forget(void) {
    report_diff_deinit(&diff);
    report_durations_deinit(&sides[0]);
    report_durations_deinit(&sides[1]);
}

Test(report_diff, noise_alone_is_neutral) {
    unsigned neutral = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        state = seed;
        neutral += compare(noisy(30, 1, 0.1), noisy(30, 1, 0.1)) == REPORT_DIFF_NEUTRAL;
        forget();
    }
    cr_expect_geq(neutral, 95, "%u", neutral);
}

Test(report_diff, five_percent_are_found_in_thirty_iterations) {
    unsigned found = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        state = seed;
        found += compare(noisy(30, 1, 0.05), noisy(30, 1.05, 0.05)) == REPORT_DIFF_REGRESSION &&
                 strncmp(diff.reason, ":first got slower (+", 20) == 0;
        forget();
        found += compare(noisy(30, 1.05, 0.05), noisy(30, 1, 0.05)) == REPORT_DIFF_IMPROVEMENT;
        forget();
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
    forget();
}

#define ROW(index, text, change_)                                                                  \
    cr_expect(strncmp(diff.rows[index].name.data, text, strlen(text)) == 0 &&                      \
                  diff.rows[index].change == (change_),                                            \
              "%.*s", (int)diff.rows[index].name.len, diff.rows[index].name.data)

// `count` ranges of one name, one after the other, with these lengths.
static struct report_model *lasting(const char *name, const int64_t *lengths, size_t count) {
    struct report_kit_event events[MOST];
    int64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        events[i] = (struct report_kit_event)KIT_RANGE(1, name, at, at + lengths[i]);
        at += lengths[i];
    }
    return report_kit_model(events, count);
}

// The same as two sides, and what becomes of the one row.
static enum report_diff_change change_of(const int64_t *base, size_t base_count, const int64_t *new,
                                         size_t new_count) {
    compare(lasting("a", base, base_count), lasting("a", new, new_count));
    cr_assert_eq(diff.row_count, 1);
    enum report_diff_change change = diff.rows[0].change;
    cr_expect_eq(diff.rows[0].runs_needed > 0, change == REPORT_DIFF_UNDECIDED);
    return change;
}

Test(report_diff, few_ranges_stand_apart_or_say_nothing) {
    const int64_t base[] = {1000, 1010, 1020, 1030, 1040}, new[] = {1070, 1050, 1090, 1080, 1060};
    const int64_t many[] = {1050, 1060, 1070, 1080, 1090, 1100, 1110};
    cr_expect_eq(change_of(base, 5, new, 5), REPORT_DIFF_SLOWER); // 1 of 252
    cr_expect_eq(diff.verdict, REPORT_DIFF_REGRESSION);
    cr_expect_str_eq(diff.reason, ":a got slower (+4.9 %)");
    forget();
    cr_expect_eq(change_of(new, 5, base, 5), REPORT_DIFF_FASTER);
    cr_expect_eq(diff.verdict, REPORT_DIFF_IMPROVEMENT);
    forget();
    cr_expect_eq(change_of(base, 4, new, 4), REPORT_DIFF_UNDECIDED); // 1 of 70
    cr_expect_eq(diff.rows[0].runs_needed, 5);
    cr_expect_eq(diff.verdict, REPORT_DIFF_INCONCLUSIVE);
    cr_expect_str_eq(diff.reason,
                     ":a differs by +5.9 %, which may be chance: it ran 4 and 4 times, "
                     "5 on each side would decide");
    forget();
    cr_expect_eq(change_of(base, 3, many, 7), REPORT_DIFF_SLOWER); // 1 of 120
    forget();
    cr_expect_eq(change_of(base, 3, many, 6), REPORT_DIFF_UNDECIDED); // 1 of 84
    cr_expect_eq(diff.rows[0].runs_needed, 4);                        // 4 and 6: 1 of 210
    forget();
}

Test(report_diff, three_ranges_are_enough_if_the_gap_is_wide) {
    const int64_t base[] = {1000, 1010, 1020}, far[] = {1040, 1050, 1060},
                  near[] = {1039, 1050, 1060};
    const int64_t wide[] = {1040, 1050, 1061};
    cr_expect_eq(change_of(base, 3, far, 3), REPORT_DIFF_SLOWER);
    forget();
    cr_expect_eq(change_of(far, 3, base, 3), REPORT_DIFF_FASTER);
    forget();
    cr_expect_eq(change_of(base, 3, near, 3), REPORT_DIFF_UNDECIDED);
    forget();
    cr_expect_eq(change_of(base, 3, wide, 3), REPORT_DIFF_UNDECIDED);
    forget();
    cr_expect_eq(change_of(base, 2, far, 3), REPORT_DIFF_UNDECIDED);
    forget();
}

Test(report_diff, spans_that_meet_need_the_test) {
    const int64_t base[] = {1000, 1010, 1100, 1020, 1030}, new[] = {1100, 1150, 1160, 1120, 1130};
    cr_expect_eq(change_of(base, 5, new, 5), REPORT_DIFF_UNDECIDED);
    cr_expect_eq(diff.rows[0].runs_needed, 10);
    forget();
}

// A change that is sure is told, also when another name is open; one that is faster is not enough.
Test(report_diff, what_got_slower_comes_before_what_is_open) {
    struct report_kit_event base[12], new[12];
    for (int64_t i = 0; i < 6; i++) {
        base[i] = (struct report_kit_event)KIT_RANGE(1, "sure", i * 1000, i * 1000 + 100 + i);
        new[i] = (struct report_kit_event)KIT_RANGE(1, "sure", i * 1000, i * 1000 + 200 + i);
        base[6 + i] = (struct report_kit_event)KIT_RANGE(2, "open", i * 1000, i * 1000 + 500 + i);
        new[6 + i] =
            (struct report_kit_event)KIT_RANGE(2, "open", i * 1000, i * 1000 + 503 + 9 * i);
    }
    cr_expect_eq(compare(report_kit_model(base, 12), report_kit_model(new, 12)),
                 REPORT_DIFF_REGRESSION);
    cr_expect_eq(diff.undecided, 1);
    cr_expect_str_eq(diff.reason, ":sure got slower (+97.6 %)");
    forget();
    cr_expect_eq(compare(report_kit_model(new, 12), report_kit_model(base, 12)),
                 REPORT_DIFF_INCONCLUSIVE);
    forget();
}

Test(report_diff, names_of_one_side_and_kinds_are_kept_apart) {
    const struct report_kit_event base[] = {
        KIT_RANGE(1, "a", 0, 1000), KIT_RANGE(1, "gone", 1000, 1300), KIT_START_END(1, "a", 0, 5)};
    const struct report_kit_event new[] = {
        KIT_RANGE(1, "a", 0, 1021), KIT_RANGE(1, "new", 2000, 2100), KIT_START_END(1, "a", 0, 50)};
    cr_expect_eq(compare(report_kit_model(base, 3), report_kit_model(new, 3)),
                 REPORT_DIFF_INCONCLUSIVE);
    ROW(0, ":gone", REPORT_DIFF_REMOVED);
    ROW(1, ":new", REPORT_DIFF_ADDED);
    ROW(2, ":a", REPORT_DIFF_UNDECIDED);
    cr_expect_eq(diff.rows[2].kind, REPORT_START_END);
    cr_expect(!diff.rows[2].decides && !diff.rows[2].has_z && !diff.rows[0].has_delta);
    ROW(3, ":a", REPORT_DIFF_UNDECIDED);
    forget();
}

// ---- Noise --------------------------------------------------------------------------------------

// One duration of 100 ms and 5 % deviation: as of a bell, or with a long tail above.
static uint64_t noise(bool skewed, double factor) {
    double u = 1 - chance(), v = chance();
    double shift = skewed ? -log(u) - 1 : sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
    return (uint64_t)(100e6 * factor * (1 + 0.05 * shift));
}

// How many of 1,000 pairs of runs, `count` on each side, are a regression.
static unsigned count_regressions(size_t count, bool skewed, double factor) {
    unsigned found = 0;
    state = count * 2 + skewed;
    for (unsigned pair = 0; pair < 1000; pair++) {
        struct report_diff_sample items[2][MOST];
        for (size_t side = 0; side < 2; side++) {
            for (size_t i = 0; i < count; i++) {
                items[side][i] = (struct report_diff_sample){NVTXT_SLICE("run"),
                                                             noise(skewed, side == 0 ? 1 : factor)};
            }
            cr_assert(report_durations_kernels_init(
                          &sides[side], &(struct report_diff_samples){items[side], count}) == 0);
        }
        cr_assert(report_diff_init(&diff, &sides[0], &sides[1], 2) == 0);
        found += diff.verdict == REPORT_DIFF_REGRESSION;
        forget();
    }
    return found;
}

Test(report_diff, equal_noise_is_hardly_ever_a_regression) {
    static const size_t counts[] = {3, 5, 10, 30};
    for (size_t i = 0; i < 4; i++) {
        for (unsigned skewed = 0; skewed < 2; skewed++) {
            unsigned found = count_regressions(counts[i], skewed, 1);
            cr_expect_leq(found, 10, "%zu runs, skewed %u: %u", counts[i], skewed, found);
        }
    }
}

Test(report_diff, twenty_percent_are_found_in_five_runs) {
    for (unsigned skewed = 0; skewed < 2; skewed++) {
        unsigned found = count_regressions(5, skewed, 1.2);
        cr_expect_geq(found, 800, "skewed %u: %u", skewed, found);
    }
}

Test(report_diff, two_percent_are_no_change) {
    const struct report_kit_event base[] = {KIT_RANGE(1, "a", 0, 1000)};
    const struct report_kit_event new[] = {KIT_RANGE(1, "a", 0, 1020)};
    cr_expect_eq(compare(report_kit_model(base, 1), report_kit_model(new, 1)), REPORT_DIFF_NEUTRAL);
    forget();
}

Test(report_diff, too_little_in_common_is_inconclusive) {
    const struct report_kit_event base[] = {KIT_RANGE(1, "a", 0, 49), KIT_RANGE(1, "b", 49, 100)};
    const struct report_kit_event new[] = {KIT_RANGE(1, "a", 0, 49)};
    cr_expect_eq(compare(report_kit_model(base, 2), report_kit_model(new, 1)),
                 REPORT_DIFF_INCONCLUSIVE);
    cr_expect_str_eq(
        diff.reason,
        "the names that both have are 49.0 % of the time of BASE: less than 50 %; only "
        "BASE has :b");
    forget();
    cr_expect_eq(compare(report_kit_model(base, 2), report_kit_model(NULL, 0)),
                 REPORT_DIFF_INCONCLUSIVE);
    cr_expect_str_eq(diff.reason, "NEW has no ranges");
    forget();
}

// ---- Histograms ---------------------------------------------------------------------------------

// The bins of two sides of one name, with these durations in ascending order.
static struct report_diff_bins bins_of(uint64_t *base, size_t base_count, uint64_t *new,
                                       size_t new_count) {
    struct report_diff_bins bins;
    const struct report_durations_of left = {.values = base, .side = {.count = base_count}};
    const struct report_durations_of right = {.values = new, .side = {.count = new_count}};
    report_diff_bins_fill(&bins, &left, &right);
    return bins;
}

Test(report_diff, bins_are_logarithmic_and_of_both_sides) {
    uint64_t base[] = {1000, 1001, 999999}, new[] = {31622, 31623, 1000000};
    struct report_diff_bins bins = bins_of(base, 3, new, 3);
    cr_expect(bins.low == 1000 && bins.high == 1000000);
    for (size_t i = 0; i < REPORT_DIFF_BINS; i++) { // the middle of the axis is 31,622.8
        cr_expect_eq(bins.counts[0][i], i == 0 ? 2 : i == 23 ? 1 : 0, "%zu", i);
        cr_expect_eq(bins.counts[1][i], i == 11 || i == 12 || i == 23, "%zu", i);
    }
}

Test(report_diff, bins_of_equal_or_no_durations) {
    uint64_t seven[] = {7, 7}, zero[] = {0}, mixed[] = {0, 1, 100}, most[] = {UINT64_MAX};
    cr_expect_eq(bins_of(seven, 2, seven, 2).counts[1][12], 2);
    cr_expect_eq(bins_of(zero, 1, zero, 1).counts[0][12], 1);
    struct report_diff_bins bins = bins_of(mixed, 3, zero, 1);
    cr_expect(bins.counts[0][0] == 2 && bins.counts[0][23] == 1 && bins.counts[1][0] == 1);
    bins = bins_of(zero, 1, most, 1);
    cr_expect(bins.counts[0][0] == 1 && bins.counts[1][23] == 1);
}

// ---- Paths --------------------------------------------------------------------------------------

static struct report_diff_paths paths;

// Whether the text is that of the steps of a path.
static bool is_path(const char *text, uint32_t at) {
    size_t len = strlen(text);
    for (; at != REPORT_NONE; at = paths.list[at].parent) {
        const struct nvtxt_slice step = paths.list[at].step;
        const bool first = paths.list[at].parent == REPORT_NONE;
        cr_assert(first || paths.list[at].parent < at);
        if (len < step.len + !first || memcmp(text + len - step.len, step.data, step.len) != 0 ||
            (!first && text[len - step.len - 1] != ';')) {
            return false;
        }
        len -= step.len + !first;
    }
    return len == 0;
}

static const struct report_diff_path *path_of(const char *text) {
    uint32_t at = 0;
    while (at < paths.count && !is_path(text, at)) {
        at++;
    }
    cr_assert(at < paths.count, "%s", text);
    return &paths.list[at];
}

static void join(const struct report_kit_event *base, size_t base_count,
                 const struct report_kit_event *new, size_t new_count) {
    struct report_model *one = report_kit_model(base, base_count);
    struct report_model *other = report_kit_model(new, new_count);
    cr_assert_eq(report_diff_paths_init(&paths, one, other), 0);
    report_kit_free(one);
    report_kit_free(other);
}

Test(report_diff, paths_are_joined_by_their_texts) {
    const struct report_kit_event base[] = {
        KIT_RANGE(1, "gone", 0, 10), KIT_RANGE(1, "deep", 2, 5),  KIT_RANGE(1, "all", 10, 110),
        KIT_RANGE(1, "a", 20, 60),   KIT_RANGE(1, "old", 70, 80), KIT_RANGE(1, "a", 200, 205),
    };
    const struct report_kit_event new[] = {
        KIT_RANGE(1, "all", 0, 120), KIT_RANGE(1, "fresh", 5, 10), KIT_RANGE(1, "a", 20, 80),
        KIT_RANGE(1, "D:a", 90, 91), // a domain has a stack of its own
    };
    double percent = 7;
    join(base, 6, new, 4);
    cr_expect(paths.new_count == 4 && paths.count == 8 && paths.width == 121);
    const struct report_diff_path *path = path_of("all;a");
    cr_expect(path->base.self == 40 && path->new.self == 60 && path->base.count == 1);
    cr_expect(report_diff_path_change(path, &percent));
    NEAR(percent, 50);
    path = path_of("all");
    cr_expect(report_diff_path_change(path, &percent));
    NEAR(percent, 10);
    cr_expect(!report_diff_path_change(path_of("all;fresh"), &percent) && percent == 0);
    cr_expect(!report_diff_path_has(&path_of("D:a")->base));
    path = path_of("all;old");
    cr_expect(!report_diff_path_has(&path->new) && path->base.self == 10);
    cr_expect(path_of("a")->base.self == 5 && path_of("gone")->base.total == 10);
    cr_expect_eq(path_of("gone;deep")->base.self, 3);
    report_diff_paths_deinit(&paths);
}

Test(report_diff, a_path_has_no_semicolon_in_a_step) {
    const struct report_kit_event base[] = {KIT_RANGE(1, "a;b", 0, 0)};
    const struct report_kit_event new[] = {KIT_RANGE(1, "a,b", 0, 10)};
    double percent;
    join(base, 1, new, 1);
    cr_assert(paths.count == 1 && path_of("a,b")->base.count == 1);
    cr_expect_not(report_diff_path_change(path_of("a,b"), &percent), "from 0");
    report_diff_paths_deinit(&paths);
    join(base, 1, base, 1);
    cr_expect(report_diff_path_change(path_of("a,b"), &percent) && percent == 0);
    report_diff_paths_deinit(&paths);
    join(NULL, 0, NULL, 0);
    cr_expect_eq(paths.count, 0);
    report_diff_paths_deinit(&paths);
}
