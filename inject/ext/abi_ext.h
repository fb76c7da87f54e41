// SPDX-License-Identifier: Apache-2.0
//
// The binary interface of NVTX's extensions, as inject/abi.h has that of the core: layouts and
// numbers, written down so that no NVTX header is needed. That of schemas is in inject/schema.
// Tests compare them with the real headers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "inject/schema/abi_schema.h"

// ---- Payloads -----------------------------------------------------------------------------------

struct abi_scope {
    size_t size;
    const char *path;
    uint64_t parent, id;
};

enum {
    ABI_PAYLOAD_SCHEMA_REGISTER,
    ABI_PAYLOAD_ENUM_REGISTER,
    ABI_PAYLOAD_MARK,
    ABI_PAYLOAD_RANGE_PUSH,
    ABI_PAYLOAD_RANGE_POP,
    ABI_PAYLOAD_RANGE_START,
    ABI_PAYLOAD_RANGE_END,
    ABI_PAYLOAD_DOMAIN_IS_ENABLED,
    ABI_PAYLOAD_TIMESTAMP_GET,
    ABI_PAYLOAD_TIME_DOMAIN_REGISTER,
    ABI_PAYLOAD_TIMER_SOURCE,
    ABI_PAYLOAD_TIMER_SOURCE_DATA,
    ABI_PAYLOAD_SCOPE_REGISTER,
    ABI_PAYLOAD_TIME_SYNC_POINT,
    ABI_PAYLOAD_TIME_SYNC_TABLE,
    ABI_PAYLOAD_TIME_FACTOR,
    ABI_PAYLOAD_EVENT_SUBMIT,
    ABI_PAYLOAD_EVENT_BATCH_SUBMIT,
    ABI_PAYLOAD_COUNT
};

#define ABI_PAYLOAD_COMPAT 0x0104

struct abi_time_domain {
    uint64_t scope, timestamp_type, id, flags;
    int64_t resolution;
    uint64_t start;
};

struct abi_event_batch {
    uint64_t schema;
    size_t size;
    const void *events;
    uint64_t scope, flags;
    const void *flex;
    size_t flex_size, flex_offset;
};

// ---- Counters -----------------------------------------------------------------------------------

struct abi_counter {
    size_t size;
    uint64_t schema; // number type, or the layout of a group
    const char *name, *description;
    uint64_t scope;
    const struct abi_semantics *semantics;
    uint64_t id; // 0: ours
};

#define ABI_SEMANTICS_COUNTER 5

enum {
    ABI_COUNTER_NORMALIZE = 1 << 1,
    ABI_COUNTER_LIMIT_MIN = 1 << 2,
    ABI_COUNTER_LIMIT_MAX = 1 << 3,
    ABI_COUNTER_VALUE_SHIFT = 4, // 2 bits: absolute, delta, delta since the start
    ABI_COUNTER_DRAW_SHIFT = 8   // 3 bits: point, since last, until next, linear
};

enum { ABI_LIMIT_NONE, ABI_LIMIT_I64, ABI_LIMIT_U64, ABI_LIMIT_F64 };

union abi_limit {
    int64_t i64;
    uint64_t u64;
    double f64;
};

struct abi_counter_semantics {
    struct abi_semantics head;
    uint64_t flags;
    const char *unit;
    uint64_t numerator, denominator;
    int64_t limit_type;
    union abi_limit min, max;
};

struct abi_counter_batch {
    uint64_t id;
    const void *samples;
    size_t size; // bytes of all
    uint64_t flags;
    const int64_t *times;
    size_t times_size;
};

enum {
    ABI_COUNTER_REGISTER,
    ABI_COUNTER_SAMPLE_I64,
    ABI_COUNTER_SAMPLE_F64,
    ABI_COUNTER_SAMPLE,
    ABI_COUNTER_SAMPLE_NO_VALUE,
    ABI_COUNTER_BATCH_SUBMIT,
    ABI_COUNTER_COUNT
};

#define ABI_COUNTERS_COMPAT 0x0102

// ---- Memory -------------------------------------------------------------------------------------

struct abi_memory_range {
    size_t size;
    const void *at;
};

enum { ABI_MEMORY_VIRTUAL = 1 }; // its description is a range

struct abi_heap {
    uint16_t compat, size;
    uint32_t reserved, usage, type;
    size_t description_size;
    const void *description;
    uint32_t category, message_type;
    union abi_message message;
};

struct abi_regions {
    uint16_t compat, size;
    uint32_t type;
    void *heap;
    size_t count, element_size;
    const void *elements;
    void **handles; // out; may be NULL
};

enum { ABI_REGION_POINTER = 1, ABI_REGION_HANDLE };

struct abi_region_name {
    uint32_t region_type, message_type;
    const void *region;
    union abi_message message;
    uint32_t category, reserved;
};

struct abi_region_names {
    uint16_t compat, size;
    uint32_t reserved0;
    size_t count, element_size;
    const struct abi_region_name *elements;
    size_t reserved1;
};

// What is passed on to a library behind us only, or has handles in it.
struct abi_regions_resize {
    uint16_t compat, size;
    uint32_t type;
    size_t count, element_size;
    const void *elements;
};

struct abi_regions_unregister {
    uint16_t compat, size;
    uint32_t region_type;
    size_t count, element_size;
    const void *const *elements;
};

struct abi_permission {
    uint32_t flags, region_type;
    const void *region;
};

struct abi_permissions_assign {
    uint16_t compat, size;
    uint32_t reserved0;
    void *permissions;
    size_t count, element_size;
    const struct abi_permission *elements;
    size_t reserved1;
};

enum {
    ABI_MEM_HEAP_REGISTER,
    ABI_MEM_HEAP_UNREGISTER,
    ABI_MEM_HEAP_RESET,
    ABI_MEM_REGIONS_REGISTER,
    ABI_MEM_REGIONS_RESIZE,
    ABI_MEM_REGIONS_UNREGISTER,
    ABI_MEM_REGIONS_NAME,
    ABI_MEM_PERMISSIONS_ASSIGN,
    ABI_MEM_PERMISSIONS_CREATE,
    ABI_MEM_PERMISSIONS_DESTROY,
    ABI_MEM_PERMISSIONS_RESET,
    ABI_MEM_PERMISSIONS_BIND,
    ABI_MEM_PERMISSIONS_UNBIND,
    ABI_MEM_CUDA_PROCESS_PERMISSIONS,
    ABI_MEM_CUDA_DEVICE_PERMISSIONS,
    ABI_MEM_CUDA_SET_PEER_ACCESS,
    ABI_MEM_CUDA_MARK_INITIALIZED,
    ABI_MEM_COUNT
};

#define ABI_MEM_COMPAT 0x0102
