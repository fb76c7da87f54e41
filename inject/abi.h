// SPDX-License-Identifier: Apache-2.0
//
// NVTX's binary interface as a tool sees it: numbers, layouts and signatures, written down so that
// no NVTX header is needed. A program calls through slots, one for each function; the tool is given
// a function that finds the slots and writes its own functions there. They are of NVTX 3, and those
// of NVTX 1 and 2 have the same numbers and layouts as far as they go. What the extensions pass is
// in inject/ext. Tests compare all of it with the real headers where those are installed.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ABI_VERSION 3u // of NVTX, which we tell to a library behind us

typedef void (*abi_function)(void);

// ---- Tables of the core -------------------------------------------------------------------------

enum { ABI_EXPORT_CALLBACKS = 1, ABI_EXPORT_VERSION = 3 };

// Returns the table of a number above, or NULL.
typedef const void *(*abi_get_export)(uint32_t table);

enum abi_module {
    ABI_CORE = 1,
    ABI_CUDA,
    ABI_OPENCL,
    ABI_CUDART,
    ABI_CORE2,
    ABI_SYNC,
    ABI_MODULES // how many numbers there are
};

// Whether a member lies inside of a structure's size; one that does not is not there.
#define ABI_HAS(attr, member)                                                                      \
    (offsetof(__typeof__(*(attr)), member) + sizeof((attr)->member) <= (attr)->size)

struct abi_callbacks {
    size_t size;
    // Gives the pointers to the slots of a module, by callback number; number 0 is none. `count`
    // counts number 0, too. Returns 0 when there is no such module.
    int (*get_slots)(uint32_t module, abi_function ***slots, unsigned *count);
};

struct abi_version {
    size_t size;
    uint32_t version, reserved;
    void (*set_tool_version)(uint32_t version);
};

typedef int (*abi_initialize)(abi_get_export get_export);

// ---- Callback numbers ---------------------------------------------------------------------------

enum {
    ABI_MARK_EX = 1,
    ABI_MARK_A,
    ABI_MARK_W,
    ABI_RANGE_START_EX,
    ABI_RANGE_START_A,
    ABI_RANGE_START_W,
    ABI_RANGE_END,
    ABI_RANGE_PUSH_EX,
    ABI_RANGE_PUSH_A,
    ABI_RANGE_PUSH_W,
    ABI_RANGE_POP,
    ABI_NAME_CATEGORY_A,
    ABI_NAME_CATEGORY_W,
    ABI_NAME_OS_THREAD_A,
    ABI_NAME_OS_THREAD_W,
    ABI_CORE_COUNT
};

enum {
    ABI_DOMAIN_MARK_EX = 1,
    ABI_DOMAIN_RANGE_START_EX,
    ABI_DOMAIN_RANGE_END,
    ABI_DOMAIN_RANGE_PUSH_EX,
    ABI_DOMAIN_RANGE_POP,
    ABI_DOMAIN_RESOURCE_CREATE,
    ABI_DOMAIN_RESOURCE_DESTROY,
    ABI_DOMAIN_NAME_CATEGORY_A,
    ABI_DOMAIN_NAME_CATEGORY_W,
    ABI_DOMAIN_REGISTER_STRING_A,
    ABI_DOMAIN_REGISTER_STRING_W,
    ABI_DOMAIN_CREATE_A,
    ABI_DOMAIN_CREATE_W,
    ABI_DOMAIN_DESTROY,
    ABI_INITIALIZE,
    ABI_CORE2_COUNT
};

enum {
    ABI_NAME_CU_DEVICE_A = 1,
    ABI_NAME_CU_DEVICE_W,
    ABI_NAME_CU_CONTEXT_A,
    ABI_NAME_CU_CONTEXT_W,
    ABI_NAME_CU_STREAM_A,
    ABI_NAME_CU_STREAM_W,
    ABI_NAME_CU_EVENT_A,
    ABI_NAME_CU_EVENT_W,
    ABI_CUDA_COUNT
};

enum {
    ABI_NAME_CUDA_DEVICE_A = 1,
    ABI_NAME_CUDA_DEVICE_W,
    ABI_NAME_CUDA_STREAM_A,
    ABI_NAME_CUDA_STREAM_W,
    ABI_NAME_CUDA_EVENT_A,
    ABI_NAME_CUDA_EVENT_W,
    ABI_CUDART_COUNT
};

