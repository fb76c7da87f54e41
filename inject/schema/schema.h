// SPDX-License-Identifier: Apache-2.0
//
// A schema or an enum as we keep it: what a program registered, copied, without what its mask of
// fields leaves out. Also what is known of the types that NVTX defines.
#pragma once

#include <stdbool.h>

#include "inject/schema/abi_schema.h"

#define SCHEMA_ENTRIES_MOST 65535u
#define SCHEMA_NAME_MOST 1024u // bytes of a member's name that are kept
#define SCHEMA_SLOTS 16        // entries that may hold lengths

enum schema_kind {
    SCHEMA_STATIC = ABI_SCHEMA_STATIC,
    SCHEMA_DYNAMIC = ABI_SCHEMA_DYNAMIC,
    SCHEMA_UNION,
    SCHEMA_ENUM
};

struct schema_entry {
    uint64_t flags, type, detail, offset;
    const char *name; // NULL: none
    int8_t slot;      // where its position is kept, because others name it; -1: nowhere
};

struct schema_value {
    const char *name;
    uint64_t value;
};

struct schema {
    uint64_t id; // the program's own; 0: none
    enum schema_kind kind;
    bool is_signed;     // of an enum
    size_t size, align; // as registered; 0: not said
    size_t count;
    union {
        struct schema_entry *entries;
        struct schema_value *values; // of an enum
    };
};

// Bytes that a copy takes, 0 when `from` says nothing that can be kept; and the copy, in zeroed
// memory of so many bytes. The program does not change `from` between them.
size_t schema_bytes(const struct abi_schema *from);
struct schema *schema_copy(const struct abi_schema *from, void *memory);
size_t schema_enum_bytes(const struct abi_enum *from);
struct schema *schema_enum_copy(const struct abi_enum *from, void *memory);

// Whether they say the same, and a number that is the same then.
bool schema_equal(const struct schema *a, const struct schema *b);
uint64_t schema_hash(const struct schema *schema);

// What one value of a type takes.
struct schema_shape {
    size_t size, align;
};

// The shape of one of NVTX's types; size 0: there is none of this number. Of a string it is that of
// a code unit.
struct schema_shape schema_type_shape(uint64_t type);

static inline enum abi_array schema_array_of(uint64_t flags) {
    return (enum abi_array)(flags >> ABI_ENTRY_ARRAY_SHIFT & ABI_ENTRY_ARRAY_MASK);
}

static inline bool schema_is_string(uint64_t type) {
    return type >= ABI_TYPE_STRING && type <= ABI_TYPE_STRING_UTF32;
}
