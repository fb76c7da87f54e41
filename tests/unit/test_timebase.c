// SPDX-License-Identifier: Apache-2.0
//
// Time: the arithmetic of mappings and clocks against long division done bit by bit, over extreme
// and over random values.
#include "protocol/lang/timebase.h"

#include <criterion/criterion.h>
#include <inttypes.h>

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

// base + floor(a * b / c) by adding up a's multiples of c for each bit of b. Returns 1 when the sum
// is no Int64. Magnitudes are below 2^64.
static int by_long_division(int128 base, int128 a, int128 b, int128 c, int64_t *ns) {
    bool negative = (a < 0) != (b < 0);
    negative = negative != (c < 0);
    uint128 ua = (uint128)(a < 0 ? -a : a), ub = (uint128)(b < 0 ? -b : b);
    uint128 uc = (uint128)(c < 0 ? -c : c);
    uint128 quotient = 0, rest = 0;
    for (int bit = 63; bit >= 0; bit--) {
        quotient *= 2;
        rest *= 2;
        if (ub >> bit & 1) {
            quotient += ua / uc;
            rest += ua % uc;
        }
        quotient += rest / uc;
        rest %= uc;
    }
    if (negative && rest > 0) {
        quotient++;
    }
    if (quotient >> 66 != 0) {
        return 1;
    }
    int128 sum = negative ? base - (int128)quotient : base + (int128)quotient;
    if (sum > INT64_MAX || sum < INT64_MIN) {
        return 1;
    }
    *ns = (int64_t)sum;
    return 0;
}

static void maps_right(const struct nvtxt_mapping *m, int64_t time) {
    int64_t wanted = 5, found = 5;
    int128 elapsed = (int128)time - m->nvtxt_a;
    int wanted_r = m->mode == NVTXT_MAPPING_LIN
                       ? by_long_division(m->ns_a, elapsed, 1000000000, m->freq, &wanted)
                       : by_long_division(m->ns_a, elapsed, (int128)m->ns_b - m->ns_a,
                                          (int128)m->nvtxt_b - m->nvtxt_a, &wanted);
    int r = nvtxt_mapping_apply(m, time, &found);
    if (r != wanted_r || (r == 0 && found != wanted)) {
        cr_assert_fail("mode %d: %" PRId64 " by (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                       ", %" PRId64 "): %d %" PRId64 ", wanted %d %" PRId64,
                       (int)m->mode, time, m->ns_a, m->ns_b, m->nvtxt_a, m->nvtxt_b, m->freq, r,
                       found, wanted_r, wanted);
    }
}

static const int64_t extremes[] = {
    INT64_MIN,
    INT64_MIN + 1,
    INT64_MIN / 2,
    -1000000001,
    -1000000000,
    -2,
    -1,
    0,
    1,
    2,
    3,
    999999999,
    1000000000,
    7,
    INT64_MAX / 2,
    INT64_MAX - 1,
    INT64_MAX,
};
#define EXTREMES (sizeof(extremes) / sizeof(extremes[0]))

Test(timebase, interpolates_extreme_values_exactly) {
    struct nvtxt_mapping m = {.mode = NVTXT_MAPPING_LERP};
    for (size_t i = 0; i < EXTREMES * EXTREMES * EXTREMES * EXTREMES; i++) {
        m.ns_a = extremes[i % EXTREMES];
        m.ns_b = extremes[i / EXTREMES % EXTREMES];
        m.nvtxt_a = extremes[i / EXTREMES / EXTREMES % EXTREMES];
        m.nvtxt_b = extremes[i / EXTREMES / EXTREMES / EXTREMES];
        for (size_t t = 0; t < EXTREMES && !nvtxt_mapping_fault(&m); t++) {
            maps_right(&m, extremes[t]);
        }
    }
}

Test(timebase, scales_extreme_values_exactly) {
    struct nvtxt_mapping m = {.mode = NVTXT_MAPPING_LIN};
    for (size_t i = 0; i < EXTREMES * EXTREMES * EXTREMES; i++) {
        m.ns_a = extremes[i % EXTREMES];
        m.nvtxt_a = extremes[i / EXTREMES % EXTREMES];
        m.freq = extremes[i / EXTREMES / EXTREMES];
        for (size_t t = 0; t < EXTREMES && !nvtxt_mapping_fault(&m); t++) {
            maps_right(&m, extremes[t]);
        }
    }
}

