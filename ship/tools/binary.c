// SPDX-License-Identifier: Apache-2.0
//
// A field is its length in bytes, or -1 for NULL, and its bytes, all numbers with the highest byte
// first. A time is microseconds since 2000.
#include "ship/tools/binary.h"

#include <string.h>

static const char signature[] = "PGCOPY\n\377\r\n"; // and a NUL
#define HEAD_BYTES 19
#define EPOCH_US INT64_C(946684800000000) // 2000-01-01

static int64_t number(const char *bytes, size_t len) {
    uint64_t value = len > 0 && (bytes[0] & 0x80) ? UINT64_MAX : 0;
    for (size_t i = 0; i < len; i++) {
        value = value << 8 | (unsigned char)bytes[i];
    }
    return (int64_t)value;
}

bool binary_begin(struct binary_row *row, const char *data, size_t len) {
    *row = (struct binary_row){.at = data, .left = len};
    if (len >= HEAD_BYTES && memcmp(data, signature, sizeof(signature)) == 0) {
        row->at += HEAD_BYTES;
        row->left -= HEAD_BYTES;
    }
    if (row->left < 2) {
        return false;
    }
    row->fields = (int)number(row->at, 2);
    row->at += 2;
    row->left -= 2;
    return row->fields >= 0; // -1: the end
}

// The bytes of the next field; data NULL: NULL.
static struct nvtxt_slice next(struct binary_row *row) {
    struct nvtxt_slice field = {NULL, 0};
    if (row->fields <= 0 || row->left < 4) {
        row->is_bad = true;
        return field;
    }
    int64_t len = number(row->at, 4);
    row->fields--;
    row->at += 4;
    row->left -= 4;
    if (len >= 0 && (uint64_t)len > row->left) {
        row->is_bad = true;
    } else if (len >= 0) {
        field = (struct nvtxt_slice){row->at, (size_t)len};
        row->at += len;
        row->left -= (size_t)len;
    }
    return field;
}

int64_t binary_int(struct binary_row *row, bool *is_null) {
    struct nvtxt_slice field = next(row);
    bool fits = field.len == 2 || field.len == 4 || field.len == 8;
    row->is_bad = row->is_bad || (field.data && !fits);
    if (is_null) {
        *is_null = !field.data || !fits;
    }
    return field.data && fits ? number(field.data, field.len) : 0;
}

double binary_double(struct binary_row *row, bool *is_null) {
    bool none;
    double value = 0;
    int64_t bits = binary_int(row, &none);
    memcpy(&value, &bits, sizeof(value));
    if (is_null) {
        *is_null = none;
    }
    return none ? 0 : value;
}

bool binary_bool(struct binary_row *row) {
    struct nvtxt_slice field = next(row);
    return field.len == 1 && field.data[0];
}

struct nvtxt_slice binary_text(struct binary_row *row) {
    return next(row);
}

int64_t binary_time(struct binary_row *row, bool *is_null) {
    int64_t us = binary_int(row, is_null);
    int64_t ns;
    if (is_null && *is_null) {
        return 0;
    }
    if (__builtin_add_overflow(us, EPOCH_US, &us) || __builtin_mul_overflow(us, 1000, &ns)) {
        row->is_bad = true; // infinity, for one
        return 0;
    }
    return ns;
}

bool binary_end(const struct binary_row *row) {
    return !row->is_bad && row->fields == 0 && row->left == 0;
}
