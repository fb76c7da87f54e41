// SPDX-License-Identifier: Apache-2.0
//
// UTF-8: every sequence against a decoder written from the definition, and the repair.
#include "protocol/base/utf8.h"

#include <criterion/criterion.h>
#include <stdint.h>

// The length of the sequence at `p` by decoding it: shape, then value, then what is forbidden.
static size_t by_decoding(const unsigned char *p, size_t len) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (len == 0) {
        return 0;
    }
    size_t n = 1;
    uint32_t point = p[0];
    if (p[0] >= 0x80) {
        n = (p[0] >> 5) == 6 ? 2 : (p[0] >> 4) == 14 ? 3 : (p[0] >> 3) == 30 ? 4 : 0;
        point = p[0] & (0x7Fu >> n);
    }
    if (n == 0 || n > len) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((p[i] >> 6) != 2) {
            return 0;
        }
        point = point << 6 | (p[i] & 0x3Fu);
    }
    if (point < smallest[n] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
        return 0;
    }
    return n;
}

static void agrees(const unsigned char *bytes, size_t len) {
    size_t found = nvtxt_utf8_sequence((const char *)bytes, len);
    if (found != by_decoding(bytes, len)) {
        cr_assert_fail("%02X %02X %02X %02X of %zu bytes: %zu", bytes[0], bytes[1], bytes[2],
                       bytes[3], len, found);
    }
}

Test(utf8, finds_no_sequence_in_nothing) {
    cr_assert_eq(nvtxt_utf8_sequence("", 0), 0);
    cr_assert_eq(nvtxt_utf8_sequence(NULL, 0), 0);
    cr_assert(nvtxt_utf8_valid((struct nvtxt_slice){NULL, 0}));
}

Test(utf8, agrees_with_a_decoder_on_every_pair_of_bytes) {
    static const unsigned char thirds[] = {0x00, 0x7F, 0x80, 0x8F, 0x90,
                                           0x9F, 0xA0, 0xBF, 0xC0, 0xFF};
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            for (size_t c = 0; c < sizeof(thirds) * sizeof(thirds); c++) {
                unsigned char bytes[4] = {(unsigned char)a, (unsigned char)b,
                                          thirds[c / sizeof(thirds)], thirds[c % sizeof(thirds)]};
                for (size_t len = 1; len <= 4; len++) {
                    agrees(bytes, len);
                }
            }
        }
    }
}

Test(utf8, accepts_every_character_and_no_surrogate) {
    for (uint32_t point = 0x800; point <= 0x10FFFF; point++) {
        unsigned char b[4];
        size_t n = point < 0x10000 ? 3 : 4;
        if (n == 3) {
            b[0] = (unsigned char)(0xE0 | point >> 12);
        } else {
            b[0] = (unsigned char)(0xF0 | point >> 18);
            b[1] = (unsigned char)(0x80 | (point >> 12 & 0x3F));
        }
        b[n - 2] = (unsigned char)(0x80 | (point >> 6 & 0x3F));
        b[n - 1] = (unsigned char)(0x80 | (point & 0x3F));
        bool surrogate = point >= 0xD800 && point <= 0xDFFF;
        if (nvtxt_utf8_sequence((const char *)b, n) != (surrogate ? 0 : n)) {
            cr_assert_fail("U+%04X", point);
        }
        if (nvtxt_utf8_sequence((const char *)b, n - 1) != 0) {
            cr_assert_fail("U+%04X without its last byte", point);
        }
    }
}

Test(utf8, distinguishes_valid_text_from_invalid) {
    cr_assert(nvtxt_utf8_valid(NVTXT_SLICE("")));
    cr_assert(nvtxt_utf8_valid(NVTXT_SLICE("a\0b")));
    cr_assert(nvtxt_utf8_valid(NVTXT_SLICE("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80")));
    cr_assert_not(nvtxt_utf8_valid(NVTXT_SLICE("ok\xE2\x82")));
    cr_assert_not(nvtxt_utf8_valid(NVTXT_SLICE("\xC0\xAF")));
    cr_assert_not(nvtxt_utf8_valid(NVTXT_SLICE("\xED\xA0\x80")));
    cr_assert_not(nvtxt_utf8_valid(NVTXT_SLICE("\x80")));
}

static void repairs(struct nvtxt_slice text, const char *wanted) {
    char out[64];
    memset(out, '!', sizeof(out));
    size_t len = nvtxt_utf8_repair(out, text);
    cr_assert_eq(len, strlen(wanted));
    cr_assert_arr_eq(out, wanted, len);
    cr_assert_eq(out[len], '!', "nothing is written after it");
    cr_assert(nvtxt_utf8_valid((struct nvtxt_slice){out, len}));
}

#define BAD "\xEF\xBF\xBD"

Test(utf8, replaces_each_byte_outside_a_sequence) {
    repairs(NVTXT_SLICE(""), "");
    repairs(NVTXT_SLICE("plain"), "plain");
    repairs(NVTXT_SLICE("\xE2\x82"), BAD BAD);
    repairs(NVTXT_SLICE("a\xE2\x82z"), "a" BAD BAD "z");
    repairs(NVTXT_SLICE("\xE2\x82\xAC\xAC"), "\xE2\x82\xAC" BAD);
    repairs(NVTXT_SLICE("\xED\xA0\x80"), BAD BAD BAD);
    repairs(NVTXT_SLICE("\xFF\xF0\x9F\x98\x80\xFE"), BAD "\xF0\x9F\x98\x80" BAD);
    repairs(NVTXT_SLICE("\xF0\x9F\x98"), BAD BAD BAD);
}

