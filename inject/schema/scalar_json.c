// SPDX-License-Identifier: Apache-2.0
//
// A table says how the bits of each type are taken. Floats that C has no type for are widened by
// hand, by their exponent and their fraction.
#include "inject/schema/json_out.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "inject/schema/schema.h"

enum reading {
    READ_NONE,
    READ_SIGNED,
    READ_UNSIGNED,
    READ_CHAR,
    READ_FLOAT,
    READ_ADDRESS,
    READ_HEX
};

static enum reading reading_of(uint64_t type) {
    static const uint8_t readings[] = {
        [ABI_TYPE_CHAR] = CHAR_MIN < 0 ? READ_SIGNED : READ_UNSIGNED,
        [ABI_TYPE_UCHAR] = READ_UNSIGNED,
        [ABI_TYPE_SHORT] = READ_SIGNED,
        [ABI_TYPE_USHORT] = READ_UNSIGNED,
        [ABI_TYPE_INT] = READ_SIGNED,
        [ABI_TYPE_UINT] = READ_UNSIGNED,
        [ABI_TYPE_LONG] = READ_SIGNED,
        [ABI_TYPE_ULONG] = READ_UNSIGNED,
        [ABI_TYPE_LONG_LONG] = READ_SIGNED,
        [ABI_TYPE_ULONG_LONG] = READ_UNSIGNED,
        [ABI_TYPE_INT8] = READ_SIGNED,
        [ABI_TYPE_UINT8] = READ_UNSIGNED,
        [ABI_TYPE_INT16] = READ_SIGNED,
        [ABI_TYPE_UINT16] = READ_UNSIGNED,
        [ABI_TYPE_INT32] = READ_SIGNED,
        [ABI_TYPE_UINT32] = READ_UNSIGNED,
        [ABI_TYPE_INT64] = READ_SIGNED,
        [ABI_TYPE_UINT64] = READ_UNSIGNED,
        [ABI_TYPE_FLOAT] = READ_FLOAT,
        [ABI_TYPE_DOUBLE] = READ_FLOAT,
        [ABI_TYPE_LONG_DOUBLE] = READ_FLOAT,
        [ABI_TYPE_SIZE] = READ_UNSIGNED,
        [ABI_TYPE_ADDRESS] = READ_ADDRESS,
        [ABI_TYPE_WCHAR] = READ_CHAR,
        [ABI_TYPE_CHAR8] = READ_CHAR,
        [ABI_TYPE_CHAR16] = READ_CHAR,
        [ABI_TYPE_CHAR32] = READ_CHAR,
        [ABI_TYPE_BYTE] = READ_HEX,
        [ABI_TYPE_INT128] = READ_SIGNED,
        [ABI_TYPE_UINT128] = READ_UNSIGNED,
        [ABI_TYPE_FLOAT16] = READ_FLOAT,
        [ABI_TYPE_FLOAT32] = READ_FLOAT,
        [ABI_TYPE_FLOAT64] = READ_FLOAT,
        [ABI_TYPE_FLOAT128] = READ_FLOAT,
        [ABI_TYPE_BF16] = READ_FLOAT,
        [ABI_TYPE_TF32] = READ_FLOAT,
        [ABI_TYPE_RANGE_ID] = READ_UNSIGNED,
        [ABI_TYPE_CATEGORY] = READ_UNSIGNED,
        [ABI_TYPE_COLOR] = READ_UNSIGNED,
        [ABI_TYPE_SCOPE] = READ_UNSIGNED,
        [ABI_TYPE_PID32] = READ_UNSIGNED,
        [ABI_TYPE_PID64] = READ_UNSIGNED,
        [ABI_TYPE_TID32] = READ_UNSIGNED,
        [ABI_TYPE_TID64] = READ_UNSIGNED,
    };
    return type < sizeof(readings) ? readings[type] : READ_NONE;
}

uint64_t scalar_bits(const char *at, size_t size) {
    uint64_t bits = 0;
    memcpy((char *)&bits + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(bits) - size : 0), at,
           size);
    return bits;
}

static int64_t sign_extended(uint64_t bits, size_t size) {
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return (int64_t)((bits ^ sign) - sign);
}

static void add_128(struct json_out *out, const char *at, bool is_signed) {
    uint64_t halves[2];
    memcpy(halves, at, sizeof(halves));
    uint64_t low = halves[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__],
             high = halves[0] ^ halves[1] ^ low;
    if (is_signed && high >> 63) {
        json_out_string(out, "-");
        low = 0 - low;
        high = ~high + (low == 0);
    }
    json_out_u128(out, high, low);
}

static void add_integer(struct json_out *out, const char *at, size_t size, bool is_signed) {
    if (size == 16) {
        add_128(out, at, is_signed);
    } else if (is_signed) {
        json_out_i64(out, sign_extended(scalar_bits(at, size), size));
    } else {
        json_out_u64(out, scalar_bits(at, size));
    }
}

