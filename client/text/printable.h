// SPDX-License-Identifier: Apache-2.0
//
// Writes any bytes as a quoted string of NVTXT, for a session with escapes (nvtxt-protocol(7)).
// Text in UTF-8 arrives unchanged, with all its quotes and backslashes. What the store cannot hold
// as text is spelled out, so that it can be read back exactly:
//
//   a byte that is not UTF-8, or NUL   \xHH, two small hexadecimal digits
//   \x5c, \x00, \x80 to \xff in the text itself   with \x5c for their backslash
//
// Every other backslash stays. printable_decode() is the way back.
#pragma once

#include <stddef.h>

#include "protocol/base/slice.h"

#define PRINTABLE_LEAST 64 // room in which any one character fits

// Writes the string with its quotes to `out`, at most `room` bytes (PRINTABLE_LEAST or more), for
// as many bytes of `text` as fit, at least one character of a text that is not empty. No character
// of UTF-8 is cut. The result depends on the first `room` bytes of the text only. Returns the
// number of bytes of `text` that were used and sets `*written`.
size_t printable_encode(char *out, size_t room, struct nvtxt_slice text, size_t *written);

// Writes the bytes that a stored message stands for to `out`, which has room for text.len bytes.
// Returns their number.
size_t printable_decode(char *out, struct nvtxt_slice text);
