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

struct nvtxt_number;

enum { NVTXT_OUT_CLOSED = NVTXT_WRONG + 1 }; // the reader of the descriptor has closed it

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
    // What a terminal gets instead of its usual text: writes it with nvtxt_out_put(), and returns
    // how many bytes it took; the others come again, with more. `last`: all must be taken. NULL:
    // the usual.
    size_t (*show)(struct nvtxt_out *out, struct nvtxt_slice text, bool last);
    void *screen; // of `show`; borrowed
    // The second of the time that was written last, as text: most times are in the same.
    int64_t second;
    char second_text[20]; // "": none
};

int nvtxt_out_init(struct nvtxt_out *out, int fd); // 0 or -ENOMEM
void nvtxt_out_deinit(struct nvtxt_out *out);      // writes nothing; fine when zeroed

// Writes what the buffer holds. Returns out->error.
int nvtxt_out_flush(struct nvtxt_out *out);

// Writes bytes to the descriptor as they are, before what the buffer holds. For `show`.
void nvtxt_out_put(struct nvtxt_out *out, const char *data, size_t len);

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

#define NVTXT_DIGITS 20 // of 2^64 - 1

// Writes the decimal digits of a number to room for NVTXT_DIGITS; returns their end.
char *nvtxt_put_digits(char *to, uint64_t value);

void nvtxt_out_uint(struct nvtxt_out *out, uint64_t value);
void nvtxt_out_int(struct nvtxt_out *out, int64_t value);

// A text of at most NVTXT_OUT_FORMATTED bytes: words and numbers of the program, not texts of
// others.
#define NVTXT_OUT_FORMATTED 512 // more than the longest of them
void nvtxt_out_format(struct nvtxt_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Nanoseconds as microseconds with three decimals.
void nvtxt_out_microseconds(struct nvtxt_out *out, uint64_t ns);

// "2026-11-21T06:24:00.000000000Z": exact, for all of Int64 (the years 1677 to 2262).
void nvtxt_out_utc(struct nvtxt_out *out, int64_t ns);

// "#AARRGGBB".
void nvtxt_out_color(struct nvtxt_out *out, uint32_t argb);

// The shortest decimal that reads back as the same value, always with a point or an exponent.
// False, and nothing written, for what is no finite number.
bool nvtxt_out_double(struct nvtxt_out *out, double value);

// A text as it is, but what is not UTF-8 becomes U+FFFD.
void nvtxt_out_repaired(struct nvtxt_out *out, struct nvtxt_slice text);

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

// ---- JSON texts of events -----------------------------------------------------------------------

// JSON texts of events as formats need them: on one line, split at the two ends of a range, and the
// numbers in an object. Only texts of other programs can be anything but one JSON value.

// Whether a text is one JSON value, as the argument Json of NVTXT takes it.
bool nvtxt_json_is_value(struct nvtxt_slice text);

// Writes the value as it is, but on one line. Writes a text that is no value as a JSON string.
void nvtxt_json_put(struct nvtxt_out *out, struct nvtxt_slice text);

// Splits {"begin":X,"end":Y}, which the interpreter makes when the end of a range has JSON. X and Y
// are views of values; X is empty when it is null. False for any other text.
bool nvtxt_json_split(struct nvtxt_slice text, struct nvtxt_slice *begin, struct nvtxt_slice *end);

// Whether a text is one JSON value as an event has it: what was joined of two may be one level
// deeper than a value of the language.
bool nvtxt_json_is_events(struct nvtxt_slice text);

// Whether a text is one JSON value that is an object.
bool nvtxt_json_is_object(struct nvtxt_slice text);

// A member of an object, or an element of an array. Both are views of the text.
struct nvtxt_json_member {
    struct nvtxt_slice name;  // with its quotes; empty in an array
    struct nvtxt_slice value; // without blanks round it
    size_t next;              // where the next one begins; 0 before the first
};

// Moves on to the next one of a text that is an array or an object, and JSON. False at the end.
bool nvtxt_json_next(struct nvtxt_slice text, struct nvtxt_json_member *member);

// Moves on to the next member that is a number. False at the end, and for any text that is not an
// object. Numbers in its arrays and objects are left out.
bool nvtxt_json_next_number(struct nvtxt_slice text, struct nvtxt_json_member *member);

// Reads a number that is JSON as an NVTXT_I64 or NVTXT_U64 if it is an integer that fits, else as
// the nearest NVTXT_F64 (protocol/lang/value.h). Returns 0 or -ENOMEM.
int nvtxt_json_number(struct nvtxt_slice text, struct nvtxt_number *number);

// A text that is JSON, without the blanks round it.
struct nvtxt_slice nvtxt_json_trimmed(struct nvtxt_slice text);

// Writes what a string that is JSON means, with its quotes given: UTF-8, and U+FFFD for half a
// surrogate pair.
void nvtxt_json_decode(struct nvtxt_out *out, struct nvtxt_slice string);

// Writes the members of an object that are numbers, with commas between them: "a":1,"b":2. Returns
// how many there are.
unsigned nvtxt_json_numbers(struct nvtxt_out *out, struct nvtxt_slice text);

// ---- Protocol Buffers (protobuf.c) --------------------------------------------------------------
//
// Messages in their wire form (https://protobuf.dev/programming-guides/encoding): each function
// adds one field. It knows no schema: the caller has the numbers of the fields, from 1 to 2^29 - 1.

// An unsigned integer, an enum or a bool. A signed one (int32, int64) is cast from int64_t.
void nvtxt_pb_uint(struct nvtxt_out *out, unsigned field, uint64_t value);

void nvtxt_pb_fixed(struct nvtxt_out *out, unsigned field, uint64_t value); // fixed64
void nvtxt_pb_double(struct nvtxt_out *out, unsigned field, double value);

// A string: what is not UTF-8 becomes U+FFFD.
void nvtxt_pb_string(struct nvtxt_out *out, unsigned field, struct nvtxt_slice text);

// A message, or bytes whose length is not known yet: begins it, and ends it with what was begun.
// Only for outputs that grow (fd -1). They nest.
size_t nvtxt_pb_begin(struct nvtxt_out *out, unsigned field);
void nvtxt_pb_end(struct nvtxt_out *out, size_t begun);
