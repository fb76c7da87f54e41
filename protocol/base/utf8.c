// SPDX-License-Identifier: Apache-2.0
//
// The well-formed sequences are those of Table 3-7 of the Unicode Standard. The first byte decides
// the length and the range of the second byte.
#include "protocol/base/utf8.h"

static bool continues(unsigned char byte) {
    return (byte & 0xC0) == 0x80;
}

size_t nvtxt_utf8_sequence(const char *data, size_t len) {
    if (len == 0) {
        return 0;
    }
    const unsigned char *p = (const unsigned char *)data;
    if (p[0] < 0x80) {
        return 1;
    }
    if (p[0] < 0xC2 || p[0] > 0xF4 || len < 2) {
        return 0;
    }
    if (p[0] < 0xE0) {
        return continues(p[1]) ? 2 : 0;
    }

    unsigned char low = 0x80, high = 0xBF;
    if (p[0] == 0xE0) {
        low = 0xA0;
    } else if (p[0] == 0xED) {
        high = 0x9F;
    } else if (p[0] == 0xF0) {
        low = 0x90;
    } else if (p[0] == 0xF4) {
        high = 0x8F;
    }
    if (p[1] < low || p[1] > high || len < 3 || !continues(p[2])) {
        return 0;
    }
    if (p[0] < 0xF0) {
        return 3;
    }
    return len >= 4 && continues(p[3]) ? 4 : 0;
}

bool nvtxt_utf8_valid(struct nvtxt_slice text) {
    size_t i = 0;
    while (i < text.len) {
        size_t n = nvtxt_utf8_sequence(text.data + i, text.len - i);
        if (n == 0) {
            return false;
        }
        i += n;
    }
    return true;
}

size_t nvtxt_utf8_repair(char *out, struct nvtxt_slice text) {
    size_t written = 0;
    for (size_t i = 0; i < text.len;) {
        size_t n = nvtxt_utf8_sequence(text.data + i, text.len - i);
        if (n == 0) {
            memcpy(out + written, "\xEF\xBF\xBD", 3);
            written += 3;
            i++;
            continue;
        }
        memcpy(out + written, text.data + i, n);
        written += n;
        i += n;
    }
    return written;
}
