// SPDX-License-Identifier: Apache-2.0
//
// Numbers, times and texts of an export, byte for byte.
#include "client/format/export_out.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "tests/unit/export_kit.h"

#define WROTE(call, wanted)                                                                        \
    do {                                                                                           \
        output_clear(&output);                                                                     \
        call;                                                                                      \
        cr_expect_str_eq(output_text(&output), wanted, "%s", output.text);                         \
    } while (0)

static struct nvtxt_slice bytes(const char *data, size_t len) {
    return (struct nvtxt_slice){data, len};
}

Test(export_out, writes_integers_of_every_length) {
    struct output output;
    char wanted[32];
    output_open(&output);
    for (uint64_t value = 1; value; value *= 2) {
        for (int step = -1; step <= 1; step++) {
            uint64_t number = value + (uint64_t)step;
            snprintf(wanted, sizeof(wanted), "%llu", (unsigned long long)number);
            WROTE(export_uint(&output.out, number), wanted);
            snprintf(wanted, sizeof(wanted), "%lld", (long long)number);
            WROTE(export_int(&output.out, (int64_t)number), wanted);
        }
    }
    WROTE(export_uint(&output.out, UINT64_MAX), "18446744073709551615");
    WROTE(export_int(&output.out, INT64_MIN), "-9223372036854775808");
    output_close(&output);
}

Test(export_out, writes_microseconds_with_three_decimals) {
    struct output output;
    output_open(&output);
    WROTE(export_microseconds(&output.out, 0), "0.000");
    WROTE(export_microseconds(&output.out, 7), "0.007");
    WROTE(export_microseconds(&output.out, 999), "0.999");
    WROTE(export_microseconds(&output.out, 1000), "1.000");
    WROTE(export_microseconds(&output.out, 1795242240000000042), "1795242240000000.042");
    WROTE(export_microseconds(&output.out, UINT64_MAX), "18446744073709551.615");
    output_close(&output);
}

Test(export_out, writes_utc_as_the_c_library_does) {
    static const int64_t seconds[] = {
        0,          -1,         951782399,   951782400,  951868800,  1795242240, -2208988800,
        4102444800, 9223372036, -9223372036, 1078012800, 1709164800, 1709251199, -62135596800 / 10};
    struct output output;
    char date[32];
    char wanted[48];
    output_open(&output);
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        time_t time = (time_t)seconds[i];
        struct tm tm;
        cr_assert_not_null(gmtime_r(&time, &tm));
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
        snprintf(wanted, sizeof(wanted), "%s.000000000Z", date);
        WROTE(export_utc(&output.out, seconds[i] * 1000000000), wanted);
    }
    WROTE(export_utc(&output.out, -1), "1969-12-31T23:59:59.999999999Z");
    WROTE(export_utc(&output.out, INT64_MAX), "2262-04-11T23:47:16.854775807Z");
    WROTE(export_utc(&output.out, INT64_MIN), "1677-09-21T00:12:43.145224192Z");
    output_close(&output);
}

Test(export_out, writes_colours) {
    struct output output;
    output_open(&output);
    WROTE(export_color(&output.out, 0xFF0080AB), "#FF0080AB");
    WROTE(export_color(&output.out, 1), "#00000001");
    output_close(&output);
}

Test(export_out, writes_doubles_that_read_back_the_same) {
    struct output output;
    output_open(&output);
    WROTE(export_double(&output.out, 0.1), "0.1");
    WROTE(export_double(&output.out, 5), "5.0");
    WROTE(export_double(&output.out, -0.0), "-0.0");
    WROTE(export_double(&output.out, 1e300), "1e+300");
    WROTE(export_double(&output.out, 0.1 + 0.2), "0.30000000000000004");
    uint64_t random = 88172645463325252;
    for (int i = 0; i < 20000; i++) {
        double value;
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        memcpy(&value, &random, sizeof(value));
        output_clear(&output);
        bool written = export_double(&output.out, value);
        cr_assert_eq(written, isfinite(value) != 0);
        cr_assert(!written || strtod(output_text(&output), NULL) == value, "%a", value);
    }
    output_close(&output);
}