static uint64_t seed = 88172645463325252u;

static int64_t random_value(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int64_t)(seed * 0x2545F4914F6CDD1Du) >> seed % 61; // of every size
}

Test(timebase, maps_random_values_exactly) {
    for (unsigned i = 0; i < 300000; i++) {
        struct nvtxt_mapping m = {
            .mode = i % 2 ? NVTXT_MAPPING_LERP : NVTXT_MAPPING_LIN,
            .ns_a = random_value(),
            .ns_b = random_value(),
            .nvtxt_a = random_value(),
            .nvtxt_b = random_value(),
            .freq = random_value(),
        };
        if (!nvtxt_mapping_fault(&m)) {
            maps_right(&m, random_value());
        }
    }
}

Test(timebase, rounds_towards_minus_infinity) {
    struct nvtxt_mapping lin = {.mode = NVTXT_MAPPING_LIN, .freq = 3, .ns_a = 100};
    int64_t ns;
    cr_assert_eq(nvtxt_mapping_apply(&lin, 1, &ns), 0);
    cr_assert_eq(ns, 100 + 333333333);
    cr_assert_eq(nvtxt_mapping_apply(&lin, -1, &ns), 0);
    cr_assert_eq(ns, 100 - 333333334);
    struct nvtxt_mapping lerp = {.mode = NVTXT_MAPPING_LERP, .ns_b = 1, .nvtxt_b = 2};
    cr_assert_eq(nvtxt_mapping_apply(&lerp, 1, &ns), 0);
    cr_assert_eq(ns, 0);
    cr_assert_eq(nvtxt_mapping_apply(&lerp, -1, &ns), 0);
    cr_assert_eq(ns, -1);
    cr_assert_eq(nvtxt_mapping_apply(&lerp, -2, &ns), 0);
    cr_assert_eq(ns, -1, "an exact result is not rounded");
}

Test(timebase, maps_the_ends_of_an_interpolation_to_themselves) {
    struct nvtxt_mapping m = {.mode = NVTXT_MAPPING_LERP,
                              .ns_a = INT64_MIN,
                              .ns_b = INT64_MAX,
                              .nvtxt_a = INT64_MAX,
                              .nvtxt_b = INT64_MIN};
    int64_t ns;
    cr_assert_null(nvtxt_mapping_fault(&m), "a clock may run backwards");
    cr_assert_eq(nvtxt_mapping_apply(&m, INT64_MAX, &ns), 0);
    cr_assert_eq(ns, INT64_MIN);
    cr_assert_eq(nvtxt_mapping_apply(&m, INT64_MIN, &ns), 0);
    cr_assert_eq(ns, INT64_MAX);
}

Test(timebase, refuses_impossible_mappings) {
    struct nvtxt_mapping m = {.mode = NVTXT_MAPPING_NONE};
    cr_assert_null(nvtxt_mapping_fault(&m));
    m = (struct nvtxt_mapping){.mode = NVTXT_MAPPING_LIN};
    cr_assert_not_null(nvtxt_mapping_fault(&m));
    m.freq = -1;
    cr_assert_not_null(nvtxt_mapping_fault(&m));
    m.freq = 1;
    cr_assert_null(nvtxt_mapping_fault(&m));
    m = (struct nvtxt_mapping){.mode = NVTXT_MAPPING_LERP, .ns_b = 1, .nvtxt_a = 4, .nvtxt_b = 4};
    cr_assert_not_null(nvtxt_mapping_fault(&m));
    m.nvtxt_b = 5;
    cr_assert_null(nvtxt_mapping_fault(&m));
    m.ns_a = 1;
    cr_assert_not_null(nvtxt_mapping_fault(&m));
    m.ns_a = 2;
    cr_assert_not_null(nvtxt_mapping_fault(&m));
}

Test(timebase, moves_a_clock_by_its_offset) {
    struct nvtxt_clock_offset clock = {.known = true, .offset_ns = 1000};
    int64_t ns;
    cr_assert_eq(nvtxt_clock_apply(&clock, -5, &ns), 0);
    cr_assert_eq(ns, 995);
    cr_assert_eq(nvtxt_clock_apply(&clock, INT64_MAX - 1000, &ns), 0);
    cr_assert_eq(ns, INT64_MAX);
    cr_assert_eq(nvtxt_clock_apply(&clock, INT64_MAX - 999, &ns), 1);
    clock.offset_ns = INT64_MIN;
    cr_assert_eq(nvtxt_clock_apply(&clock, 0, &ns), 0);
    cr_assert_eq(ns, INT64_MIN);
    cr_assert_eq(nvtxt_clock_apply(&clock, -1, &ns), 1);
}

