// SPDX-License-Identifier: Apache-2.0
//
// Numbers, times and texts of an export, byte for byte.
#include "protocol/text/out.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "protocol/lang/lexer.h"
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

Test(out, writes_integers_of_every_length) {
    struct output output;
    char wanted[32];
    output_open(&output);
    for (uint64_t value = 1; value; value *= 2) {
        for (int step = -1; step <= 1; step++) {
            uint64_t number = value + (uint64_t)step;
            snprintf(wanted, sizeof(wanted), "%llu", (unsigned long long)number);
            WROTE(nvtxt_out_uint(&output.out, number), wanted);
            snprintf(wanted, sizeof(wanted), "%lld", (long long)number);
            WROTE(nvtxt_out_int(&output.out, (int64_t)number), wanted);
        }
    }
    WROTE(nvtxt_out_uint(&output.out, UINT64_MAX), "18446744073709551615");
    WROTE(nvtxt_out_int(&output.out, INT64_MIN), "-9223372036854775808");
    output_close(&output);
}

static void compare(struct nvtxt_out *out, const char *wanted, size_t len) {
    cr_assert_eq(out->len, len, "%.*s for %.*s", (int)out->len, out->data, (int)len, wanted);
    cr_assert_eq(memcmp(out->data, wanted, len), 0);
    out->len = 0;
}

static void check_number(struct nvtxt_out *out, uint64_t number) {
    unsigned second = (unsigned)(number % 59), ns = (unsigned)(number % 1000000000);
    char wanted[64];
    int len = sprintf(wanted, "%llu", (unsigned long long)number);
    nvtxt_out_uint(out, number);
    compare(out, wanted, (size_t)len);
    len =
        sprintf(wanted, "%llu.%03u", (unsigned long long)number / 1000, (unsigned)(number % 1000));
    nvtxt_out_microseconds(out, number);
    compare(out, wanted, (size_t)len);
    len = sprintf(wanted, "#%08X", (unsigned)number);
    nvtxt_out_color(out, (uint32_t)number);
    compare(out, wanted, (size_t)len);
    len = sprintf(wanted, "2026-11-21T06:24:%02u.%09uZ", second, ns);
    nvtxt_out_utc(out, (INT64_C(1795242240) + second) * 1000000000 + ns);
    compare(out, wanted, (size_t)len);
}

Test(out, writes_numbers_of_all_lengths) {
    struct nvtxt_out out;
    uint64_t power = 1, random = 88172645463325252;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    for (int digits = 1; digits <= 20; digits++, power *= 10) {
        check_number(&out, power - 1);
        check_number(&out, power);
        check_number(&out, power + 1);
        for (int i = 0; i < 100; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            check_number(&out, random % power);
            check_number(&out, random);
        }
    }
    for (uint64_t number = 0; number < 10000; number++) {
        check_number(&out, number * 10001);
    }
    nvtxt_out_deinit(&out);
}

Test(out, writes_microseconds_with_three_decimals) {
    struct output output;
    output_open(&output);
    WROTE(nvtxt_out_microseconds(&output.out, 0), "0.000");
    WROTE(nvtxt_out_microseconds(&output.out, 7), "0.007");
    WROTE(nvtxt_out_microseconds(&output.out, 999), "0.999");
    WROTE(nvtxt_out_microseconds(&output.out, 1000), "1.000");
    WROTE(nvtxt_out_microseconds(&output.out, 1795242240000000042), "1795242240000000.042");
    WROTE(nvtxt_out_microseconds(&output.out, UINT64_MAX), "18446744073709551.615");
    output_close(&output);
}

Test(out, writes_utc_as_the_c_library_does) {
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
        WROTE(nvtxt_out_utc(&output.out, seconds[i] * 1000000000), wanted);
    }
    WROTE(nvtxt_out_utc(&output.out, -1), "1969-12-31T23:59:59.999999999Z");
    WROTE(nvtxt_out_utc(&output.out, INT64_MAX), "2262-04-11T23:47:16.854775807Z");
    WROTE(nvtxt_out_utc(&output.out, INT64_MIN), "1677-09-21T00:12:43.145224192Z");
    output_close(&output);
}

Test(out, writes_colours) {
    struct output output;
    output_open(&output);
    WROTE(nvtxt_out_color(&output.out, 0xFF0080AB), "#FF0080AB");
    WROTE(nvtxt_out_color(&output.out, 1), "#00000001");
    output_close(&output);
}

