// SPDX-License-Identifier: Apache-2.0
//
// Most lines of logs have no byte that must be spelled out: a few fast passes find them and they
// are copied. The others are written character by character.
#include "client/text/textlog.h"

#include <string.h>

#include "protocol/base/utf8.h"

#define UNIT_MOST 5 // bytes that a character becomes

static int hex_digit(char byte) {
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

// The byte that \xHH at `at` spells, or -1 when there is no such escape.
static int spelled(const char *at, size_t len) {
    if (len < 4 || at[0] != '\\' || at[1] != 'x') {
        return -1;
    }
    int high = hex_digit(at[2]);
    int low = hex_digit(at[3]);
    int byte = high < 0 || low < 0 ? -1 : high * 16 + low;
    return byte == 0 || byte == '\\' || byte >= 0x80 ? byte : -1;
}

// How a string is quoted: between '…' nothing is escaped, between "…" backslashes and quotes are.
struct style {
    char quote;
    bool escapes;
};

static struct style choose(struct nvtxt_slice text) {
    if (!memchr(text.data, '\'', text.len)) {
        return (struct style){'\'', false};
    }
    return (struct style){'"', memchr(text.data, '"', text.len) != NULL ||
                                   memchr(text.data, '\\', text.len) != NULL};
}

static bool is_plain(struct nvtxt_slice text) {
    const char *slash = memchr(text.data, '\\', text.len);
    const char *end = text.data + text.len;
    while (slash && spelled(slash, (size_t)(end - slash)) < 0) {
        slash = memchr(slash + 1, '\\', (size_t)(end - slash - 1));
    }
    return !slash && !memchr(text.data, '\0', text.len) && nvtxt_utf8_valid(text);
}

static size_t spell(char *out, unsigned char byte, bool escapes) {
    static const char digits[] = "0123456789abcdef";
    size_t len = 0;
    out[len++] = '\\';
    if (escapes) {
        out[len++] = '\\';
    }
    out[len++] = 'x';
    out[len++] = digits[byte >> 4];
    out[len++] = digits[byte & 15];
    return len;
}

// One character of the text, at least one byte. Returns the bytes written, sets `*taken`.
static size_t put(char *out, const char *at, size_t len, bool escapes, size_t *taken) {
    *taken = nvtxt_utf8_sequence(at, len);
    if (*taken == 0 || *at == '\0' || spelled(at, len) >= 0) {
        *taken = 1;
        return spell(out, (unsigned char)*at, escapes);
    }
    if (escapes && (*at == '"' || *at == '\\' || *at == '\n')) {
        out[0] = '\\';
        out[1] = *at == '\n' ? 'n' : *at;
        return 2;
    }
    memcpy(out, at, *taken);
    return *taken;
}

size_t printable_encode(char *out, size_t room, struct nvtxt_slice text, size_t *written) {
    struct nvtxt_slice seen = {text.data, text.len < room ? text.len : room};
    struct style style = {'"', true};
    if (seen.len == 0 || !memchr(seen.data, '\n', seen.len)) {
        style = seen.len == 0 ? (struct style){'\'', false} : choose(seen);
    }
    size_t len = 0;
    size_t taken = 0;
    out[len++] = style.quote;
    if (text.len > 0 && text.len + 2 <= room && !style.escapes && is_plain(text)) {
        memcpy(out + len, text.data, text.len);
        len += text.len;
        taken = text.len;
    }
    while (taken < text.len && room - len > UNIT_MOST) {
        size_t n;
        len += put(out + len, text.data + taken, text.len - taken, style.escapes, &n);
        taken += n;
    }
    out[len++] = style.quote;
    *written = len;
    return taken;
}

size_t printable_decode(char *out, struct nvtxt_slice text) {
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        int byte = spelled(text.data + i, text.len - i);
        out[len++] = byte >= 0 ? (char)byte : text.data[i];
        i += byte >= 0 ? 3 : 0;
    }
    return len;
}
