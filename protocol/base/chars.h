// SPDX-License-Identifier: Apache-2.0
//
// Classes of bytes, instead of <ctype.h>, which depends on the locale: those of the language, found
// in a table, and those that people are not shown as they are.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum nvtxt_char_class {
    NVTXT_CHAR_BLANK = 1,      // space and tab
    NVTXT_CHAR_DIGIT = 2,      // 0-9
    NVTXT_CHAR_WORD_START = 4, // A-Z a-z _
    NVTXT_CHAR_WORD = 8,       // A-Z a-z _ 0-9
    NVTXT_CHAR_HEX = 16,       // 0-9 A-F a-f
    NVTXT_CHAR_RUNS_ON = 32,   // after a number these make it a bad one: word bytes and '.'
};

extern const uint8_t nvtxt_char_classes[256];

static inline bool nvtxt_char_is(char byte, enum nvtxt_char_class classes) {
    return (nvtxt_char_classes[(unsigned char)byte] & classes) != 0;
}

// A-Z as a-z; any other byte as it is.
static inline char nvtxt_lower(char byte) {
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

// The value of a hexadecimal digit (NVTXT_CHAR_HEX).
static inline unsigned nvtxt_hex_digit(char byte) {
    return (unsigned)(byte <= '9' ? byte - '0' : nvtxt_lower(byte) - 'a' + 10);
}

// A byte that ASCII prints: no control character, no byte of another character.
static inline bool nvtxt_is_printable(char byte) {
    return byte >= ' ' && byte <= '~';
}

// C0 and DEL.
static inline bool nvtxt_is_ascii_control(char byte) {
    return (unsigned char)byte < ' ' || byte == 0x7F;
}