// ---- Floats -------------------------------------------------------------------------------------

static float half(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    float fraction = (float)(bits & 0x3FF) / 1024;
    float value = exponent == 31  ? (bits & 0x3FF ? NAN : INFINITY)
                  : exponent == 0 ? ldexpf(fraction, -14)
                                  : ldexpf(1 + fraction, exponent - 15);
    return bits >> 15 ? -value : value;
}

static float bfloat(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof(value));
    return value;
}

// To the nearest double below, of its fraction of 112 bits 53 count.
static double quadruple(const char *at) {
    uint64_t halves[2];
    memcpy(halves, at, sizeof(halves));
    uint64_t high = halves[__BYTE_ORDER__ != __ORDER_BIG_ENDIAN__],
             low = halves[0] ^ halves[1] ^ high;
    int exponent = (int)(high >> 48 & 0x7FFF);
    uint64_t fraction = (high & 0xFFFFFFFFFFFF) << 4 | low >> 60;
    double value = exponent == 0x7FFF ? (fraction | low << 4 ? (double)NAN : (double)INFINITY)
                   : exponent == 0    ? 0
                                      : ldexp(1 + ldexp((double)fraction, -52), exponent - 16383);
    return high >> 63 ? -value : value;
}

static bool is_single(uint64_t type) {
    return type != ABI_TYPE_DOUBLE && type != ABI_TYPE_FLOAT64 && type != ABI_TYPE_LONG_DOUBLE &&
           type != ABI_TYPE_FLOAT128;
}

static double read_float(uint64_t type, const char *at) {
    float single;
    double twice;
    long double extended;
    switch (type) {
    case ABI_TYPE_DOUBLE:
    case ABI_TYPE_FLOAT64:
        memcpy(&twice, at, sizeof(twice));
        return twice;
    case ABI_TYPE_LONG_DOUBLE:
        memcpy(&extended, at, sizeof(extended));
        return (double)extended;
    case ABI_TYPE_FLOAT128:
        return quadruple(at);
    case ABI_TYPE_FLOAT16:
        return (double)half((uint16_t)scalar_bits(at, 2));
    case ABI_TYPE_BF16:
        return (double)bfloat((uint16_t)scalar_bits(at, 2));
    default:
        memcpy(&single, at, sizeof(single));
        return (double)single;
    }
}

static void add_float(struct json_out *out, uint64_t type, const char *at) {
    double value = read_float(type, at);
    if (is_single(type)) {
        json_out_f32(out, (float)value);
    } else {
        json_out_f64(out, value);
    }
}

// ---- All of them --------------------------------------------------------------------------------

void scalar_json(struct json_out *out, uint64_t type, const char *at) {
    size_t size = schema_type_shape(type).size;
    switch (reading_of(type)) {
    case READ_SIGNED:
        add_integer(out, at, size, true);
        break;
    case READ_UNSIGNED:
        add_integer(out, at, size, false);
        break;
    case READ_CHAR:
        json_out_units(out, (struct code_units){at, 1, (unsigned)size});
        break;
    case READ_FLOAT:
        add_float(out, type, at);
        break;
    case READ_ADDRESS:
        json_out_address(out, scalar_bits(at, size));
        break;
    case READ_HEX:
        json_out_hex(out, at, size);
        break;
    case READ_NONE:
        json_out_string(out, "null");
    }
}

bool scalar_length(uint64_t type, const char *at, uint64_t *length) {
    enum reading reading = reading_of(type);
    size_t size = schema_type_shape(type).size;
    if ((reading != READ_SIGNED && reading != READ_UNSIGNED) || size > 8) {
        return false;
    }
    *length = scalar_bits(at, size);
    if (reading == READ_SIGNED && sign_extended(*length, size) < 0) {
        *length = 0;
    }
    return true;
}

bool scalar_value(uint64_t type, const char *at, struct nvtxt_attr *attr) {
    enum reading reading = reading_of(type);
    size_t size = schema_type_shape(type).size;
    if (reading == READ_FLOAT) {
        attr->value_kind = NVTXT_F64;
        attr->value.f64 = read_float(type, at);
        return true;
    }
    if ((reading != READ_SIGNED && reading != READ_UNSIGNED) || size > 8) {
        return false;
    }
    attr->value.u64 = scalar_bits(at, size);
    if (reading == READ_SIGNED) {
        attr->value.i64 = sign_extended(attr->value.u64, size);
    }
    bool is_signed = reading == READ_SIGNED || attr->value.u64 <= INT64_MAX;
    attr->value_kind = is_signed ? NVTXT_I64 : NVTXT_U64;
    return true;
}

bool scalar_is_char(uint64_t type) {
    return type == ABI_TYPE_CHAR || reading_of(type) == READ_CHAR;
}
