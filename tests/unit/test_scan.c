// SPDX-License-Identifier: Apache-2.0
//
// The cursor: it stops at the end of the text, whatever comes after it in memory, and numbers are
// as large as they are.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "protocol/base/scan.h"

Test(scan, nothing_is_taken_at_the_end) {
    struct nvtxt_scan scan = nvtxt_scan((struct nvtxt_slice){"ab9", 2});
    cr_assert(nvtxt_scan_take(&scan, 'a'));
    cr_assert_not(nvtxt_scan_take(&scan, 'a'));
    cr_assert_not(nvtxt_scan_take_text(&scan, "b9"));
    cr_assert(nvtxt_scan_take_text(&scan, "b"));
    cr_assert_eq(nvtxt_scan_left(&scan), 0);
    cr_assert_eq(nvtxt_scan_place(&scan), 2);
    cr_assert_eq(nvtxt_scan_byte(&scan, 0), '\0');
    cr_assert_not(nvtxt_scan_take(&scan, '9'));
    cr_assert_not(nvtxt_scan_is(&scan, NVTXT_CHAR_DIGIT));
    cr_assert_eq(nvtxt_scan_take_run(&scan, NVTXT_CHAR_DIGIT).len, 0);
    cr_assert_null(nvtxt_scan_find(&scan, '9'));
}

Test(scan, an_empty_text_may_have_no_bytes) {
    struct nvtxt_scan scan = nvtxt_scan((struct nvtxt_slice){NULL, 0});
    cr_assert_eq(nvtxt_scan_byte(&scan, 0), '\0');
    cr_assert(nvtxt_scan_take_text(&scan, ""));
    cr_assert_null(nvtxt_scan_find(&scan, 'x'));
    nvtxt_scan_skip(&scan, NVTXT_CHAR_SPACE);
    cr_assert_eq(nvtxt_scan_place(&scan), 0);
}

Test(scan, runs_are_of_their_classes) {
    struct nvtxt_scan scan = nvtxt_scan(nvtxt_slice_of(" \t\r\na.b_1-z"));
    nvtxt_scan_skip(&scan, NVTXT_CHAR_BLANK);
    cr_assert_eq(nvtxt_scan_place(&scan), 2);
    nvtxt_scan_skip(&scan, NVTXT_CHAR_SPACE);
    cr_assert_eq(nvtxt_scan_place(&scan), 4);
    cr_assert_eq(nvtxt_scan_run(&scan, scan.at, NVTXT_CHAR_WORD) - scan.at, 1);
    cr_assert_eq(nvtxt_scan_byte(&scan, 2), 'b');
    struct nvtxt_slice word = nvtxt_scan_take_run(&scan, NVTXT_CHAR_DOTTED);
    cr_assert(nvtxt_slice_equal(word, NVTXT_SLICE("a.b_1")));
    cr_assert_eq(*nvtxt_scan_find(&scan, 'z'), 'z');
    cr_assert_null(nvtxt_scan_find(&scan, 'a'), "it is before the cursor");
}

Test(scan, a_number_has_64_bits) {
    static const struct {
        const char *digits;
        bool fits;
        uint64_t value;
    } cases[] = {
        {"", true, 0},
        {"0", true, 0},
        {"00000000000000000000000000007", true, 7},
        {"9999999999999999999", true, UINT64_C(9999999999999999999)},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"99999999999999999999", false, 0},
        {"184467440737095516150", false, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t value = 0;
        char text[64];
        int len = snprintf(text, sizeof(text), "%sx", cases[i].digits);
        struct nvtxt_scan scan = nvtxt_scan((struct nvtxt_slice){text, (size_t)len});
        cr_expect_eq(nvtxt_scan_take_uint(&scan, &value), cases[i].fits, "%s", text);
        cr_expect_eq(value, cases[i].value, "%s", text);
        cr_expect_eq(*scan.at, 'x');
    }
}

Test(scan, digits_have_a_base) {
    uint64_t value = 0;
    cr_assert(nvtxt_digits_value(NVTXT_SLICE("fFfFfFfFfFfFfFfF"), 16, &value));
    cr_assert_eq(value, UINT64_MAX);
    cr_assert_not(nvtxt_digits_value(NVTXT_SLICE("10000000000000000"), 16, &value));
    cr_assert(nvtxt_digits_value(NVTXT_SLICE("1777777777777777777777"), 8, &value));
    cr_assert_eq(value, UINT64_MAX);
    cr_assert_not(nvtxt_digits_value(NVTXT_SLICE("2000000000000000000000"), 8, &value));
}
