// SPDX-License-Identifier: Apache-2.0
//
// protocol/text: values as people and other programs read and write them: numbers, times, JSON,
// CSV. It owns the buffer of an output and nothing else. Any thread, one output at a time. It opens
// no file and prints no message; only an output writes, to the descriptor that it was given.
//
// This header is the output: a buffer for one descriptor, and functions that put numbers and texts
// into it. The first failure is remembered; all calls after it do nothing, so a writer of many
// pieces needs to check only now and then.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "protocol/base/slice.h"

#define NVTXT_OUT_CLOSED 1 // the reader of the descriptor has closed it

struct nvtxt_out {
    int fd;           // borrowed; -1: nothing is written, the buffer grows
    bool is_terminal; // gets what people are shown: nvtxt_utf8_shown_in_lines()
    int error;        // the first failure: NVTXT_OUT_CLOSED or -errno; 0 before it
    char *data;       // owned
    size_t len, cap;
    uint64_t written; // bytes that the descriptor took
    // Whether a write that a signal cut short shall not be tried again; the error is -EINTR then.
    // NULL: it is tried again. May be set after nvtxt_out_init().
    bool (*interrupted)(void);
};

int nvtxt_out_init(struct nvtxt_out *out, int fd); // 0 or -ENOMEM
void nvtxt_out_deinit(struct nvtxt_out *out);      // writes nothing; fine when zeroed

// Writes what the buffer holds. Returns out->error.
int nvtxt_out_flush(struct nvtxt_out *out);

// The slow path of nvtxt_out_room(). NULL after a failure.
char *nvtxt_out_make_room(struct nvtxt_out *out, size_t size);

// Room for `size` bytes after the buffered ones; the caller writes them and adds to out->len.
static inline char *nvtxt_out_room(struct nvtxt_out *out, size_t size) {
    return out->cap - out->len >= size ? out->data + out->len : nvtxt_out_make_room(out, size);
}

static inline void nvtxt_out_bytes(struct nvtxt_out *out, const char *data, size_t len) {
    char *room = nvtxt_out_room(out, len);
    if (room && len > 0) {
        memcpy(room, data, len);
        out->len += len;
    }
}

#define NVTXT_OUT_LITERAL(out, literal) nvtxt_out_bytes(out, literal, sizeof(literal) - 1)

static inline void nvtxt_out_slice(struct nvtxt_out *out, struct nvtxt_slice text) {
    nvtxt_out_bytes(out, text.data, text.len);
}

void nvtxt_out_uint(struct nvtxt_out *out, uint64_t value);
void nvtxt_out_int(struct nvtxt_out *out, int64_t value);

// Nanoseconds as microseconds with three decimals.
void nvtxt_out_microseconds(struct nvtxt_out *out, uint64_t ns);

// "2026-11-21T06:24:00.000000000Z": exact, for all of Int64 (the years 1677 to 2262).
void nvtxt_out_utc(struct nvtxt_out *out, int64_t ns);

// "#AARRGGBB".
void nvtxt_out_color(struct nvtxt_out *out, uint32_t argb);

// The shortest decimal that reads back as the same value, always with a point or an exponent.
// False, and nothing written, for what is no finite number.
bool nvtxt_out_double(struct nvtxt_out *out, double value);

// A JSON string with its quotes; and a field of RFC 4180, in quotes where it needs them, between
// separators of one's own choice. What is not UTF-8 becomes U+FFFD.
void nvtxt_out_json(struct nvtxt_out *out, struct nvtxt_slice text);
void nvtxt_out_field(struct nvtxt_out *out, struct nvtxt_slice text, char separator);

static inline void nvtxt_out_csv(struct nvtxt_out *out, struct nvtxt_slice text) {
    nvtxt_out_field(out, text, ',');
}

#define NVTXT_OUT_LINE_BYTES 65536 // of NVTXT: the default limit of those that read the lines

// A string of NVTXT with its quotes. Without escapes it holds no text with both kinds of quotes or
// with a line feed. Neither way it holds a NUL, what is not UTF-8, or more than a line
// (NVTXT_OUT_LINE_BYTES) of the form M="…". Such a text is changed as little as possible, and cut;
// the result is false then.
bool nvtxt_out_string(struct nvtxt_out *out, struct nvtxt_slice text, bool escapes);
bool nvtxt_out_string_holds(struct nvtxt_slice text,
                            bool escapes); // what nvtxt_out_string() would return
