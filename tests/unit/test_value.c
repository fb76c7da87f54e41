// SPDX-License-Identifier: Apache-2.0
//
// Values: digits of integers, decimal numbers, words.
#include "protocol/lang/value.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void writes(int64_t integer, const char *wanted) {
    char out[NVTXT_INTEGER_TEXT + 1];
    memset(out, '!', sizeof(out));
    size_t len = nvtxt_integer_text(integer, out);
    cr_assert_leq(len, NVTXT_INTEGER_TEXT);
    cr_assert_eq(len, strlen(wanted), "%.*s", (int)len, out);
    cr_assert_arr_eq(out, wanted, len);
    cr_assert_eq(out[len], '!');
}

Test(value, writes_integers_up_to_the_limits) {
    writes(0, "0");
    writes(-1, "-1");
    writes(16, "16");
    writes(-1000000000, "-1000000000");
    writes(INT64_MAX, "9223372036854775807");
    writes(INT64_MIN, "-9223372036854775808");
}

Test(value, writes_integers_as_printf_does) {
    uint64_t seed = 88172645463325252u;
    for (unsigned i = 0; i < 100000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        int64_t integer = (int64_t)seed >> i % 64;
        char wanted[32], out[NVTXT_INTEGER_TEXT];
        snprintf(wanted, sizeof(wanted), "%" PRId64, integer);
        size_t len = nvtxt_integer_text(integer, out);
        if (len != strlen(wanted) || memcmp(out, wanted, len) != 0) {
            cr_assert_fail("%s", wanted);
        }
    }
}

static double parsed(const char *text) {
    double value = -77;
    cr_assert_eq(nvtxt_decimal_parse(nvtxt_slice_of(text), &value), 0, "%s", text);
    return value;
}

Test(decimal, is_read_correctly_rounded) {
    cr_assert_eq(parsed("0"), 0);
    cr_assert_eq(parsed("007"), 7);
    cr_assert_eq(parsed("-1.5"), -1.5);
    cr_assert_eq(parsed("1e3"), 1000);
    cr_assert_eq(parsed("1E+3"), 1000);
    cr_assert_eq(parsed("25e-1"), 2.5);
    cr_assert_eq(parsed("0.1"), 0.1);
    cr_assert_eq(parsed("9007199254740993"), 9007199254740992.0);
    cr_assert_eq(parsed("2.2250738585072011e-308"), 0x0.fffffffffffffp-1022);
    cr_assert(signbit(parsed("-0")));
}

Test(decimal, becomes_infinite_or_zero_beyond_its_range) {
    cr_assert(isinf(parsed("1e400")) && parsed("1e400") > 0);
    cr_assert(isinf(parsed("-1e400")) && parsed("-1e400") < 0);
    cr_assert_eq(parsed("1e-400"), 0);
    cr_assert(isinf(parsed("1e99999999999999999999")));
}

Test(decimal, may_be_longer_than_any_usual_one) {
    for (size_t zeros = 100; zeros < 160; zeros++) {
        char text[256];
        memset(text, '0', zeros);
        memcpy(text + zeros, "42.5", 5);
        cr_assert_eq(parsed(text), 42.5);
    }
    size_t len = 60000;
    char *text = malloc(len + 1);
    cr_assert_not_null(text);
    memset(text, '9', len);
    memcpy(text, "0.", 2);
    text[len] = '\0';
    cr_assert_eq(parsed(text), 1);
    free(text);
}

Test(decimal, has_one_form_only) {
    static const char *const others[] = {
        "",     "-",     "+1",  ".",     ".5",    "5.",    "1.e5", "1e",       "1e+",
        "1e-",  "e5",    "1 ",  " 1",    "1,5",   "0x10",  "1f",   "nan",      "inf",
        "-inf", "1_000", "--1", "1e5.5", "1.2.3", "1e5e5", "-e1",  "infinity",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        double value = -77;
        cr_assert_eq(nvtxt_decimal_parse(nvtxt_slice_of(others[i]), &value), 1, "%s", others[i]);
        cr_assert_eq(value, -77, "left alone");
    }
    double value;
    cr_assert_eq(nvtxt_decimal_parse(NVTXT_SLICE("1\0"), &value), 1);
}

Test(decimal, reads_no_byte_after_its_text) {
    char *text = malloc(3);
    cr_assert_not_null(text);
    memcpy(text, "125", 3);
    double value;
    cr_assert_eq(nvtxt_decimal_parse((struct nvtxt_slice){text, 3}, &value), 0);
    cr_assert_eq(value, 125);
    cr_assert_eq(nvtxt_decimal_parse((struct nvtxt_slice){text, 2}, &value), 0);
    cr_assert_eq(value, 12);
    free(text);
}