Test(out, writes_doubles_that_read_back_the_same) {
    struct output output;
    output_open(&output);
    WROTE(nvtxt_out_double(&output.out, 0.1), "0.1");
    WROTE(nvtxt_out_double(&output.out, 5), "5.0");
    WROTE(nvtxt_out_double(&output.out, -0.0), "-0.0");
    WROTE(nvtxt_out_double(&output.out, 1e300), "1e+300");
    WROTE(nvtxt_out_double(&output.out, 0.1 + 0.2), "0.30000000000000004");
    uint64_t random = 88172645463325252;
    for (int i = 0; i < 20000; i++) {
        double value;
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        memcpy(&value, &random, sizeof(value));
        output_clear(&output);
        bool written = nvtxt_out_double(&output.out, value);
        cr_assert_eq(written, isfinite(value) != 0);
        cr_assert(!written || strtod(output_text(&output), NULL) == value, "%a", value);
    }
    output_close(&output);
}

Test(out, does_not_write_what_is_no_finite_number) {
    struct output output;
    output_open(&output);
    cr_expect_not(nvtxt_out_double(&output.out, (double)INFINITY));
    cr_expect_not(nvtxt_out_double(&output.out, -(double)INFINITY));
    cr_expect_not(nvtxt_out_double(&output.out, (double)NAN));
    cr_expect_str_eq(output_text(&output), "");
    output_close(&output);
}

Test(out, escapes_json) {
    struct output output;
    output_open(&output);
    WROTE(nvtxt_out_json(&output.out, NVTXT_SLICE("")), "\"\"");
    WROTE(nvtxt_out_json(&output.out, NVTXT_SLICE("a\"b\\c/d")), "\"a\\\"b\\\\c/d\"");
    WROTE(nvtxt_out_json(&output.out, NVTXT_SLICE("\b\f\n\r\t\x01\x1f\x7f")),
          "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"");
    WROTE(nvtxt_out_json(&output.out, bytes("a\0b", 3)), "\"a\\u0000b\"");
    WROTE(nvtxt_out_json(&output.out, NVTXT_SLICE("\xC3\xA4\xF0\x9F\x98\x80")),
          "\"\xC3\xA4\xF0\x9F\x98\x80\"");
    output_close(&output);
}

// ---- Each byte at each place ----
// What is expected is made byte by byte, the output may go by words.

#define LONGEST 40

static size_t expect_json(char *to, unsigned char byte) {
    static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *s = shorts; *s; s += 2) {
        if (byte == (unsigned char)*s) {
            return (size_t)sprintf(to, "\\%c", s[1]);
        }
    }
    if (byte < 32 || byte == 127) {
        return (size_t)sprintf(to, "\\u%04x", byte);
    }
    return (size_t)sprintf(to, byte < 128 ? "%c" : "\xEF\xBF\xBD", byte);
}

static size_t expect_field(char *to, unsigned char byte) {
    if (byte == 0) {
        *to = '\0';
        return 1;
    }
    return (size_t)sprintf(to, byte == '"' ? "\"\"" : byte < 128 ? "%c" : "\xEF\xBF\xBD", byte);
}

static bool expect_quotes(const char *text, size_t len, char separator) {
    bool quotes = len > 0 && (text[0] == ' ' || text[len - 1] == ' ');
    for (size_t i = 0; i < len; i++) {
        quotes |= strchr("\"\r\n", text[i]) && text[i];
        quotes |= text[i] == separator;
    }
    return quotes;
}

static void check_text(struct nvtxt_out *out, const char *text, size_t len) {
    char wanted[6 * LONGEST + 8], *at = wanted;
    *at++ = '"';
    for (size_t i = 0; i < len; i++) {
        at += expect_json(at, (unsigned char)text[i]);
    }
    *at++ = '"';
    nvtxt_out_json(out, bytes(text, len));
    compare(out, wanted, (size_t)(at - wanted));
    for (const char *separator = ",;\t"; *separator; separator++) {
        bool quotes = expect_quotes(text, len, *separator);
        at = wanted;
        *at = '"';
        at += quotes;
        for (size_t i = 0; i < len; i++) {
            at += expect_field(at, (unsigned char)text[i]);
        }
        *at = '"';
        at += quotes;
        nvtxt_out_field(out, bytes(text, len), *separator);
        compare(out, wanted, (size_t)(at - wanted));
    }
}

