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
