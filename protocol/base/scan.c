// SPDX-License-Identifier: Apache-2.0
//
// What is seldom called or too long to stand in the header, and the table of classes: one row for
// each byte that is in a class; a letter or a digit is in several.
#include "protocol/base/scan.h"

bool nvtxt_scan_take_text(struct nvtxt_scan *scan, const char *text) {
    bool is_next = nvtxt_starts_with(nvtxt_slice_between(scan->at, scan->end), text);
    scan->at += is_next ? strlen(text) : 0;
    return is_next;
}

const char *nvtxt_scan_find(const struct nvtxt_scan *scan, char byte) {
    return scan->at < scan->end ? memchr(scan->at, byte, nvtxt_scan_left(scan)) : NULL;
}

bool nvtxt_equal_any_case(struct nvtxt_slice text, const char *word) {
    size_t i = 0;
    while (i < text.len && word[i] && nvtxt_lower(text.data[i]) == word[i]) {
        i++;
    }
    return i == text.len && word[i] == '\0';
}

bool nvtxt_digits_value(struct nvtxt_slice digits, unsigned base, uint64_t *value) {
    uint64_t sum = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (__builtin_mul_overflow(sum, base, &sum) ||
            __builtin_add_overflow(sum, nvtxt_hex_digit(digits.data[i]), &sum)) {
            return false;
        }
    }
    *value = sum;
    return true;
}

// ---- Classes ------------------------------------------------------------------------------------

#define LETTER (NVTXT_CHAR_WORD_START | NVTXT_CHAR_WORD | NVTXT_CHAR_DOTTED)
#define HEX_LETTER (LETTER | NVTXT_CHAR_HEX)
#define DIGIT (NVTXT_CHAR_DIGIT | NVTXT_CHAR_WORD | NVTXT_CHAR_HEX | NVTXT_CHAR_DOTTED)

const uint8_t nvtxt_char_classes[256] = {
    ['\t'] = NVTXT_CHAR_BLANK | NVTXT_CHAR_SPACE,
    ['\n'] = NVTXT_CHAR_SPACE,
    ['\r'] = NVTXT_CHAR_SPACE,
    [' '] = NVTXT_CHAR_BLANK | NVTXT_CHAR_SPACE,
    ['.'] = NVTXT_CHAR_DOTTED,
    ['_'] = LETTER,
    ['0'] = DIGIT,
    ['1'] = DIGIT,
    ['2'] = DIGIT,
    ['3'] = DIGIT,
    ['4'] = DIGIT,
    ['5'] = DIGIT,
    ['6'] = DIGIT,
    ['7'] = DIGIT,
    ['8'] = DIGIT,
    ['9'] = DIGIT,
    ['A'] = HEX_LETTER,
    ['B'] = HEX_LETTER,
    ['C'] = HEX_LETTER,
    ['D'] = HEX_LETTER,
    ['E'] = HEX_LETTER,
    ['F'] = HEX_LETTER,
    ['G'] = LETTER,
    ['H'] = LETTER,
    ['I'] = LETTER,
    ['J'] = LETTER,
    ['K'] = LETTER,
    ['L'] = LETTER,
    ['M'] = LETTER,
    ['N'] = LETTER,
    ['O'] = LETTER,
    ['P'] = LETTER,
    ['Q'] = LETTER,
    ['R'] = LETTER,
    ['S'] = LETTER,
    ['T'] = LETTER,
    ['U'] = LETTER,
    ['V'] = LETTER,
    ['W'] = LETTER,
    ['X'] = LETTER,
    ['Y'] = LETTER,
    ['Z'] = LETTER,
    ['a'] = HEX_LETTER,
    ['b'] = HEX_LETTER,
    ['c'] = HEX_LETTER,
    ['d'] = HEX_LETTER,
    ['e'] = HEX_LETTER,
    ['f'] = HEX_LETTER,
    ['g'] = LETTER,
    ['h'] = LETTER,
    ['i'] = LETTER,
    ['j'] = LETTER,
    ['k'] = LETTER,
    ['l'] = LETTER,
    ['m'] = LETTER,
    ['n'] = LETTER,
    ['o'] = LETTER,
    ['p'] = LETTER,
    ['q'] = LETTER,
    ['r'] = LETTER,
    ['s'] = LETTER,
    ['t'] = LETTER,
    ['u'] = LETTER,
    ['v'] = LETTER,
    ['w'] = LETTER,
    ['x'] = LETTER,
    ['y'] = LETTER,
    ['z'] = LETTER,
};