Test(out, writes_each_byte_at_each_place) {
    struct nvtxt_out out;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    for (size_t len = 0; len <= LONGEST; len++) {
        char *text = malloc(len + 1); // so that valgrind sees a read behind the end
        cr_assert_not_null(text);
        memset(text, '0', len);
        check_text(&out, text, len);
        for (size_t place = 0; place < len; place++) {
            for (int byte = 0; byte < 256; byte++) {
                text[place] = (char)byte;
                check_text(&out, text, len);
            }
            text[place] = '0';
        }
        free(text);
    }
    nvtxt_out_deinit(&out);
}

Test(out, writes_many_special_bytes) {
    static const char alphabet[] = "\"\\\n\r\t\x7f\xFF,; abcdefghijklmnop";
    struct nvtxt_out out;
    char text[LONGEST];
    unsigned seed = 3;
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    for (int round = 0; round < 50000; round++) {
        size_t len = (size_t)rand_r(&seed) % (LONGEST + 1);
        for (size_t i = 0; i < len; i++) {
            text[i] = alphabet[(size_t)rand_r(&seed) % (sizeof(alphabet) - 1)];
        }
        check_text(&out, text, len);
    }
    nvtxt_out_deinit(&out);
}

Test(out, keeps_characters_whole_that_lie_in_two_words) {
    static const char character[] = "\xF0\x9F\x98\x80";
    struct nvtxt_out out;
    char text[LONGEST + 1], wanted[LONGEST + 3];
    cr_assert_eq(nvtxt_out_init(&out, -1), 0);
    for (size_t place = 0; place + 4 <= LONGEST; place++) {
        memset(text, 'a', LONGEST);
        memcpy(text + place, character, 4);
        nvtxt_out_field(&out, bytes(text, LONGEST), ',');
        compare(&out, text, LONGEST);
        nvtxt_out_json(&out, bytes(text, LONGEST));
        wanted[0] = wanted[LONGEST + 1] = '"';
        memcpy(wanted + 1, text, LONGEST);
        compare(&out, wanted, LONGEST + 2);
    }
    nvtxt_out_deinit(&out);
}

Test(out, replaces_what_is_no_utf8) {
    struct output output;
    output_open(&output);
    WROTE(nvtxt_out_json(&output.out, NVTXT_SLICE("a\xFF"
                                                  "b\xE2\x82")),
          "\"a\xEF\xBF\xBD"
          "b\xEF\xBF\xBD\xEF\xBF\xBD\"");
    WROTE(nvtxt_out_csv(&output.out, NVTXT_SLICE("\xC0\xAF")), "\xEF\xBF\xBD\xEF\xBF\xBD");
    output_close(&output);
}

Test(out, quotes_csv_where_it_must) {
    struct output output;
    output_open(&output);
    WROTE(nvtxt_out_csv(&output.out, NVTXT_SLICE("")), "");
    WROTE(nvtxt_out_csv(&output.out, NVTXT_SLICE("plain text")), "plain text");
    WROTE(nvtxt_out_csv(&output.out, NVTXT_SLICE("a,b")), "\"a,b\"");
    WROTE(nvtxt_out_csv(&output.out, NVTXT_SLICE("say \"x\"")), "\"say \"\"x\"\"\"");
    WROTE(nvtxt_out_csv(&output.out, NVTXT_SLICE("two\nlines")), "\"two\nlines\"");
    WROTE(nvtxt_out_csv(&output.out, NVTXT_SLICE("cr\r")), "\"cr\r\"");
    WROTE(nvtxt_out_csv(&output.out, NVTXT_SLICE(" blank")), "\" blank\"");
    WROTE(nvtxt_out_csv(&output.out, NVTXT_SLICE("blank ")), "\"blank \"");
    output_close(&output);
}

// The lexer reads the same text again, and the string fits a line.
static void reads_back(struct output *output, struct nvtxt_slice text, bool is_escaped) {
    static struct nvtxt_symtab symtab;
    static struct nvtxt_tokens tokens;
    struct nvtxt_buf scratch = {0};
    struct nvtxt_diag diag;
    output_clear(output);
    bool held = nvtxt_out_string(&output->out, text, is_escaped);
    cr_assert_eq(nvtxt_out_string_holds(text, is_escaped), held);
    struct nvtxt_slice line = nvtxt_slice_of(output_text(output));
    cr_assert_leq(line.len, NVTXT_OUT_LINE_BYTES - 2);
    cr_assert_eq(nvtxt_lex(line, is_escaped, &symtab, &scratch, &tokens, &diag), 0, "%s",
                 output->text);
    cr_assert_eq(tokens.count, 2);
    cr_assert_eq(nvtxt_slice_equal(tokens.items[0].value.string, text), held, "%s", output->text);
    nvtxt_buf_deinit(&scratch);
}

