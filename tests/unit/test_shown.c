// SPDX-License-Identifier: Apache-2.0
//
// Texts and times as a terminal shows them.
#include "protocol/text/shown.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <time.h>

#define DAY_2026 INT64_C(1795428000123456789) // 2026-11-23 10:00:00 UTC

static char shown[256];

static const char *fit(const char *text, size_t columns) {
    size_t len = nvtxt_shown_fit(shown, sizeof(shown), nvtxt_slice_of(text), columns);
    cr_assert_eq(len, strlen(shown));
    cr_assert_leq(nvtxt_shown_columns(nvtxt_slice_of(shown), 1000), columns);
    return shown;
}

Test(shown, a_text_that_fits_is_whole) {
    cr_assert_str_eq(fit("abc", 3), "abc");
    cr_assert_str_eq(fit("", 1), "");
    cr_assert_str_eq(fit("\xE6\x97\xA5\xE6\x9C\xAC", 4), "\xE6\x97\xA5\xE6\x9C\xAC");
}

Test(shown, a_long_one_loses_its_middle) {
    cr_assert_str_eq(fit("abcdefgh", 5), "ab\xE2\x80\xA6gh");
    cr_assert_str_eq(fit("abcdefgh", 4), "ab\xE2\x80\xA6h");
    cr_assert_str_eq(fit("abcdefgh", 2), "a\xE2\x80\xA6");
    cr_assert_str_eq(fit("abcdefgh", 1), "\xE2\x80\xA6");
    // A wide character is not cut, and a mark stays with its letter.
    cr_assert_str_eq(fit("\xE6\x97\xA5\xE6\x97\xA5\xE6\x97\xA5", 4), "\xE6\x97\xA5\xE2\x80\xA6");
    cr_assert_str_eq(fit("abcdefe\xCC\x81", 3), "a\xE2\x80\xA6"
                                                "e\xCC\x81");
}

Test(shown, a_wide_character_at_the_cut_is_left_out) {
    cr_assert_str_eq(fit("ab\xE6\x97\xA5\xE6\x97\xA5\xE6\x97\xA5"
                         "cd",
                         6),
                     "ab\xE2\x80\xA6"
                     "cd");
}

Test(shown, a_line_end_with_its_blanks_is_one_blank) {
    cr_assert_str_eq(fit("a\n\t\tb  c \n d", 40), "a b  c d");
    cr_assert_str_eq(fit("    deep", 40), "    deep");
    cr_assert_eq(nvtxt_shown_columns(NVTXT_SLICE("a\n\t\tb"), 40), 3);
    cr_assert_eq(nvtxt_shown_columns(NVTXT_SLICE("abcdef"), 4), 4);
}

Test(shown, what_is_no_utf8_does_not_stop_it) {
    cr_assert_str_eq(fit("ab\xFF\xFE\x80zz", 5), "ab\xE2\x80\xA6zz");
    cr_assert_str_eq(fit("\xFF", 3), "\xEF\xBF\xBD");
    cr_assert_eq(nvtxt_shown_fit(shown, 4, NVTXT_SLICE("abcdefgh"), 8), 3);
}

Test(shown, times_of_day_are_local_or_utc) {
    char out[NVTXT_SHOWN_TIME];
    setenv("TZ", "CET-1", 1);
    tzset();
    cr_assert_str_eq(nvtxt_shown_clock(out, DAY_2026, false, 3), "11:00:00.123");
    cr_assert_str_eq(nvtxt_shown_clock(out, DAY_2026, true, 9), "10:00:00.123456789");
    cr_assert_str_eq(nvtxt_shown_clock(out, DAY_2026, true, 0), "10:00:00");
    cr_assert_str_eq(nvtxt_shown_day(out, DAY_2026, false), "2026-11-23");
    cr_assert_str_eq(nvtxt_shown_day(out, DAY_2026, true), "2026-11-23 UTC");
    cr_assert_str_eq(nvtxt_shown_moment(out, DAY_2026, false), "2026-11-23 11:00:00");
    cr_assert_str_eq(nvtxt_shown_clock(out, -1, true, 3), "23:59:59.999");
    cr_assert_str_eq(nvtxt_shown_moment(out, -1, true), "1969-12-31 23:59:59");
    cr_assert_str_eq(nvtxt_shown_day(out, INT64_MIN, true), "1677-09-21 UTC");
}

Test(shown, a_length_has_three_digits_and_a_unit) {
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {{0, "0ns"},           {999, "999ns"},          {1200000, "1.20ms"},
                 {12340000, "12.3ms"}, {123400000, "123ms"},    {90000000000, "1.50min"},
                 {9994999, "9.99ms"},  {9996000, "10.0ms"},     {-1500, "-1.50us"},
                 {-45000, "-45.0us"},  {7200000000000, "2.00h"}};
    char out[NVTXT_SHOWN_TIME];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_assert_str_eq(nvtxt_shown_length(out, cases[i].ns), cases[i].text);
    }
}

static const char *digits(double value) {
    static char out[NVTXT_SHOWN_TIME];
    nvtxt_shown_digits(out, value);
    return out;
}

Test(shown, a_column_has_one_unit_and_three_digits) {
    cr_assert_str_eq(nvtxt_shown_unit(0).name, "ns");
    cr_assert_str_eq(nvtxt_shown_unit(999).name, "ns");
    cr_assert_str_eq(nvtxt_shown_unit(999.6).name, "us");
    cr_assert_str_eq(nvtxt_shown_unit(999e9).name, "s");
    cr_assert_str_eq(nvtxt_shown_unit(1000e9).name, "min");
    cr_assert_str_eq(nvtxt_shown_unit(1e30).name, "d");
    cr_assert_str_eq(digits(123.4), "123");
    cr_assert_str_eq(digits(12.34), "12.3");
    cr_assert_str_eq(digits(1.234), "1.23");
    cr_assert_str_eq(digits(9.996), "10.0");
    cr_assert_str_eq(digits(0.1234), "0.123");
    cr_assert_str_eq(digits(0.0001), "<0.001");
    cr_assert_str_eq(digits(0), "0");
    cr_assert_str_eq(digits(-12.34), "-12.3");
}
