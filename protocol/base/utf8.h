// SPDX-License-Identifier: Apache-2.0
//
// UTF-8 as Unicode defines it (no overlong forms, no surrogates, nothing beyond U+10FFFF), and its
// repair: every byte outside a valid sequence becomes U+FFFD (nvtxt(5), "Tokens"). And what people
// are shown of a text, so that nobody who names something can act on their terminal.
#pragma once

#include <stdint.h>

#include "protocol/base/slice.h"

#define NVTXT_UTF8_MOST 4   // bytes of a character
#define NVTXT_UTF8_GROWTH 3 // a repaired text is at most this many times as long

// Length of the valid sequence at `data`, 1 to 4, or 0 when there is none.
size_t nvtxt_utf8_sequence(const char *data, size_t len);

// Whether every byte is ASCII and not NUL, eight at a time: of most texts nothing more is asked.
// False may also be said of a few others.
bool nvtxt_is_plain_ascii(struct nvtxt_slice text);

bool nvtxt_utf8_valid(struct nvtxt_slice text);

// The code point of the valid sequence of `len` bytes at `data`.
uint32_t nvtxt_utf8_point(const char *data, size_t len);

// Writes a code point up to U+10FFFF, at most NVTXT_UTF8_MOST bytes; returns how many.
size_t nvtxt_utf8_put(char *to, uint32_t point);

// What people are shown of the first character of a text that is not empty: the character itself,
// or a blank for a control character and for a line separator, U+FFFD for what turns the direction
// of a text, cannot be seen or is no UTF-8, and nothing for what only chooses how the character
// before it is drawn. Returns how many bytes of the text it stands for.
size_t nvtxt_utf8_shown(struct nvtxt_slice text, struct nvtxt_slice *shown);

// The same for a text of several lines: line ends and tabs are themselves.
size_t nvtxt_utf8_shown_in_lines(struct nvtxt_slice text, struct nvtxt_slice *shown);

// What people are shown of a whole text, cut at a character so that it fits into `size` bytes with
// its NUL. `out` is no part of the text. Returns the length.
size_t nvtxt_utf8_show(char *out, size_t size, struct nvtxt_slice text);

// Columns of a terminal that a character takes which is shown: 0 for one that is drawn on the one
// before it, 2 for a wide one (East Asian Width W and F), else 1.
size_t nvtxt_utf8_columns(uint32_t point);

// Writes the repaired text to `out` (room for NVTXT_UTF8_GROWTH * text.len bytes); returns its
// length.
size_t nvtxt_utf8_repair(char *out, struct nvtxt_slice text);