Test(timebase, takes_any_date_that_a_file_has) {
    cr_expect_eq(nvtxt_time_ns(1, 5), 1000000005);
    cr_expect_eq(nvtxt_time_ns(-1, 5), -999999995);
    cr_expect_eq(nvtxt_time_ns(INT64_MAX / 1000000000, INT64_MAX % 1000000000), INT64_MAX);
    cr_expect_eq(nvtxt_time_ns(INT64_MAX / 1000000000, 999999999), INT64_MAX);
    cr_expect_eq(nvtxt_time_ns(13569465600, 0), INT64_MAX, "the year 2400");
    cr_expect_eq(nvtxt_time_ns(-11676096000, 0), INT64_MIN, "the year 1600");
    cr_expect_eq(nvtxt_time_ns(INT64_MIN, 0), INT64_MIN);
}

Test(timebase, scales_a_counter_by_its_frequency) {
    for (size_t i = 0; i < EXTREMES * EXTREMES * EXTREMES; i++) {
        int64_t frequency = extremes[i % EXTREMES], time = extremes[i / EXTREMES % EXTREMES];
        struct nvtxt_clock_offset clock = {true, extremes[i / EXTREMES / EXTREMES], frequency};
        int64_t wanted = 5, found = 5;
        if (frequency <= 0) {
            continue;
        }
        int wanted_r = by_long_division(clock.offset_ns, time, 1000000000, frequency, &wanted);
        cr_assert_eq(nvtxt_clock_apply(&clock, time, &found), wanted_r);
        cr_assert_eq(found, wanted);
    }
}

Test(timebase, finds_each_word_and_takes_others_for_unknown) {
    static const struct {
        const char *name;
        enum nvtxt_timebase base;
    } words[] = {
        {"Manual", NVTXT_TIMEBASE_MANUAL},
        {"Relative", NVTXT_TIMEBASE_RELATIVE},
        {"ClockMonotonicRaw", NVTXT_TIMEBASE_MONOTONIC_RAW},
        {"ClockMonotonic", NVTXT_TIMEBASE_MONOTONIC},
        {"ClockBoottime", NVTXT_TIMEBASE_BOOTTIME},
        {"ClockRealtime", NVTXT_TIMEBASE_REALTIME},
        {"CNTVCT", NVTXT_TIMEBASE_CNTVCT},
    };
    cr_assert_eq(sizeof(words) / sizeof(words[0]), NVTXT_TIMEBASE_UNKNOWN);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        cr_assert_eq(nvtxt_timebase_find(nvtxt_slice_of(words[i].name)), words[i].base);
        cr_assert_str_eq(nvtxt_timebase_name(words[i].base), words[i].name);
    }
    static const char *const others[] = {"", "Qpc", "manual", "Manua", "Manuals", "unknown"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        cr_assert_eq(nvtxt_timebase_find(nvtxt_slice_of(others[i])), NVTXT_TIMEBASE_UNKNOWN);
    }
    cr_assert_str_eq(nvtxt_timebase_name(NVTXT_TIMEBASE_UNKNOWN), "unknown");
}

Test(timebase, knows_which_are_clocks) {
#ifdef __aarch64__
    bool counter = true;
#else
    bool counter = false;
#endif
    cr_assert_not(nvtxt_timebase_is_clock(NVTXT_TIMEBASE_MANUAL));
    cr_assert_not(nvtxt_timebase_is_clock(NVTXT_TIMEBASE_RELATIVE));
    cr_assert(nvtxt_timebase_is_clock(NVTXT_TIMEBASE_MONOTONIC_RAW));
    cr_assert(nvtxt_timebase_is_clock(NVTXT_TIMEBASE_MONOTONIC));
    cr_assert(nvtxt_timebase_is_clock(NVTXT_TIMEBASE_BOOTTIME));
    cr_assert(nvtxt_timebase_is_clock(NVTXT_TIMEBASE_REALTIME));
    cr_assert_eq(nvtxt_timebase_is_clock(NVTXT_TIMEBASE_CNTVCT), counter);
    cr_assert_not(nvtxt_timebase_is_clock(NVTXT_TIMEBASE_UNKNOWN));
}
