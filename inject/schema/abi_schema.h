// SPDX-License-Identifier: Apache-2.0
//
// NVTX's binary interface of schemas, enums and their types: numbers and layouts, as inject/abi.h
// has those of the core.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "inject/abi.h"

// Of a schema's entry. One of the three kinds of arrays and the two sources of lengths at a time.
enum {
    ABI_ENTRY_POINTER = 1 << 1,
    ABI_ENTRY_OFFSET_FROM_BASE = 1 << 2,
    ABI_ENTRY_OFFSET_FROM_HERE = 1 << 3,
    ABI_ENTRY_ARRAY_SHIFT = 4,
    ABI_ENTRY_ARRAY_MASK = 7,
    ABI_ENTRY_DEEP_COPY = 1 << 8,
    ABI_ENTRY_MESSAGE = 1 << 10
};

enum abi_array {
    ABI_ARRAY_NONE,
    ABI_ARRAY_FIXED,           // `detail` elements
    ABI_ARRAY_ZERO_TERMINATED, // the last element is all zero bytes
    ABI_ARRAY_LENGTH_INDEX,    // entry `detail` holds the length or lengths
    ABI_ARRAY_LENGTH_PAYLOAD   // payload `detail` of the event does
};

enum abi_type {
    ABI_TYPE_CHAR = 1,
    ABI_TYPE_UCHAR,
    ABI_TYPE_SHORT,
    ABI_TYPE_USHORT,
    ABI_TYPE_INT,
    ABI_TYPE_UINT,
    ABI_TYPE_LONG,
    ABI_TYPE_ULONG,
    ABI_TYPE_LONG_LONG,
    ABI_TYPE_ULONG_LONG,
    ABI_TYPE_INT8,
    ABI_TYPE_UINT8,
    ABI_TYPE_INT16,
    ABI_TYPE_UINT16,
    ABI_TYPE_INT32,
    ABI_TYPE_UINT32,
    ABI_TYPE_INT64,
    ABI_TYPE_UINT64,
    ABI_TYPE_FLOAT,
    ABI_TYPE_DOUBLE,
    ABI_TYPE_LONG_DOUBLE,
    ABI_TYPE_SIZE,
    ABI_TYPE_ADDRESS,
    ABI_TYPE_WCHAR,
    ABI_TYPE_CHAR8,
    ABI_TYPE_CHAR16,
    ABI_TYPE_CHAR32,
    ABI_TYPE_BYTE = 32,
    ABI_TYPE_INT128,
    ABI_TYPE_UINT128,
    ABI_TYPE_FLOAT16 = 42,
    ABI_TYPE_FLOAT32,
    ABI_TYPE_FLOAT64,
    ABI_TYPE_FLOAT128,
    ABI_TYPE_BF16 = 50,
    ABI_TYPE_TF32 = 52,
    ABI_TYPE_RANGE_ID = 67, // not in all versions of the headers
    ABI_TYPE_CATEGORY,
    ABI_TYPE_COLOR,
    ABI_TYPE_SCOPE,
    ABI_TYPE_PID32,
    ABI_TYPE_PID64,
    ABI_TYPE_TID32,
    ABI_TYPE_TID64,
    ABI_TYPE_STRING, // of the locale; we take it as UTF-8
    ABI_TYPE_STRING_UTF8,
    ABI_TYPE_STRING_UTF16,
    ABI_TYPE_STRING_UTF32,
    ABI_TYPE_REGISTERED_STRING = 80,
    ABI_TYPE_SELECTOR = 100,
    ABI_TYPE_REFERENCED = 1022, // of a payload: others point into it
    ABI_TYPE_RAW = 1023,        // of a payload
    ABI_TYPE_OWN = 1 << 24      // numbers from here on are the program's
};

#define ABI_ID_OURS (UINT64_C(1) << 32) // numbers from here on are ours

enum {
    ABI_SCHEMA_STATIC = 1,
    ABI_SCHEMA_DYNAMIC,
    ABI_SCHEMA_UNION,
    ABI_SCHEMA_UNION_SELECTED // by a member of its own
};

// First members of what an entry or a counter means; a list.
struct abi_semantics {
    uint32_t size;
    uint16_t id, version;
    const struct abi_semantics *next;
};

struct abi_entry {
    uint64_t flags, type;
    const char *name, *description;
    uint64_t detail, offset; // offset 0: after the entry before
    const struct abi_semantics *semantics;
    const void *reserved;
};

// Bits of `fields`, each for the member of that name.
enum {
    ABI_SCHEMA_HAS_NAME = 1 << 1,
    ABI_SCHEMA_HAS_TYPE = 1 << 2,
    ABI_SCHEMA_HAS_FLAGS = 1 << 3,
    ABI_SCHEMA_HAS_ENTRIES = 1 << 4,
    ABI_SCHEMA_HAS_COUNT = 1 << 5,
    ABI_SCHEMA_HAS_SIZE = 1 << 6,
    ABI_SCHEMA_HAS_ALIGN = 1 << 7,
    ABI_SCHEMA_HAS_ID = 1 << 8
};

struct abi_schema {
    uint64_t fields;
    const char *name;
    uint64_t type, flags;
    const struct abi_entry *entries;
    size_t count, size, align;
    uint64_t id;
    void *extension;
};

struct abi_enumerator {
    const char *name;
    uint64_t value;
    int8_t is_flag;
};

enum {
    ABI_ENUM_HAS_NAME = 1 << 1,
    ABI_ENUM_HAS_ENTRIES = 1 << 2,
    ABI_ENUM_HAS_COUNT = 1 << 3,
    ABI_ENUM_HAS_SIZE = 1 << 4,
    ABI_ENUM_HAS_ID = 1 << 5
};

struct abi_enum {
    uint64_t fields;
    const char *name;
    const struct abi_enumerator *entries;
    size_t count, size;
    uint64_t id;
    void *extension;
};
