// SPDX-License-Identifier: Apache-2.0
//
// JSON (RFC 8259) into memory of a fixed size. What does not fit is not written, and from then on
// nothing is: `is_full` tells. Without `data` it is only counted. Numbers are written as a reader
// gets the same value back.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/schema/code_units.h"

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
