// SPDX-License-Identifier: Apache-2.0
//
// Nearly every text is ASCII, so eight bytes are looked at at once: none may be zero or have its
// highest bit set. Only a text that fails this is read character by character.
#include "ship/rows/array.h"

#include <stdint.h>

#include "protocol/base/utf8.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)
#define LOW_BITS UINT64_C(0x0101010101010101)

static bool is_plain(struct nvtxt_slice text) {
    size_t at = 0;
    for (; at + 8 <= text.len; at += 8) {
        uint64_t word;
        memcpy(&word, text.data + at, 8);
        if (((word | (word - LOW_BITS)) & HIGH_BITS) != 0) {
            return false;
        }
    }
    for (; at < text.len; at++) {
        if ((signed char)text.data[at] <= 0) {
            return false;
        }
    }
    return true;
}

void row_text_add(struct nvtxt_buf *out, struct nvtxt_slice text) {
    if (is_plain(text) || (nvtxt_utf8_valid(text) && !memchr(text.data, '\0', text.len))) {
        nvtxt_buf_add(out, text.data, text.len);
        return;
    }
    for (size_t at = 0; at < text.len;) {
        size_t len = text.data[at] ? nvtxt_utf8_sequence(text.data + at, text.len - at) : 0;
        if (len > 0) {
            nvtxt_buf_add(out, text.data + at, len);
        } else {
            nvtxt_buf_add(out, "\xEF\xBF\xBD", 3);
        }
        at += len ?: 1;
    }
}
