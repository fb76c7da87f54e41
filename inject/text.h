// SPDX-License-Identifier: Apache-2.0
//
// Wide texts as UTF-8. Wide is UTF-32 here; halves of surrogates and what is beyond Unicode become
// U+FFFD.
#pragma once

#include <stddef.h>
#include <wchar.h>

// At most so many bytes of a text become UTF-8: more is not recorded anyway.
#define TEXT_BYTES_MOST 16384u

// Bytes that the text needs as UTF-8, at most TEXT_BYTES_MOST, cut at a character. NULL: 0.
size_t text_bytes(const wchar_t *wide);

// Writes so many bytes, which text_bytes() said, and a NUL. Returns `to`.
char *text_write(const wchar_t *wide, size_t bytes, char *to);

// The text on the stack of the calling function.
#define TEXT_OF_WIDE(wide)                                                                         \
    ({                                                                                             \
        const wchar_t *wide_ = (wide);                                                             \
        size_t bytes_ = text_bytes(wide_);                                                         \
        (const char *)text_write(wide_, bytes_, __builtin_alloca(bytes_ + 1));                     \
    })
