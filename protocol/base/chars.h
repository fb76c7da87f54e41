// SPDX-License-Identifier: Apache-2.0
//
// Classes of bytes in the language: one table look-up instead of <ctype.h>, which depends on the
// locale.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum nvtxt_char_class {
    NVTXT_CHAR_BLANK = 1,      // space and tab
    NVTXT_CHAR_DIGIT = 2,      // 0-9
    NVTXT_CHAR_WORD_START = 4, // A-Z a-z _
    NVTXT_CHAR_WORD = 8,       // A-Z a-z _ 0-9
    NVTXT_CHAR_HEX = 16,       // 0-9 A-F a-f
    NVTXT_CHAR_RUNS_ON = 32,   // after a number: what makes it a bad one (word bytes and '.')
};

extern const uint8_t nvtxt_char_classes[256];

static inline bool nvtxt_char_is(char byte, enum nvtxt_char_class classes) {
    return (nvtxt_char_classes[(unsigned char)byte] & classes) != 0;
}
