// SPDX-License-Identifier: Apache-2.0
//
// Each form is checked by hand, byte by byte. strtod() and strtof() only convert what is known to
// be a decimal number: they round correctly.
#include "protocol/lang/value.h"

#include <math.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/base/scan.h"

#define USUAL_DECIMAL_BYTES 128 // longer ones are copied to the heap

size_t nvtxt_integer_text(int64_t integer, char *out) {
    char digits[NVTXT_INTEGER_TEXT];
    size_t count = 0, written = 0;
    uint64_t rest = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (integer < 0) {
        out[written++] = '-';
    }
    while (count > 0) {
        out[written++] = digits[--count];
    }
    return written;
}

static size_t skip_digits(struct nvtxt_slice text, size_t i) {
    while (i < text.len && nvtxt_char_is(text.data[i], NVTXT_CHAR_DIGIT)) {
        i++;
    }
    return i;
}

bool nvtxt_is_decimal(struct nvtxt_slice text) {
    size_t i = text.len > 0 && text.data[0] == '-' ? 1 : 0;
    size_t begin = i;
    i = skip_digits(text, i);
    if (i == begin) {
        return false;
    }
    if (i < text.len && text.data[i] == '.') {
        begin = ++i;
        i = skip_digits(text, i);
        if (i == begin) {
            return false;
        }
    }
    if (i < text.len && (text.data[i] == 'e' || text.data[i] == 'E')) {
        i++;
        if (i < text.len && (text.data[i] == '+' || text.data[i] == '-')) {
            i++;
        }
        begin = i;
        i = skip_digits(text, i);
        if (i == begin) {
            return false;
        }
    }
    return i == text.len;
}

// `narrow`: rounded once, to a float.
static int parse_decimal(struct nvtxt_slice text, bool narrow, double *value) {
    if (!nvtxt_is_decimal(text)) {
        return NVTXT_WRONG;
    }
    char usual[USUAL_DECIMAL_BYTES];
    char *copy = text.len < sizeof(usual) ? usual : malloc(text.len + 1);
    if (!copy) {
        return nvtxt_origin(-ENOMEM);
    }
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    // The form is checked above, so the only thing that a locale could change is the point; no
    // program of this project calls setlocale(), so it is '.'.
    *value = narrow ? (double)strtof(copy, NULL) : strtod(copy, NULL);
    if (copy != usual) {
        free(copy);
    }
    return 0;
}

int nvtxt_decimal_parse(struct nvtxt_slice text, double *value) {
    return parse_decimal(text, false, value);
}

static int parse_real(struct nvtxt_slice text, bool narrow, double *value) {
    if (nvtxt_slice_equal(text, NVTXT_SLICE("inf"))) {
        *value = HUGE_VAL;
    } else if (nvtxt_slice_equal(text, NVTXT_SLICE("-inf"))) {
        *value = -HUGE_VAL;
    } else if (nvtxt_slice_equal(text, NVTXT_SLICE("nan"))) {
        *value = (double)NAN;
    } else {
        return parse_decimal(text, narrow, value);
    }
    return 0;
}

// Decimal digits of a magnitude of at most `most`.
static bool parse_digits(struct nvtxt_slice text, uint64_t most, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(unsigned char)text.data[i] - '0';
        if (digit > 9 || *value > (most - digit) / 10) {
            return false;
        }
        *value = *value * 10 + digit;
    }
    return text.len > 0;
}

static int parse_integer(struct nvtxt_slice text, enum nvtxt_number_type type, int64_t *value) {
    bool is_signed = type == NVTXT_I64 || type == NVTXT_I32;
    bool negative = is_signed && text.len > 0 && text.data[0] == '-';
    uint64_t most = type == NVTXT_U64   ? UINT64_MAX
                    : type == NVTXT_U32 ? UINT32_MAX
                    : type == NVTXT_I64 ? (uint64_t)INT64_MAX + negative
                                        : (uint64_t)INT32_MAX + negative;
    uint64_t magnitude;
    text = (struct nvtxt_slice){text.data + negative, text.len - negative};
    if (!parse_digits(text, most, &magnitude)) {
        return NVTXT_WRONG;
    }
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return 0;
}

int nvtxt_number_parse(struct nvtxt_slice text, struct nvtxt_number *number) {
    static const char prefixes[][5] = {
        [NVTXT_U64] = "u64:", [NVTXT_I64] = "i64:", [NVTXT_U32] = "u32:",
        [NVTXT_I32] = "i32:", [NVTXT_F64] = "f64:", [NVTXT_F32] = "f32:",
    };
    for (int type = NVTXT_U64; text.len > 4 && type <= NVTXT_F32; type++) {
        if (memcmp(text.data, prefixes[type], 4) != 0) {
            continue;
        }
        struct nvtxt_slice digits = {text.data + 4, text.len - 4};
        number->type = (enum nvtxt_number_type)type;
        return type >= NVTXT_F64 ? parse_real(digits, type == NVTXT_F32, &number->real)
                                 : parse_integer(digits, number->type, &number->integer);
    }
    return NVTXT_WRONG;
}

bool nvtxt_handle_parse(struct nvtxt_slice text, uint64_t *handle) {
    if (text.len < 3 || text.len > 18 || memcmp(text.data, "0x", 2) != 0) {
        return false;
    }
    *handle = 0;
    for (size_t i = 2; i < text.len; i++) {
        if (!nvtxt_char_is(text.data[i], NVTXT_CHAR_HEX)) {
            return false;
        }
        *handle = *handle << 4 | nvtxt_hex_digit(text.data[i]);
    }
    return true;
}

bool nvtxt_is_word(struct nvtxt_slice text) {
    if (text.len == 0 || !nvtxt_char_is(text.data[0], NVTXT_CHAR_WORD_START)) {
        return false;
    }
    for (size_t i = 1; i < text.len; i++) {
        if (!nvtxt_char_is(text.data[i], NVTXT_CHAR_WORD)) {
            return false;
        }
    }
    return true;
}
