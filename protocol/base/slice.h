// SPDX-License-Identifier: Apache-2.0
//
// protocol/base: bytes and texts, for all other rooms: views, buffers, lines, UTF-8, hash tables,
// JSON. Each function works on memory of its caller, so any thread may call it. The one global is
// the key of the hash values. Nothing here does I/O, reads a clock or depends on the locale;
// nothing here knows the language or a socket.
//
// A slice is a view of bytes that somebody else owns: so text goes from the read buffer to the
// batch without a copy. It may hold any byte, and no NUL ends it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct nvtxt_slice {
    const char *data; // may be NULL only when len is 0
    size_t len;       // bytes
};

// A slice of a string literal, for tables and tests.
#define NVTXT_SLICE(literal) ((struct nvtxt_slice){(literal), sizeof(literal) - 1})

static inline struct nvtxt_slice nvtxt_slice_of(const char *string) {
    return (struct nvtxt_slice){string, string ? strlen(string) : 0};
}

static inline bool nvtxt_slice_equal(struct nvtxt_slice a, struct nvtxt_slice b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

// The name at the end of a path: what is after the last slash, or all of it.
static inline const char *nvtxt_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static inline bool nvtxt_ends_with(const char *text, const char *end) {
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

// The first `most` bytes; a character that the cut would split is left out. Text that is not UTF-8
// is cut too, at most 4 bytes earlier: no character is longer.
static inline struct nvtxt_slice nvtxt_slice_cut(struct nvtxt_slice text, size_t most) {
    if (text.len > most) {
        size_t least = most > 4 ? most - 4 : 0;
        text.len = most;
        while (text.len > least && ((unsigned char)text.data[text.len] & 0xc0) == 0x80) {
            text.len--;
        }
    }
    return text;
}
