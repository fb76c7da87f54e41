// SPDX-License-Identifier: Apache-2.0
//
// JSON (RFC 8259) into memory of a fixed size. What does not fit is not written, and from then on
// nothing is: `is_full` tells. Without `data` it is only counted. Numbers are written as a reader
// gets the same value back.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/nvtxt.h"

// Texts as programs have them: code units of 1 byte (UTF-8), 2 (UTF-16) or 4 (UTF-32), at any
// address. Whatever is no character becomes U+FFFD.
struct code_units {
    const char *at;
    size_t count; // at most so many; a unit that is 0 ends it before
    unsigned width;
};

// Takes the next character; writes its UTF-8, 1 to 4 bytes, to `utf8`. Returns their number, 0 at
// the end. Nothing after the end is read.
size_t code_units_next(struct code_units *text, char utf8[4]);

// Writes the text as UTF-8 with a NUL, cut at a character to less than `room` bytes.
void code_units_copy(struct code_units text, char *to, size_t room);

// How many units there are before the end.
size_t code_units_len(struct code_units text);

// ---- JSON ---------------------------------------------------------------------------------------

struct json_out {
    char *data;
    size_t room, len;
    bool is_full;
};

void json_out_bytes(struct json_out *out, const char *bytes, size_t len);
void json_out_string(struct json_out *out, const char *literal); // as it is: "null", ","
void json_out_u64(struct json_out *out, uint64_t value);
void json_out_i64(struct json_out *out, int64_t value);
void json_out_u128(struct json_out *out, uint64_t high, uint64_t low);
// The shortest digits that are this value again. NaN is null, infinite is 9e999 or -9e999.
void json_out_f64(struct json_out *out, double value);
void json_out_f32(struct json_out *out, float value);
void json_out_address(struct json_out *out, uint64_t address);              // "0x1f"; 0: null
void json_out_hex(struct json_out *out, const void *bytes, size_t len);     // "00ff"
void json_out_units(struct json_out *out, struct code_units text);          // in quotes
void json_out_text(struct json_out *out, const char *text);                 // NULL: null
void json_out_key(struct json_out *out, const char *name, bool *has_comma); // a comma first, or not

// ---- Single values ------------------------------------------------------------------------------

// Adds the value of one of NVTX's types at `at`, where as many bytes are as schema_type_shape()
// says. Integers and floats of all widths are numbers, characters and bytes are strings; enums are
// in schema_json.
void scalar_json(struct json_out *out, uint64_t type, const char *at);

// The value of an integer type as a length; below 0 it is 0. False: the type is no integer.
bool scalar_length(uint64_t type, const char *at, uint64_t *length);

// The value of a number as one of an event. Integers are signed ones where they can be, floats are
// widened. False: the type is no number that an event may have.
bool scalar_value(uint64_t type, const char *at, struct nvtxt_attr *attr);

// The bytes of an integer of 1, 2, 4 or 8 bytes.
uint64_t scalar_bits(const char *at, size_t size);

// Whether an array of it is a text.
bool scalar_is_char(uint64_t type);
