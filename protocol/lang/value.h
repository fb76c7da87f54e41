// SPDX-License-Identifier: Apache-2.0
//
// A value of the language: a String or an Integer (nvtxt(5), "Tokens"); and the forms that a String
// may have: a word, or a decimal number for Payload.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

enum nvtxt_value_type { NVTXT_INTEGER, NVTXT_STRING };

struct nvtxt_value {
    enum nvtxt_value_type type;
    int64_t integer;           // INTEGER
    struct nvtxt_slice string; // STRING; valid UTF-8 without NUL
};

#define NVTXT_INTEGER_TEXT 20 // longest decimal form of an Int64

// Writes the decimal digits of `integer`; returns their number, at most NVTXT_INTEGER_TEXT.
size_t nvtxt_integer_text(int64_t integer, char *out);

// -?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?
bool nvtxt_is_decimal(struct nvtxt_slice text);

// Reads such a number as a double, correctly rounded; a number too large
// for a double becomes infinite. Returns 0, NVTXT_WRONG for any other text, or -ENOMEM (long texts
// only).
int nvtxt_decimal_parse(struct nvtxt_slice text, double *value);

// A number with its type, as Payload takes it with the extension `nvtx`.
enum nvtxt_number_type {
    NVTXT_U64,
    NVTXT_I64,
    NVTXT_U32,
    NVTXT_I32,
    NVTXT_F64,
    NVTXT_F32,
};

struct nvtxt_number {
    enum nvtxt_number_type type;
    union {
        int64_t integer; // of U64 its two's complement
        double real;     // F64, F32: rounded to a float
    };
};

// Reads "u64:", "i64:", "u32:" or "i32:" and decimal digits ('-' with i) within the range of the
// type, or "f64:" or "f32:" and a decimal number, "inf", "-inf" or "nan". Returns 0, NVTXT_WRONG
// for any other text, or -ENOMEM.
int nvtxt_number_parse(struct nvtxt_slice text, struct nvtxt_number *number);

// Reads 0x and 1 to 16 hexadecimal digits. False for any other text.
bool nvtxt_handle_parse(struct nvtxt_slice text, uint64_t *handle);

// [A-Za-z_][A-Za-z0-9_]*
bool nvtxt_is_word(struct nvtxt_slice text);

#define NVTXT_JSON_DEPTH 64 // arrays and objects within each other

// Whether a text is one JSON value (RFC 8259), for the argument Json. Nothing is built and nothing
// is allocated: the interpreter only hands the text on. All of `text` is UTF-8. Returns NULL for
// one JSON value with blanks round it, else a sentence fragment that says what is wrong, with `*at`
// set to the byte where (from 0).
const char *nvtxt_json_fault(struct nvtxt_slice text, size_t *at);
