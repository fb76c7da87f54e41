// SPDX-License-Identifier: Apache-2.0
//
// Texts cut to columns, times and sizes for people.
#include "client/ctl/ctl_format.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <time.h>

static const char *fit(const char *text, size_t columns) {
    static char out[64];
    format_fit(out, sizeof(out), text, columns);
    return out;
}

Test(ctl_format, cuts_by_columns_and_not_in_a_character) {
    cr_assert_str_eq(fit("abcdef", 4), "abcd");
    cr_assert_str_eq(fit("abcdef", 0), "abcdef");
    cr_assert_str_eq(fit("\xc3\xa4\xc3\xb6\xc3\xbc", 2), "\xc3\xa4\xc3\xb6");
    cr_assert_str_eq(fit("\xe6\x97\xa5\xe6\x9c\xac", 3), "\xe6\x97\xa5"); // two columns each
    cr_assert_str_eq(fit("e\xcc\x81x", 1), "e\xcc\x81");                  // with its accent
    cr_assert_str_eq(fit("\xff\xfe", 1), "\xef\xbf\xbd");
    cr_assert_eq(format_columns("\xe6\x97\xa5x"), 3);
}

Test(ctl_format, lets_nothing_through_that_a_terminal_obeys) {
    cr_assert_str_eq(fit("a\033[2J\tb\r\nc", 0), "a [2J b  c");
    cr_assert_str_eq(fit("a\xc2\x9b"
                         "2Jb",
                         0),
                     "a 2Jb");
    cr_assert_str_eq(fit("a\xe2\x80\xae"
                         "b\xe2\x81\xa6",
                         0),
                     "a\xef\xbf\xbd"
                     "b\xef\xbf\xbd"); // right to left
}

Test(ctl_format, writes_durations_with_three_digits) {
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {{0, "0ns"},
                 {999, "999ns"},
                 {1000, "1.00us"},
                 {12345, "12.3us"},
                 {123456, "123us"},
                 {1500000000, "1.50s"},
                 {90000000000, "1.50min"},
                 {7200000000000, "2.00h"},
                 {INT64_C(864000000000000), "10.0d"},
                 {-2000, "-2.00us"}};
    char out[FORMAT_SIZE];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_assert_str_eq(format_duration(out, cases[i].ns), cases[i].text);
    }
}

Test(ctl_format, writes_times_also_those_before_1970) {
    char out[FORMAT_SIZE];
    setenv("TZ", "UTC", 1);
    tzset();
    cr_assert_str_eq(format_moment(out, INT64_C(1795242240000000000)), "2026-11-21 06:24:00");
    cr_assert_str_eq(format_clock(out, INT64_C(1795242240123999999)), "06:24:00.123");
    cr_assert_str_eq(format_day(out, INT64_C(1795242240000000000)), "2026-11-21");
    cr_assert_str_eq(format_moment(out, -1), "1969-12-31 23:59:59");
    cr_assert_str_eq(format_clock(out, -1), "23:59:59.999");
    cr_assert_str_eq(format_day(out, INT64_MIN), "1677-09-21");
}

Test(ctl_format, writes_sizes_with_their_unit) {
    char out[FORMAT_SIZE];
    cr_assert_str_eq(format_bytes(out, 0), "0 bytes");
    cr_assert_str_eq(format_bytes(out, 1023), "1023 bytes");
    cr_assert_str_eq(format_bytes(out, 1536), "1.5 KiB");
    cr_assert_str_eq(format_bytes(out, INT64_C(3) << 40), "3.0 TiB");
}
