// SPDX-License-Identifier: Apache-2.0
//
// Texts as programs have them: code units of 1 byte (UTF-8), 2 (UTF-16) or 4 (UTF-32), at any
// address. Whatever is no character becomes U+FFFD.
#pragma once

#include <stddef.h>

struct code_units {
    const char *at;
    size_t count; // at most so many; a unit that is 0 ends it before
    unsigned width;
};

// Takes the next character; writes its UTF-8, 1 to 4 bytes, to `utf8`. Returns their number, 0 at
// the end. Nothing after the end is read.
size_t code_units_next(struct code_units *text, char utf8[4]);

// Writes the text as UTF-8 with a NUL, cut at a character to less than `room` bytes.
void code_units_copy(struct code_units text, char *to, size_t room);

// How many units there are before the end.
size_t code_units_len(struct code_units text);