Test(export_out, does_not_write_what_is_no_finite_number) {
    struct output output;
    output_open(&output);
    cr_expect_not(export_double(&output.out, (double)INFINITY));
    cr_expect_not(export_double(&output.out, -(double)INFINITY));
    cr_expect_not(export_double(&output.out, (double)NAN));
    cr_expect_str_eq(output_text(&output), "");
    output_close(&output);
}

Test(export_out, escapes_json) {
    struct output output;
    output_open(&output);
    WROTE(export_json(&output.out, NVTXT_SLICE("")), "\"\"");
    WROTE(export_json(&output.out, NVTXT_SLICE("a\"b\\c/d")), "\"a\\\"b\\\\c/d\"");
    WROTE(export_json(&output.out, NVTXT_SLICE("\b\f\n\r\t\x01\x1f\x7f")),
          "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"");
    WROTE(export_json(&output.out, bytes("a\0b", 3)), "\"a\\u0000b\"");
    WROTE(export_json(&output.out, NVTXT_SLICE("\xC3\xA4\xF0\x9F\x98\x80")),
          "\"\xC3\xA4\xF0\x9F\x98\x80\"");
    output_close(&output);
}

Test(export_out, replaces_what_is_no_utf8) {
    struct output output;
    output_open(&output);
    WROTE(export_json(&output.out, NVTXT_SLICE("a\xFF"
                                               "b\xE2\x82")),
          "\"a\xEF\xBF\xBD"
          "b\xEF\xBF\xBD\xEF\xBF\xBD\"");
    WROTE(export_csv(&output.out, NVTXT_SLICE("\xC0\xAF")), "\xEF\xBF\xBD\xEF\xBF\xBD");
    output_close(&output);
}

Test(export_out, quotes_csv_where_it_must) {
    struct output output;
    output_open(&output);
    WROTE(export_csv(&output.out, NVTXT_SLICE("")), "");
    WROTE(export_csv(&output.out, NVTXT_SLICE("plain text")), "plain text");
    WROTE(export_csv(&output.out, NVTXT_SLICE("a,b")), "\"a,b\"");
    WROTE(export_csv(&output.out, NVTXT_SLICE("say \"x\"")), "\"say \"\"x\"\"\"");
    WROTE(export_csv(&output.out, NVTXT_SLICE("two\nlines")), "\"two\nlines\"");
    WROTE(export_csv(&output.out, NVTXT_SLICE("cr\r")), "\"cr\r\"");
    WROTE(export_csv(&output.out, NVTXT_SLICE(" blank")), "\" blank\"");
    WROTE(export_csv(&output.out, NVTXT_SLICE("blank ")), "\"blank \"");
    output_close(&output);
}

Test(export_out, takes_pieces_longer_than_its_buffer) {
    struct output output;
    size_t len = 3 << 20;
    char *text = malloc(len);
    cr_assert_not_null(text);
    memset(text, '\n', len);
    output_open(&output);
    export_json(&output.out, bytes(text, len));
    cr_expect_eq(strlen(output_text(&output)), 2 * len + 2);
    for (int i = 0; i < 100000; i++) {
        export_bytes(&output.out, "0123456789", 10);
    }
    (void)output_text(&output);
    cr_expect_eq(output.len, 2 * len + 2 + 1000000);
    output_close(&output);
    free(text);
}

Test(export_out, remembers_the_first_failure) {
    struct output output;
    output_open(&output);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    cr_assert_geq(full, 0);
    int fd = output.out.fd;
    output.out.fd = full;
    export_json(&output.out, NVTXT_SLICE("text"));
    cr_expect_eq(export_out_flush(&output.out), -ENOSPC);
    export_uint(&output.out, 5);
    cr_expect_eq(export_out_flush(&output.out), -ENOSPC);
    cr_expect_eq(output.out.written, 0);
    output.out.fd = fd;
    close(full);
    output_close(&output);
}
