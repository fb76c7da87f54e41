// SPDX-License-Identifier: Apache-2.0
//
// A cursor over a text that somebody else owns: what every reader of a small language here stands
// on, be it a line, an expression, a filter, JSON or a time. It knows bytes and classes of bytes; a
// reader adds its tokens, and its faults, whose columns are nvtxt_scan_place() + 1. Nothing is read
// at or after `end`, and nothing is copied. Classes of bytes stand instead of <ctype.h>, which
// depends on the locale.
#pragma once

#include <stdint.h>

#include "protocol/base/slice.h"

enum nvtxt_char_class {
    NVTXT_CHAR_BLANK = 1,      // space and tab
    NVTXT_CHAR_DIGIT = 2,      // 0-9
    NVTXT_CHAR_WORD_START = 4, // A-Z a-z _
    NVTXT_CHAR_WORD = 8,       // A-Z a-z _ 0-9
    NVTXT_CHAR_HEX = 16,       // 0-9 A-F a-f
    NVTXT_CHAR_DOTTED = 32,    // A-Z a-z _ 0-9 and '.': names of metrics; what no number may touch
    NVTXT_CHAR_SPACE = 64,     // space, tab, LF and CR
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

// ---- The cursor ---------------------------------------------------------------------------------

struct nvtxt_scan {
    const char *begin, *at, *end;
};

static inline struct nvtxt_scan nvtxt_scan(struct nvtxt_slice text) {
    return (struct nvtxt_scan){text.data, text.data, text.data + text.len};
}

static inline size_t nvtxt_scan_left(const struct nvtxt_scan *scan) {
    return (size_t)(scan->end - scan->at);
}

// How many bytes are before the cursor.
static inline size_t nvtxt_scan_place(const struct nvtxt_scan *scan) {
    return (size_t)(scan->at - scan->begin);
}

// The byte that is so many bytes after the cursor; NUL after the end.
static inline char nvtxt_scan_byte(const struct nvtxt_scan *scan, size_t ahead) {
    return nvtxt_scan_left(scan) > ahead ? scan->at[ahead] : '\0';
}

// Whether the byte at the cursor is of one of the classes.
static inline bool nvtxt_scan_is(const struct nvtxt_scan *scan, enum nvtxt_char_class classes) {
    return scan->at < scan->end && nvtxt_char_is(*scan->at, classes);
}

// The end of the bytes of these classes that begin at `from`.
static inline const char *nvtxt_scan_run(const struct nvtxt_scan *scan, const char *from,
                                         enum nvtxt_char_class classes) {
    while (from < scan->end && nvtxt_char_is(*from, classes)) {
        from++;
    }
    return from;
}

static inline struct nvtxt_slice nvtxt_slice_between(const char *from, const char *to) {
    return (struct nvtxt_slice){from, (size_t)(to - from)};
}

// Moves over all bytes of these classes; returns them.
static inline struct nvtxt_slice nvtxt_scan_take_run(struct nvtxt_scan *scan,
                                                     enum nvtxt_char_class classes) {
    const char *from = scan->at;
    scan->at = nvtxt_scan_run(scan, from, classes);
    return nvtxt_slice_between(from, scan->at);
}

static inline void nvtxt_scan_skip(struct nvtxt_scan *scan, enum nvtxt_char_class classes) {
    scan->at = nvtxt_scan_run(scan, scan->at, classes);
}

// Moves over the byte if it is the next one.
static inline bool nvtxt_scan_take(struct nvtxt_scan *scan, char byte) {
    bool is_next = scan->at < scan->end && *scan->at == byte;
    scan->at += is_next;
    return is_next;
}

// Moves over the text if it is next.
bool nvtxt_scan_take_text(struct nvtxt_scan *scan, const char *text);

// The next such byte from the cursor on, or NULL.
const char *nvtxt_scan_find(const struct nvtxt_scan *scan, char byte);

// Whether the text is that word, in small or capital letters. `word` is in small ones.
bool nvtxt_equal_any_case(struct nvtxt_slice text, const char *word);

// The value of digits that are all of that base, 8, 10 or 16. False when it does not fit into 64
// bits.
bool nvtxt_digits_value(struct nvtxt_slice digits, unsigned base, uint64_t *value);

// The same of decimal ones, as nearly all are.
static inline bool nvtxt_decimal_value(struct nvtxt_slice digits, uint64_t *value) {
    uint64_t sum = 0;
    if (digits.len > 19) { // fewer always fit
        return nvtxt_digits_value(digits, 10, value);
    }
    for (const char *at = digits.data, *end = at + digits.len; at < end; at++) {
        sum = sum * 10 + (uint64_t)(*at - '0');
    }
    *value = sum;
    return true;
}

// Moves over decimal digits, of which there may be none. False when they do not fit into 64 bits;
// the cursor is after them all the same.
static inline bool nvtxt_scan_take_uint(struct nvtxt_scan *scan, uint64_t *value) {
    return nvtxt_decimal_value(nvtxt_scan_take_run(scan, NVTXT_CHAR_DIGIT), value);
}