enum {
    ABI_NAME_CL_DEVICE_A = 1,
    ABI_NAME_CL_DEVICE_W,
    ABI_NAME_CL_CONTEXT_A,
    ABI_NAME_CL_CONTEXT_W,
    ABI_NAME_CL_COMMAND_QUEUE_A,
    ABI_NAME_CL_COMMAND_QUEUE_W,
    ABI_NAME_CL_MEM_OBJECT_A,
    ABI_NAME_CL_MEM_OBJECT_W,
    ABI_NAME_CL_SAMPLER_A,
    ABI_NAME_CL_SAMPLER_W,
    ABI_NAME_CL_PROGRAM_A,
    ABI_NAME_CL_PROGRAM_W,
    ABI_NAME_CL_EVENT_A,
    ABI_NAME_CL_EVENT_W,
    ABI_OPENCL_COUNT
};

enum {
    ABI_SYNC_CREATE = 1,
    ABI_SYNC_DESTROY,
    ABI_SYNC_ACQUIRE_START,
    ABI_SYNC_ACQUIRE_FAILED,
    ABI_SYNC_ACQUIRE_SUCCESS,
    ABI_SYNC_RELEASING,
    ABI_SYNC_COUNT
};

#define ABI_SLOTS_MOST 16 // the largest of the counts above

// How many numbers a module has, with number 0; 0: there is no such module.
static inline unsigned abi_count(uint32_t module) {
    static const unsigned counts[ABI_MODULES] = {
        [ABI_CORE] = ABI_CORE_COUNT,     [ABI_CUDA] = ABI_CUDA_COUNT,
        [ABI_OPENCL] = ABI_OPENCL_COUNT, [ABI_CUDART] = ABI_CUDART_COUNT,
        [ABI_CORE2] = ABI_CORE2_COUNT,   [ABI_SYNC] = ABI_SYNC_COUNT,
    };
    return module < ABI_MODULES ? counts[module] : 0;
}

// ---- Attributes ---------------------------------------------------------------------------------

enum { ABI_COLOR_NONE, ABI_COLOR_ARGB };
enum { ABI_MESSAGE_NONE, ABI_MESSAGE_BYTES, ABI_MESSAGE_WIDE, ABI_MESSAGE_REGISTERED };
enum {
    ABI_PAYLOAD_NONE,
    ABI_PAYLOAD_U64,
    ABI_PAYLOAD_I64,
    ABI_PAYLOAD_F64,
    ABI_PAYLOAD_U32,
    ABI_PAYLOAD_I32,
    ABI_PAYLOAD_F32
};
#define ABI_PAYLOAD_EXTENSION                                                                      \
    ((int32_t)0xDFBD0009)    // `u64` points to `reserved` structs abi_payload
#define ABI_NOT_TRACKED (-2) // what a push or pop returns then
#define ABI_NONE_OPEN (-1)   // what a pop returns when no range was open

union abi_message {
    const char *bytes;
    const wchar_t *wide; // UTF-32
    const void *handle;  // of a registered string
};

struct abi_event {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        uint32_t u32;
        int32_t i32;
        float f32;
    } payload;
    int32_t message_type;
    union abi_message message;
};

struct abi_resource {
    uint16_t version, size;
    int32_t type; // class << 16 | number in the class
    uint64_t handle;
    int32_t message_type;
    union abi_message message;
};

enum {
    ABI_CLASS_GENERIC = 1,
    ABI_CLASS_SYNC_OS,
    ABI_CLASS_SYNC_PTHREAD,
    ABI_CLASS_CUDA,   // numbers from 1
    ABI_CLASS_CUDART, // numbers from 0
    ABI_CLASS_OPENCL  // numbers from 1
};

// Types whose handle is a thread: the kernel's number, pthread_self().
enum {
    ABI_THREAD_NATIVE = ABI_CLASS_GENERIC << 16 | 3,
    ABI_THREAD_POSIX = ABI_CLASS_GENERIC << 16 | 4
};

struct abi_sync {
    uint16_t version, size;
    int32_t message_type;
    union abi_message message;
};

// ---- Extensions ---------------------------------------------------------------------------------

enum { ABI_EXTENSION_MEM = 1, ABI_EXTENSION_PAYLOAD = 2, ABI_EXTENSION_COUNTERS = 4 };

// What a slot holds that holds no function: anything up to this.
#define ABI_SLOT_STATES 4

#define ABI_EXTENSION_SLOTS 63u // NVTX keeps so many for each, more than any has callbacks

struct abi_segment {
    size_t number; // of the segment; modules have one
    size_t count;
    intptr_t *slots; // by callback number, from 0
};

struct abi_extension {
    uint16_t version, size, module, compat;
    size_t segment_count;
    struct abi_segment *segments;
    intptr_t (*get_export)(uint32_t function);
    const void *info;
};

typedef int (*abi_initialize_extension)(struct abi_extension *module);

// One payload of an event: bytes that are laid out as the schema says.
struct abi_payload {
    uint64_t schema;
    size_t size; // SIZE_MAX: what the schema says
    const void *data;
};
