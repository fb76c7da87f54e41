// SPDX-License-Identifier: Apache-2.0
//
// A value of the language: a String or an Integer (nvtxt(5), "Tokens"); and the forms that a String
// may have: a word, or a decimal number for Payload.
#pragma once

#include <stdbool.h>
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

// Reads -?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)? as a double, correctly rounded; a number too large
// for a double becomes infinite. Returns 0, 1 for any other text, or -ENOMEM (long texts only).
int nvtxt_decimal_parse(struct nvtxt_slice text, double *value);

// [A-Za-z_][A-Za-z0-9_]*
bool nvtxt_is_word(struct nvtxt_slice text);
