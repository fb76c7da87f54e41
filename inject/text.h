// SPDX-License-Identifier: Apache-2.0
//
// Messages of programs as UTF-8. A wide one is UTF-32 here; halves of surrogates and what is beyond
// Unicode become U+FFFD.
#pragma once

#include <wchar.h>

#include "inject/handles.h"

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

// The text of a message, which may be in a structure of any kind; NULL: none. A wide one is on the
// stack of the calling function.
#define TEXT_OF(type, message)                                                                     \
    ({                                                                                             \
        int32_t type_ = (int32_t)(type);                                                           \
        union abi_message message_ = (message);                                                    \
        type_ == ABI_MESSAGE_WIDE &&message_.wide ? TEXT_OF_WIDE(message_.wide)                    \
                                                  : text_of_bytes(type_, message_);                \
    })
static inline const char *text_of_bytes(int32_t type, union abi_message message) {
    if (type == ABI_MESSAGE_REGISTERED && message.handle) {
        return ((const struct inject_string *)message.handle)->text;
    }
    return type == ABI_MESSAGE_BYTES ? message.bytes : NULL;
}

// A message as the library behind us knows it.
static inline union abi_message text_chained(int32_t type, union abi_message message) {
    if (type == ABI_MESSAGE_REGISTERED) {
        message.handle = inject_string_chained(message.handle);
    }
    return message;
}
