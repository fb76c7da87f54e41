// SPDX-License-Identifier: Apache-2.0
//
// Two passes, one that counts and one that writes, so that a short text takes little of the stack.
// Another thread of the program may write the text between them: the second pass stops at what the
// first one counted.
#include "inject/text.h"

#define REPLACEMENT 0xFFFDu

static uint32_t character(wchar_t wide) {
    uint32_t c = (uint32_t)wide;
    return c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) ? REPLACEMENT : c;
}

static size_t character_bytes(uint32_t c) {
    return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

size_t text_bytes(const wchar_t *wide) {
    size_t bytes = 0;
    for (; wide && *wide; wide++) {
        size_t more = character_bytes(character(*wide));
        if (bytes + more > TEXT_BYTES_MOST) {
            break;
        }
        bytes += more;
    }
    return bytes;
}

static void write_character(uint32_t c, size_t bytes, char *to) {
    static const uint8_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = bytes; i > 1; i--) {
        to[i - 1] = (char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    to[0] = (char)(lead[bytes] | c);
}

char *text_write(const wchar_t *wide, size_t bytes, char *to) {
    size_t at = 0;
    while (at < bytes && *wide) {
        uint32_t c = character(*wide++);
        size_t more = character_bytes(c);
        if (at + more > bytes) {
            break;
        }
        write_character(c, more, to + at);
        at += more;
    }
    to[at] = '\0';
    return to;
}
