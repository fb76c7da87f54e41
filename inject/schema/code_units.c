// SPDX-License-Identifier: Apache-2.0
//
// Units are read one by one with memcpy(), for they may stand at odd addresses, and a text without
// a known length is not read past its NUL. A byte that begins no UTF-8 sequence is one U+FFFD.
#include "inject/schema/json_out.h"

#include <string.h>

#define REPLACEMENT 0xFFFDu

static uint32_t unit_at(struct code_units text, size_t i) {
    uint32_t unit = 0;
    if (i < text.count) {
        if (text.width == 1) {
            unit = (unsigned char)text.at[i];
        } else if (text.width == 2) {
            uint16_t narrow;
            memcpy(&narrow, text.at + 2 * i, sizeof(narrow));
            unit = narrow;
        } else {
            memcpy(&unit, text.at + 4 * i, sizeof(unit));
        }
    }
    return unit;
}

static bool is_surrogate(uint32_t c) {
    return c >= 0xD800 && c <= 0xDFFF;
}

static void skip(struct code_units *text, size_t count) {
    text->at += count * text->width;
    text->count -= count;
}

static size_t encode(uint32_t c, char utf8[4]) {
    if (c < 0x80) {
        utf8[0] = (char)c;
        return 1;
    }
    size_t bytes = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = bytes; i-- > 1; c >>= 6) {
        utf8[i] = (char)(0x80 | (c & 0x3F));
    }
    utf8[0] = (char)(lead[bytes] | c);
    return bytes;
}

// A sequence of 1 to 4 bytes; anything else is one byte of none.
static uint32_t of_bytes(struct code_units text, size_t *used) {
    uint32_t first = unit_at(text, 0), c = first;
    *used = 1;
    if (first >= 0x80) {
        static const uint32_t smallest[] = {0x110000, 0x110000, 0x80, 0x800, 0x10000};
        size_t n = first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
        c = first & (0x7Fu >> n);
        size_t i = 1;
        for (; i < n && (unit_at(text, i) & 0xC0) == 0x80; i++) {
            c = c << 6 | (unit_at(text, i) & 0x3F);
        }
        bool is_character = i >= n && c >= smallest[n] && c <= 0x10FFFF && !is_surrogate(c);
        *used = is_character ? n : 1;
        c = is_character ? c : REPLACEMENT;
    }
    return c;
}

static uint32_t pair_of(uint32_t high, uint32_t low) {
    bool is_pair = high < 0xDC00 && low >= 0xDC00 && low <= 0xDFFF;
    return is_pair ? 0x10000 + (((high - 0xD800) << 10) | (low - 0xDC00)) : 0;
}

size_t code_units_next(struct code_units *text, char utf8[4]) {
    uint32_t c = unit_at(*text, 0);
    if (c == 0) {
        return 0;
    }
    size_t used = 1;
    if (text->width == 1) {
        c = of_bytes(*text, &used);
    } else if (is_surrogate(c)) {
        uint32_t pair = text->width == 2 ? pair_of(c, unit_at(*text, 1)) : 0;
        used = pair ? 2 : 1;
        c = pair ?: REPLACEMENT;
    }
    skip(text, used);
    return encode(c <= 0x10FFFF ? c : REPLACEMENT, utf8);
}

void code_units_copy(struct code_units text, char *to, size_t room) {
    char utf8[4];
    size_t len = 0;
    for (size_t n; (n = code_units_next(&text, utf8)) && len + n < room; len += n) {
        memcpy(to + len, utf8, n);
    }
    to[len] = '\0';
}

size_t code_units_len(struct code_units text) {
    size_t len = 0;
    while (unit_at(text, len)) {
        len++;
    }
    return len;
}
