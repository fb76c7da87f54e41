// SPDX-License-Identifier: Apache-2.0
//
// UTF-8 as Unicode defines it (no overlong forms, no surrogates, nothing beyond U+10FFFF), and its
// repair: every byte outside a valid sequence becomes U+FFFD (nvtxt(5), "Tokens").
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "protocol/base/slice.h"

#define NVTXT_UTF8_GROWTH 3 // a repaired text is at most this many times as long

// Length of the valid sequence at `data`, 1 to 4, or 0 when there is none.
size_t nvtxt_utf8_sequence(const char *data, size_t len);

bool nvtxt_utf8_valid(struct nvtxt_slice text);

// Writes the repaired text to `out` (room for NVTXT_UTF8_GROWTH * text.len bytes); returns its
// length.
size_t nvtxt_utf8_repair(char *out, struct nvtxt_slice text);
