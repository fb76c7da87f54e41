// SPDX-License-Identifier: Apache-2.0
//
// The values of a reader: windows of events, rows, events, and names.
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

struct store_span { // rows, both ends included
    int64_t first, last;
};

struct store_read_event {
    int64_t row;
    enum nvtxt_event_type type; // MARK, PUSH_POP or START_END
    bool ended_elsewhere;       // end_global_tid says where
    int64_t start, end;         // ns since the Unix epoch
    uint64_t global_tid;        // PID << 24 | TID; what an export has above that is cut off
    uint64_t end_global_tid;
    uint32_t category, color;
    int64_t domain_id;
    int64_t range_id;             // of a start/end range; 0: none, or not asked for
    struct nvtxt_slice text;      // any bytes
    struct nvtxt_payload payload; // fits its kind, also in the export of another program
    struct nvtxt_slice json;      // any bytes; empty: none
};

// A name, and what bears it.
struct store_read_name {
    enum nvtxt_name_kind kind;
    uint32_t category;   // CATEGORY
    uint64_t global_tid; // THREAD, PROCESS: what is named; else the thread of the row
    int64_t at;          // ns since the Unix epoch
    int64_t domain_id;   // CATEGORY, DOMAIN
    bool has_row;        // its row stands in NVTX_EVENTS; an export's names of threads have none
    struct nvtxt_slice domain; // DOMAIN: the name; CATEGORY, RESOURCE, COUNTER: where it is named
    struct nvtxt_slice resource_kind; // RESOURCE
    struct nvtxt_slice json;          // COUNTER; empty: none
    uint64_t handle;                  // RESOURCE
    struct nvtxt_slice text;
};

static inline bool store_read_name_has_time(enum nvtxt_name_kind kind) {
    return kind == NVTXT_NAME_CATEGORY || kind == NVTXT_NAME_THREAD || kind == NVTXT_NAME_DOMAIN;
}
