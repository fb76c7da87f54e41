// SPDX-License-Identifier: Apache-2.0
//
// report/text: the files of sections and rules: where they are found, the text format of Protocol
// Buffers, in which they are written, and messages about them. It owns the paths and the texts of
// messages; what it reads goes into an arena of the caller. One thread. It knows no section and no
// rule.
//
// This header says how a message of the format becomes a struct: one constant table of fields per
// message drives the parser, its "did you mean", and the manual pages. The struct begins with its
// place; then each field has a member:
//
//   a field that is ...     singular                 repeated
//   a scalar                struct report_scalar     struct report_list of struct report_scalar *
//   a message               a pointer; NULL: none    struct report_list of pointers to structs
#pragma once

#include "protocol/base/slice.h"
#include "report/text/message.h"

struct report_scalar {
    struct report_place at; // of the value; line 0: the field is not there
    union {
        struct nvtxt_slice text; // STRING; UTF-8, a NUL stands after it
        int64_t integer;         // UINT32, INT64, BOOL (0, 1), ENUM (its number), ARCH
        double real;             // DOUBLE
    };
    bool plain; // STRING: one literal without escapes; see report_place_in()
};

struct report_list {
    void **items;
    size_t count, room;
};

enum report_field_type {
    REPORT_FIELD_STRING,
    REPORT_FIELD_UINT32,
    REPORT_FIELD_INT64,
    REPORT_FIELD_DOUBLE,
    REPORT_FIELD_BOOL,
    REPORT_FIELD_ENUM,
    REPORT_FIELD_ARCH, // CC_70 or 70
    REPORT_FIELD_MESSAGE,
    REPORT_FIELD_SKIPPED, // anything, brace by brace; a scalar that has only its place
};

struct report_enum_value {
    const char *name; // NULL: the end of the table
    int64_t number;
};

struct report_message_type;

struct report_field {
    const char *name; // NULL: the end of the table
    unsigned number;  // in the definitions of Nsight Compute; 0: none is known
    enum report_field_type type;
    bool required, repeated;
    size_t offset; // of the member
    union {
        const struct report_message_type *message; // MESSAGE
        const struct report_enum_value *values;    // ENUM
    };
};

struct report_message_type {
    const char *name;
    size_t size; // of the struct
    const struct report_field *fields;
    size_t field_count;
};

// The place of a byte of a string; that of the string when it cannot be told.
static inline struct report_place report_place_in(const struct report_scalar *string,
                                                  size_t offset) {
    struct report_place at = string->at;
    at.column += string->plain ? (uint32_t)offset + 1 : 0;
    return at;
}

static inline bool report_has(const struct report_scalar *scalar) {
    return scalar->at.line > 0;
}
