// SPDX-License-Identifier: Apache-2.0
//
// The output of an export: a buffer for one descriptor, and functions that put numbers and texts
// into it. The first failure is remembered; all calls after it do nothing, so a writer of many
// pieces needs to check only now and then.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "protocol/base/slice.h"

#define EXPORT_OUT_CLOSED 1 // the reader of the descriptor has closed it

struct export_out {
    int fd;     // borrowed; -1: nothing is written, the buffer grows
    int error;  // the first failure: EXPORT_OUT_CLOSED or -errno; 0 before it
    char *data; // owned
    size_t len, cap;
    uint64_t written; // bytes that the descriptor took
};

int export_out_init(struct export_out *out, int fd); // 0 or -ENOMEM
void export_out_deinit(struct export_out *out);      // writes nothing; fine when zeroed

// Writes what the buffer holds. Returns out->error.
int export_out_flush(struct export_out *out);

// The slow path of export_out_room(). NULL after a failure.
char *export_out_make_room(struct export_out *out, size_t size);

// Room for `size` bytes after the buffered ones; the caller writes them and adds to out->len.
static inline char *export_out_room(struct export_out *out, size_t size) {
    return out->cap - out->len >= size ? out->data + out->len : export_out_make_room(out, size);
}

static inline void export_bytes(struct export_out *out, const char *data, size_t len) {
    char *room = export_out_room(out, len);
    if (room && len > 0) {
        memcpy(room, data, len);
        out->len += len;
    }
}

#define EXPORT_LITERAL(out, literal) export_bytes(out, literal, sizeof(literal) - 1)

static inline void export_slice(struct export_out *out, struct nvtxt_slice text) {
    export_bytes(out, text.data, text.len);
}

void export_uint(struct export_out *out, uint64_t value);
void export_int(struct export_out *out, int64_t value);

// Nanoseconds as microseconds with three decimals.
void export_microseconds(struct export_out *out, uint64_t ns);

// "2026-11-21T06:24:00.000000000Z": exact, for all of Int64 (the years 1677 to 2262).
void export_utc(struct export_out *out, int64_t ns);

// "#AARRGGBB".
void export_color(struct export_out *out, uint32_t argb);

// The shortest decimal that reads back as the same value, always with a point or an exponent.
// False, and nothing written, for what is no finite number.
bool export_double(struct export_out *out, double value);

// A JSON string with its quotes; and a field of RFC 4180, in quotes where it needs them. What is
// not UTF-8 becomes U+FFFD.
void export_json(struct export_out *out, struct nvtxt_slice text);
void export_csv(struct export_out *out, struct nvtxt_slice text);

#define EXPORT_LINE_BYTES 65536 // of NVTXT: the default limit of those that read the lines

// A string of NVTXT with its quotes. Without escapes it holds no text with both kinds of quotes or
// with a line feed. Neither way it holds a NUL, what is not UTF-8, or more than a line
// (EXPORT_LINE_BYTES) of the form M="…". Such a text is changed as little as possible, and cut; the
// result is false then.
bool export_string(struct export_out *out, struct nvtxt_slice text, bool escapes);
bool export_string_holds(struct nvtxt_slice text,
                         bool escapes); // what export_string() would return
