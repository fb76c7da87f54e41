// SPDX-License-Identifier: Apache-2.0
//
// Texts of all widths become UTF-8; what is no character becomes U+FFFD; nothing behind the end is
// read.
#include "inject/schema/json_out.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The text from memory of exactly its size, at an odd address when there is one.
static const char *of(const void *units, size_t count, unsigned width) {
    static char utf8[256];
    size_t bytes = count * width;
    char *exact = malloc(bytes + 1);
    memcpy(exact + 1, units, bytes);
    code_units_copy((struct code_units){exact + 1, count, width}, utf8, sizeof(utf8));
    free(exact);
    return utf8;
}

Test(code_units, keeps_utf8_and_repairs_what_is_none) {
    cr_expect_str_eq(of("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 10, 1), "aé€😀");
    cr_expect_str_eq(of("\xC3", 1, 1), "\xEF\xBF\xBD");
    cr_expect_str_eq(of("\xE2\x82z", 3, 1), "\xEF\xBF\xBD\xEF\xBF\xBDz");
    cr_expect_str_eq(of("\xC0\x80", 2, 1), "\xEF\xBF\xBD\xEF\xBF\xBD");
    cr_expect_str_eq(of("\xED\xA0\x80", 3, 1), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    cr_expect_str_eq(of("\xF4\x90\x80\x80", 4, 1),
                     "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

Test(code_units, takes_pairs_of_utf16_and_no_halves) {
    cr_expect_str_eq(of((uint16_t[]){'a', 0xE9, 0x20AC, 0xD83D, 0xDE00}, 5, 2), "aé€😀");
    cr_expect_str_eq(of((uint16_t[]){0xD83D}, 1, 2), "\xEF\xBF\xBD");
    cr_expect_str_eq(of((uint16_t[]){0xDE00, 0xD83D, 'x'}, 3, 2), "\xEF\xBF\xBD\xEF\xBF\xBDx");
    cr_expect_str_eq(of((uint16_t[]){0xDC00, 0xDC00}, 2, 2), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

Test(code_units, takes_no_surrogates_and_nothing_beyond_unicode_of_utf32) {
    cr_expect_str_eq(of((uint32_t[]){'a', 0xE9, 0x20AC, 0x1F600}, 4, 4), "aé€😀");
    cr_expect_str_eq(of((uint32_t[]){0xD800, 0x110000, 0xFFFFFFFF}, 3, 4),
                     "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

Test(code_units, ends_at_a_zero_or_at_the_count) {
    cr_expect_str_eq(of("ab\0cd", 5, 1), "ab");
    cr_expect_str_eq(of("abcd", 3, 1), "abc");
    cr_expect_str_eq(of("", 0, 1), "");
    char *text = strdup("\xF0");
    char utf8[8];
    code_units_copy((struct code_units){text, SIZE_MAX, 1}, utf8, sizeof(utf8));
    cr_expect_str_eq(utf8, "\xEF\xBF\xBD");
    cr_expect_eq(code_units_len((struct code_units){text, SIZE_MAX, 1}), 1);
    free(text);
}

Test(code_units, cuts_at_a_character) {
    char utf8[6];
    code_units_copy((struct code_units){"abc€", SIZE_MAX, 1}, utf8, sizeof(utf8));
    cr_expect_str_eq(utf8, "abc");
    code_units_copy((struct code_units){"abcde", SIZE_MAX, 1}, utf8, sizeof(utf8));
    cr_expect_str_eq(utf8, "abcde");
}
