// SPDX-License-Identifier: Apache-2.0
//
// How a piece of a line is quoted in a message: "%.*s" with at most so many bytes of it.
#pragma once

#include "protocol/base/slice.h"

#define NVTXT_QUOTED_BYTES 80 // enough to recognise a token; keeps a message one line

static inline int nvtxt_quoted_length(struct nvtxt_slice text) {
    if (text.len <= NVTXT_QUOTED_BYTES) {
        return (int)text.len;
    }
    int len = NVTXT_QUOTED_BYTES;
    while (len > NVTXT_QUOTED_BYTES - 4 && ((unsigned char)text.data[len] & 0xC0) == 0x80) {
        len--; // not in the middle of a character
    }
    return len;
}

#define NVTXT_QUOTED(slice) nvtxt_quoted_length(slice), (slice).data
