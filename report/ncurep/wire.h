// SPDX-License-Identifier: Apache-2.0
//
// The wire format of Protocol Buffers, field by field, in place: nothing is copied or allocated. A
// field whose number the caller does not know is passed over by asking for the next one.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"

#define REPORT_WIRE_DEPTH 32 // of groups in each other

enum report_wire_type {
    REPORT_WIRE_VARINT = 0,
    REPORT_WIRE_FIXED64 = 1,
    REPORT_WIRE_BYTES = 2, // a text or a message
    REPORT_WIRE_GROUP = 3, // passed over with all that is in it
    REPORT_WIRE_FIXED32 = 5,
};

struct report_wire_field {
    uint32_t number; // from 1
    enum report_wire_type type;
    uint64_t value;           // of VARINT, FIXED64, FIXED32
    struct nvtxt_slice bytes; // of BYTES; borrowed from the message
};

struct report_wire {
    const char *at, *end;
    const char *what; // set by REPORT_WIRE_BROKEN; lives for ever. `at` is the place then
};

static inline struct report_wire report_wire_of(struct nvtxt_slice message) {
    return (struct report_wire){message.data, message.data ? message.data + message.len : NULL,
                                NULL};
}

enum report_wire_result {
    REPORT_WIRE_END = 0,
    REPORT_WIRE_FIELD = 1,
    REPORT_WIRE_BROKEN = 2, // the message is cut or is none
};

enum report_wire_result report_wire_next(struct report_wire *wire, struct report_wire_field *field);

// The next field that is a text or a message of that number; false at the end, and where the
// message is broken.
bool report_wire_find(struct report_wire *wire, uint32_t number, struct nvtxt_slice *bytes);

// A text or a message as the place of its length, counted from `base`, and the same read again. All
// bytes of a number but the last have the high bit, and so the tag before it ends without.
static inline uint32_t report_wire_place(const char *base, struct nvtxt_slice bytes) {
    const char *at = bytes.data - 1;
    while (at[-1] & 0x80) {
        at--;
    }
    return (uint32_t)(at - base);
}
struct nvtxt_slice report_wire_at(const char *base, uint32_t place);

// The last number of that field; false: there is none.
bool report_wire_number(struct nvtxt_slice message, uint32_t number, uint64_t *value);

// The last text of that field; false: there is none.
bool report_wire_text(struct nvtxt_slice message, uint32_t number, struct nvtxt_slice *text);

// A varint that stands for an int32 or an int64.
static inline int64_t report_wire_signed(uint64_t value) {
    return value <= INT64_MAX ? (int64_t)value : -(int64_t)(UINT64_MAX - value) - 1;
}
