// SPDX-License-Identifier: Apache-2.0
//
// Bytes are added whole or not at all, so what is there is never half a character or number. printf
// writes floats with the decimal point of the program's locale, and a value is read back in the
// same locale; a JSON number has a full stop.
#include "inject/schema/json_out.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_out_bytes(struct json_out *out, const char *bytes, size_t len) {
    if (out->is_full || len > out->room - out->len) {
        out->is_full = true;
        return;
    }
    if (out->data) {
        memcpy(out->data + out->len, bytes, len);
    }
    out->len += len;
}

void json_out_string(struct json_out *out, const char *literal) {
    json_out_bytes(out, literal, strlen(literal));
}

void json_out_u64(struct json_out *out, uint64_t value) {
    json_out_u128(out, 0, value);
}

void json_out_i64(struct json_out *out, int64_t value) {
    if (value < 0) {
        json_out_string(out, "-");
    }
    json_out_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

// In four digits of 32 bits, because not every machine has an integer of 128.
void json_out_u128(struct json_out *out, uint64_t high, uint64_t low) {
    uint32_t limbs[] = {(uint32_t)(high >> 32), (uint32_t)high, (uint32_t)(low >> 32),
                        (uint32_t)low};
    char digits[40];
    size_t at = sizeof(digits);
    do {
        uint64_t rest = 0;
        for (size_t i = 0; i < 4; i++) {
            rest = rest << 32 | limbs[i];
            limbs[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        digits[--at] = (char)('0' + rest);
    } while (limbs[0] | limbs[1] | limbs[2] | limbs[3]);
    json_out_bytes(out, digits + at, sizeof(digits) - at);
}

static void add_number(struct json_out *out, const char *number) {
    char json[40];
    size_t len = 0;
    for (bool was_point = false; *number && len < sizeof(json); number++) {
        bool is_point = !strchr("0123456789+-e", *number); // of several bytes in some locales
        if (!is_point || !was_point) {
            json[len++] = is_point ? '.' : *number;
        }
        was_point = is_point;
    }
    json_out_bytes(out, json, len);
}

static bool add_special(struct json_out *out, double value) {
    if (isfinite(value)) {
        return false;
    }
    json_out_string(out, isnan(value) ? "null" : value < 0 ? "-9e999" : "9e999");
    return true;
}

#define PLACES 6
#define SCALE 1e6

// Most values are short decimals. An integer of at most 53 bits by SCALE is rounded as a reader
// rounds the digits, so to compare is enough, and many times as fast as printf.
static bool add_decimal(struct json_out *out, double value, bool is_single) {
    double scaled = value * SCALE;
    if (!(fabs(scaled) < 9e15) || (value == 0 && signbit(value))) {
        return false;
    }
    int64_t whole = (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    double back = (double)whole / SCALE;
    if (is_single ? (float)back != (float)value : back != value) {
        return false;
    }
    uint64_t digits = whole < 0 ? (uint64_t)-whole : (uint64_t)whole;
    char fraction[PLACES + 1] = {'.'};
    size_t len = 0;
    for (size_t i = PLACES; i > 0; i--, digits /= 10) {
        fraction[i] = (char)('0' + digits % 10);
        len = len == 0 && fraction[i] != '0' ? i + 1 : len;
    }
    json_out_string(out, whole < 0 ? "-" : "");
    json_out_u64(out, digits);
    json_out_bytes(out, fraction, len);
    return true;
}

void json_out_f64(struct json_out *out, double value) {
    char number[40];
    if (add_special(out, value) || add_decimal(out, value, false)) {
        return;
    }
    for (int digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(number, sizeof(number), "%.*g", digits, value);
        double back = strtod(number, NULL);
        if (memcmp(&back, &value, sizeof(value)) == 0) {
            break;
        }
    }
    add_number(out, number);
}

void json_out_f32(struct json_out *out, float value) {
    char number[40];
    if (add_special(out, (double)value) || add_decimal(out, (double)value, true)) {
        return;
    }
    for (int digits = FLT_DIG; digits <= FLT_DECIMAL_DIG; digits++) {
        snprintf(number, sizeof(number), "%.*g", digits, (double)value);
        float back = strtof(number, NULL);
        if (memcmp(&back, &value, sizeof(value)) == 0) {
            break;
        }
    }
    add_number(out, number);
}

void json_out_address(struct json_out *out, uint64_t address) {
    char text[24];
    snprintf(text, sizeof(text), "\"0x%" PRIx64 "\"", address);
    json_out_string(out, address ? text : "null");
}

void json_out_hex(struct json_out *out, const void *bytes, size_t len) {
    json_out_string(out, "\"");
    for (size_t i = 0; i < len && !out->is_full; i++) {
        unsigned char byte = ((const unsigned char *)bytes)[i];
        char digits[2] = {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
        json_out_bytes(out, digits, 2);
    }
    json_out_string(out, "\"");
}

static void add_control(struct json_out *out, char c) {
    static const char *const short_ones[] = {
        ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r"};
    char escape[8];
    unsigned code = (unsigned char)c;
    if (code < sizeof(short_ones) / sizeof(*short_ones) && short_ones[code]) {
        json_out_string(out, short_ones[code]);
        return;
    }
    snprintf(escape, sizeof(escape), "\\u%04x", code);
    json_out_string(out, escape);
}

void json_out_units(struct json_out *out, struct code_units text) {
    char utf8[4];
    json_out_string(out, "\"");
    for (size_t n; !out->is_full && (n = code_units_next(&text, utf8));) {
        if ((unsigned char)utf8[0] < 0x20) {
            add_control(out, utf8[0]);
        } else {
            if (utf8[0] == '"' || utf8[0] == '\\') {
                json_out_string(out, "\\");
            }
            json_out_bytes(out, utf8, n);
        }
    }
    json_out_string(out, "\"");
}

void json_out_text(struct json_out *out, const char *text) {
    if (text) {
        json_out_units(out, (struct code_units){text, SIZE_MAX, 1});
    } else {
        json_out_string(out, "null");
    }
}

void json_out_key(struct json_out *out, const char *name, bool *has_comma) {
    json_out_string(out, *has_comma ? "," : "");
    *has_comma = true;
    json_out_text(out, name);
    json_out_string(out, ":");
}
