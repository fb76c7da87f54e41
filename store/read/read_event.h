// SPDX-License-Identifier: Apache-2.0
//
// The values of a reader: windows of events, events, and names.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "protocol/interp/event.h"

struct store_read_window {
    int64_t since_ns;       // events that end at or after it
    int64_t until_ns;       // and start at or before it
    const int64_t *sources; // ids, only their events; NULL: all sources
    size_t source_count;
};
#define STORE_READ_ALL ((struct store_read_window){.since_ns = INT64_MIN, .until_ns = INT64_MAX})

enum store_read_payload { // columns of NVTX_EVENTS, by what their values are
    STORE_READ_NONE,
    STORE_READ_INT64,
    STORE_READ_UINT64, // beyond Int64 only
    STORE_READ_DOUBLE,
    STORE_READ_JSON,
};

struct store_read_event {
    int64_t row;
    enum nvtxt_event_type type; // MARK, PUSH_POP or START_END
    bool ended_elsewhere;       // end_global_tid says where
    enum store_read_payload payload_kind;
    int64_t start, end;  // ns since the Unix epoch
    uint64_t global_tid; // PID << 24 | TID; what an export has above that is cut off
    uint64_t end_global_tid;
    uint32_t category, color;
    int64_t domain_id;
    struct nvtxt_slice text; // any bytes
    union {
        int64_t int64;
        uint64_t uint64;
        double real;
        struct nvtxt_slice json;
    };
};

// A name, and what bears it.
struct store_read_name {
    enum nvtxt_name_kind kind;
    uint32_t category;         // CATEGORY
    uint64_t global_tid;       // THREAD, PROCESS: what is named; else the thread of the row
    int64_t at;                // ns since the Unix epoch
    struct nvtxt_slice domain; // CATEGORY: the domain that it is named in; DOMAIN: the name
    struct nvtxt_slice text;
};
