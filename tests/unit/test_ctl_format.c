// SPDX-License-Identifier: Apache-2.0
//
// Texts cut to columns, and sizes for people.
#include "client/ctl/ctl_format.h"

#include <criterion/criterion.h>

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

Test(ctl_format, writes_sizes_with_their_unit) {
    char out[FORMAT_SIZE];
    cr_assert_str_eq(format_bytes(out, 0), "0 bytes");
    cr_assert_str_eq(format_bytes(out, 1023), "1023 bytes");
    cr_assert_str_eq(format_bytes(out, 1536), "1.5 KiB");
    cr_assert_str_eq(format_bytes(out, INT64_C(3) << 40), "3.0 TiB");
}
