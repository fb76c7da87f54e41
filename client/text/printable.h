// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a quoted string of NVTXT, for a session with escapes (nvtxt-protocol(7)). Text in
// UTF-8 arrives as it is, whatever quotes and backslashes are in it. What the store cannot hold as
// text is spelled out, and so that it can be read back without doubt:
//
//   a byte that is not UTF-8, or NUL   \xHH, two small hexadecimal digits
//   \x5c, \x00, \x80 to \xff in the text itself   with \x5c for their backslash
//
// Every other backslash stays. message_decode() is the way back.
#pragma once

#include <stddef.h>

#include "protocol/base/slice.h"

#define MESSAGE_LEAST 64 // room in which at least one character fits whatever it is

// Writes the string with its quotes to `out`, at most `room` bytes (MESSAGE_LEAST or more), for as
// many bytes of `text` as fit; none only when there are none. No character of UTF-8 is cut. What is
// taken depends on the first `room` bytes of the text alone. Returns the bytes taken and sets
// `*written`.
size_t message_encode(char *out, size_t room, struct nvtxt_slice text, size_t *written);

// The bytes that a stored message stands for, into `out` (room for text.len bytes). Returns their
// number.
size_t message_decode(char *out, struct nvtxt_slice text);