Test(out, writes_strings_that_read_back) {
    static const char alphabet[] = {'"', '\'', '\\', 'n', '\n', 'x', '\0'};
    struct output output;
    char text[12];
    unsigned seed = 1;
    output_open(&output);
    for (int round = 0; round < 20000; round++) {
        size_t len = (size_t)rand_r(&seed) % sizeof(text);
        size_t letters = sizeof(alphabet) - (size_t)(round % 8 > 0);
        for (size_t i = 0; i < len; i++) {
            text[i] = alphabet[(size_t)rand_r(&seed) % letters];
        }
        bool is_escaped = round % 2 > 0;
        reads_back(&output, bytes(text, len), is_escaped);
        cr_assert(nvtxt_out_string_holds(bytes(text, len), true) == !memchr(text, '\0', len));
    }
    WROTE(nvtxt_out_string(&output.out, NVTXT_SLICE("C:\\new"), true), "'C:\\new'");
    WROTE(nvtxt_out_string(&output.out, NVTXT_SLICE("C:\\new"), false), "\"C:\\new\"");
    WROTE(nvtxt_out_string(&output.out, NVTXT_SLICE("it's\n\\x\\n"), true), "\"it's\\n\\x\\\\n\"");
    WROTE(nvtxt_out_string(&output.out, bytes("\xFF\0\n", 3), true),
          "\"\xEF\xBF\xBD\xE2\x90\x80\\n\"");
    output_close(&output);
}

Test(out, cuts_strings_that_no_line_holds) {
    struct output output;
    size_t most = NVTXT_OUT_LINE_BYTES - 4;
    char *text = malloc(most + 1);
    cr_assert_not_null(text);
    output_open(&output);
    memset(text, 'x', most + 1);
    reads_back(&output, bytes(text, most), true);
    cr_expect(nvtxt_out_string_holds(bytes(text, most), true));
    cr_expect_not(nvtxt_out_string_holds(bytes(text, most + 1), true));
    reads_back(&output, bytes(text, most + 1), true);
    text[0] = '"';
    cr_expect(nvtxt_out_string_holds(bytes(text, most), true)); // between single quotes
    text[1] = '\'';
    cr_expect_not(nvtxt_out_string_holds(bytes(text, most), true));
    cr_expect(nvtxt_out_string_holds(bytes(text, most - 1), true));
    memset(text, '\\', most);
    text[most - 1] = '\n';
    reads_back(&output, bytes(text, most), true);
    output_close(&output);
    free(text);
}

Test(out, takes_pieces_longer_than_its_buffer) {
    struct output output;
    size_t len = 3 << 20;
    char *text = malloc(len);
    cr_assert_not_null(text);
    memset(text, '\n', len);
    output_open(&output);
    nvtxt_out_json(&output.out, bytes(text, len));
    cr_expect_eq(strlen(output_text(&output)), 2 * len + 2);
    for (int i = 0; i < 100000; i++) {
        nvtxt_out_bytes(&output.out, "0123456789", 10);
    }
    (void)output_text(&output);
    cr_expect_eq(output.len, 2 * len + 2 + 1000000);
    output_close(&output);
    free(text);
}

Test(out, remembers_the_first_failure) {
    struct output output;
    output_open(&output);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    cr_assert_geq(full, 0);
    int fd = output.out.fd;
    output.out.fd = full;
    nvtxt_out_json(&output.out, NVTXT_SLICE("text"));
    cr_expect_eq(nvtxt_out_flush(&output.out), -ENOSPC);
    nvtxt_out_uint(&output.out, 5);
    cr_expect_eq(nvtxt_out_flush(&output.out), -ENOSPC);
    cr_expect_eq(output.out.written, 0);
    output.out.fd = fd;
    close(full);
    output_close(&output);
}

Test(out, puts_words_and_numbers_together) {
    struct output output;
    output_open(&output);
    nvtxt_out_format(&output.out, "%s %d of %zu", "line", -3, (size_t)7);
    cr_expect_str_eq(output_text(&output), "line -3 of 7");
    output_close(&output);
}