Test(utf8, grows_no_more_than_it_says) {
    char in[100], out[100 * NVTXT_UTF8_GROWTH];
    memset(in, '\xFF', sizeof(in));
    cr_assert_eq(nvtxt_utf8_repair(out, (struct nvtxt_slice){in, sizeof(in)}), sizeof(out));
}

Test(utf8, is_cut_in_front_of_a_character) {
    const struct nvtxt_slice text = NVTXT_SLICE("a\xc3\xa9\xe2\x82\xac");
    const size_t wanted[] = {0, 1, 1, 3, 3, 3, 6, 6};
    for (size_t most = 0; most < 8; most++) {
        cr_assert_eq(nvtxt_slice_cut(text, most).len, wanted[most], "%zu", most);
    }
}

static void shows(struct nvtxt_slice text, const char *wanted) {
    char out[64];
    size_t len = nvtxt_utf8_show(out, sizeof(out), text);
    cr_assert_str_eq(out, wanted);
    cr_assert_eq(len, strlen(wanted));
}

Test(utf8, shows_what_a_terminal_only_draws) {
    shows(NVTXT_SLICE("plain \xC3\xA4 \xE6\x97\xA5 e\xCC\x81 \xF0\x9F\x98\x80"),
          "plain \xC3\xA4 \xE6\x97\xA5 e\xCC\x81 \xF0\x9F\x98\x80");
    shows(NVTXT_SLICE("a\033[1m\r\n\tb\x7F\0c"), "a [1m   b  c");
    shows(NVTXT_SLICE("\xC2\x80\xC2\x9B\xC2\x9F\xC2\xA0"), "   \xC2\xA0");
    shows(NVTXT_SLICE("a\xE2\x80\xA8\xE2\x80\xA9z"), "a  z");
    shows(NVTXT_SLICE("\xE2\x80\xAE\xE2\x81\xA6\xD8\x9C\x9B"), BAD BAD BAD BAD);
    shows(NVTXT_SLICE("\xE2\x9D\xA4\xEF\xB8\x8F\xF3\xA0\x84\x80."), "\xE2\x9D\xA4.");
}

static void hides(uint32_t first, uint32_t last) {
    for (uint32_t point = first; point <= last; point++) {
        char text[4];
        size_t len = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        for (size_t i = len; i-- > 1;) {
            text[i] = (char)(0x80 | (point >> 6 * (len - 1 - i) & 0x3F));
        }
        text[0] = (char)(len == 1 ? point : (0xF0u << (4 - len) & 0xFFu) | point >> 6 * (len - 1));
        struct nvtxt_slice shown, whole = {text, len};
        cr_assert_eq(nvtxt_utf8_point(text, len), point);
        cr_assert_eq(nvtxt_utf8_shown(whole, &shown), len);
        cr_assert_neq(shown.data, (const char *)text, "U+%04X", point);
    }
}

Test(utf8, shows_no_control_no_direction_and_nothing_that_cannot_be_seen) {
    static const uint32_t ranges[][2] = {
        {0, 0x1F},        {0x7F, 0x9F},     {0xAD, 0xAD},       {0x34F, 0x34F},    {0x61C, 0x61C},
        {0x180B, 0x180F}, {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},  {0xFE00, 0xFE0F},
        {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        hides(ranges[i][0], ranges[i][1]);
    }
}

Test(utf8, shows_lines_and_tabs_where_there_are_several) {
    struct nvtxt_slice text = NVTXT_SLICE("\ta\r\n\rb\xE2\x80\xAE"), shown;
    char out[32] = "";
    for (size_t taken; text.len > 0; text.data += taken, text.len -= taken) {
        taken = nvtxt_utf8_shown_in_lines(text, &shown);
        strncat(out, shown.data, shown.len);
    }
    cr_assert_str_eq(out, "\ta\r\n b" BAD);
}

Test(utf8, is_shown_as_far_as_there_is_room) {
    for (size_t size = 1; size < 12; size++) {
        char out[12];
        memset(out, '!', sizeof(out));
        size_t len = nvtxt_utf8_show(out, size, NVTXT_SLICE("a\xE2\x80\xAE\xC3\xA4z"));
        cr_assert_eq(len, size < 5 ? size > 1 : size < 7 ? 4 : size == 7 ? 6 : 7, "%zu", size);
        cr_assert_eq(out[len], '\0');
        cr_assert(size == sizeof(out) || out[size] == '!');
    }
}

Test(utf8, writes_every_point_so_that_it_is_read_again) {
    for (uint32_t point = 0; point <= 0x10FFFF; point++) {
        char bytes[NVTXT_UTF8_MOST];
        size_t len = nvtxt_utf8_put(bytes, point);
        if (point < 0xD800 || point > 0xDFFF) { // which no text has
            cr_assert_eq(nvtxt_utf8_sequence(bytes, len), len, "%x", point);
            cr_assert_eq(nvtxt_utf8_point(bytes, len), point, "%x", point);
        }
    }
}

Test(utf8, sees_the_byte_that_is_no_plain_ascii_wherever_it_is) {
    static const char odd[] = {'\0', '\x80', '\x81', '\xc3', '\xff'};
    char text[26];
    for (size_t len = 0; len < sizeof(text); len++) {
        memset(text, 0xff, sizeof(text)); // what is after it is not looked at
        memcpy(text, "\x01 abcdefghijklmnopqrstuv~\x7f", len);
        struct nvtxt_slice slice = {text, len};
        cr_assert(nvtxt_is_plain_ascii(slice), "%zu", len);
        for (size_t i = 0; i < len * sizeof(odd); i++) {
            char kept = text[i % len];
            text[i % len] = odd[i / len];
            cr_assert_not(nvtxt_is_plain_ascii(slice), "%zu of %zu", i % len, len);
            text[i % len] = kept;
        }
    }
}