Test(word, is_letters_digits_and_underscores_without_a_leading_digit) {
    static const char *const words[] = {"a", "_", "Z9", "__x_1", "TimeBase"};
    static const char *const others[] = {"",   "1a",       "a b",       "a-b",
                                         "a.", "\xC3\xA4", "a\xC3\xA4", "$a"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        cr_assert(nvtxt_is_word(nvtxt_slice_of(words[i])), "%s", words[i]);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        cr_assert_not(nvtxt_is_word(nvtxt_slice_of(others[i])), "%s", others[i]);
    }
    cr_assert_not(nvtxt_is_word(NVTXT_SLICE("a\0")));
}

Test(word, is_right_for_every_byte) {
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[2] = {(char)byte, (char)byte};
        bool letter = (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_';
        bool digit = byte >= '0' && byte <= '9';
        cr_assert_eq(nvtxt_is_word((struct nvtxt_slice){text, 1}), letter, "%02X", byte);
        text[0] = 'a';
        cr_assert_eq(nvtxt_is_word((struct nvtxt_slice){text, 2}), letter || digit, "%02X", byte);
    }
}

// ---- Typed numbers and handles ------------------------------------------------------------------

static int number(const char *text, struct nvtxt_number *read) {
    return nvtxt_number_parse(nvtxt_slice_of(text), read);
}

Test(number, has_the_range_of_its_type) {
    static const struct {
        const char *text;
        enum nvtxt_number_type type;
        int64_t value;
    } good[] = {
        {"u64:0", NVTXT_U64, 0},
        {"u64:18446744073709551615", NVTXT_U64, -1},
        {"i64:-9223372036854775808", NVTXT_I64, INT64_MIN},
        {"i64:9223372036854775807", NVTXT_I64, INT64_MAX},
        {"u32:4294967295", NVTXT_U32, UINT32_MAX},
        {"i32:-2147483648", NVTXT_I32, INT32_MIN},
        {"i32:2147483647", NVTXT_I32, INT32_MAX},
        {"u32:000000000000000000000000000007", NVTXT_U32, 7},
    };
    struct nvtxt_number read;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cr_assert_eq(number(good[i].text, &read), 0, "%s", good[i].text);
        cr_assert_eq(read.type, good[i].type, "%s", good[i].text);
        cr_assert_eq(read.integer, good[i].value, "%s", good[i].text);
    }
    static const char *const bad[] = {
        "u64:18446744073709551616",
        "u64:-1",
        "u64:99999999999999999999999",
        "i64:9223372036854775808",
        "i64:-9223372036854775809",
        "u32:4294967296",
        "u32:-0",
        "i32:2147483648",
        "i32:-2147483649",
        "i32:1.5",
        "i32:-",
        "i32:--1",
        "u32:",
        "u32: 1",
        "u32:1 ",
        "u32:0x1",
        "u32",
        "u16:1",
        "U32:1",
        "7",
        "",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_eq(number(bad[i], &read), 1, "%s", bad[i]);
    }
}

Test(number, may_be_a_float) {
    struct nvtxt_number read;
    cr_assert_eq(number("f64:-2.5e3", &read), 0);
    cr_assert(read.type == NVTXT_F64 && read.real == -2500);
    cr_assert_eq(number("f32:0.1", &read), 0);
    cr_assert(read.type == NVTXT_F32 && read.real == (double)0.1f);
    cr_assert_eq(number("f32:1.00000017881393432617187499", &read), 0);
    cr_assert_eq(read.real, (double)1.00000011920928955078125f, "rounded once");
    cr_assert_eq(number("f64:inf", &read), 0);
    cr_assert_eq(read.real, HUGE_VAL);
    cr_assert_eq(number("f32:-inf", &read), 0);
    cr_assert_eq(read.real, -HUGE_VAL);
    cr_assert_eq(number("f32:nan", &read), 0);
    cr_assert(isnan(read.real));
    static const char *const bad[] = {"f64:",    "f64:-nan", "f64:Inf", "f64:+inf",
                                      "f64:0x1", "f64:1e",   "f32:.5",  "f16:1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_eq(number(bad[i], &read), 1, "%s", bad[i]);
    }
}

Test(handle, is_hexadecimal) {
    uint64_t handle;
    cr_assert(nvtxt_handle_parse(NVTXT_SLICE("0xFfffffffffffFFFe"), &handle));
    cr_assert_eq(handle, UINT64_MAX - 1);
    cr_assert(nvtxt_handle_parse(NVTXT_SLICE("0x0"), &handle));
    cr_assert_eq(handle, 0);
    static const char *const bad[] = {
        "", "0", "0x", "0X1", "x1", "0xg", "0x1 ", "7f", "0x11111111111111111"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_not(nvtxt_handle_parse(nvtxt_slice_of(bad[i]), &handle), "%s", bad[i]);
    }
}
