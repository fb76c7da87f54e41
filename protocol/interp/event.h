// SPDX-License-Identifier: Apache-2.0
//
// What the interpreter makes of a stream: events (rows of NVTX_EVENTS), names, and open ranges.
// They are plain values. Every slice in them is borrowed from the interpreter or from the line and
// lives only during the call that hands the value over.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"

// The eventType values of the export schema.
enum nvtxt_event_type {
    NVTXT_EVENT_CATEGORY = 33,
    NVTXT_EVENT_MARK = 34,
    NVTXT_EVENT_THREAD = 39,
    NVTXT_EVENT_PUSH_POP = 59,
    NVTXT_EVENT_START_END = 60,
    NVTXT_EVENT_DOMAIN = 75,
};

// The payload columns of the export schema. All but INT64 and DOUBLE come only from sessions with
// the extension `nvtx`.
enum nvtxt_payload_kind {
    NVTXT_PAYLOAD_NONE,
    NVTXT_PAYLOAD_INT64,
    NVTXT_PAYLOAD_DOUBLE,
    NVTXT_PAYLOAD_UINT64,
    NVTXT_PAYLOAD_UINT32,
    NVTXT_PAYLOAD_INT32,
    NVTXT_PAYLOAD_FLOAT,
};

struct nvtxt_payload {
    enum nvtxt_payload_kind kind;
    union {
        int64_t int64; // INT64, UINT32, INT32; of UINT64 its two's complement
        double real;   // DOUBLE, FLOAT; a NaN is NULL in the store
    };
};

static inline bool nvtxt_payload_is_real(enum nvtxt_payload_kind kind) {
    return kind == NVTXT_PAYLOAD_DOUBLE || kind == NVTXT_PAYLOAD_FLOAT;
}

// A complete event: a mark, or a range that has both its ends.
struct nvtxt_event {
    enum nvtxt_event_type type; // NVTXT_EVENT_MARK, …_PUSH_POP or …_START_END
    bool unclosed;              // the end was filled in because the source ended
    bool ended_elsewhere;       // another thread ended the range: end_pid and end_tid say which
    uint32_t pid, tid;
    uint32_t end_pid, end_tid;
    uint32_t category;
    uint32_t color; // 0xAARRGGBB
    int64_t start;  // ns on the store's timeline
    int64_t end;    // ns; a mark's is its start
    struct nvtxt_slice text;
    struct nvtxt_slice domain; // display name in force at push or start; empty: no domain
    struct nvtxt_payload payload;
    struct nvtxt_slice json; // one JSON value; empty: none
    uint64_t open_seq;       // not 0: the range was announced as open under this number (see below)
    struct nvtxt_slice key;  // nvtxt_interp_next_range(); empty: none
    struct nvtxt_slice parent; // with a key: the token of its parent; empty: that of its source
};

enum nvtxt_name_kind {
    NVTXT_NAME_CATEGORY,
    NVTXT_NAME_THREAD,
    NVTXT_NAME_PROCESS,
    NVTXT_NAME_DOMAIN,   // a domain that a process uses, or SetFileDisplayName gives
    NVTXT_NAME_RESOURCE, // SetResourceName: a row of NVTXT_RESOURCES
    NVTXT_NAME_COUNTER,  // SetCounter: a row of NVTXT_COUNTERS
};

// A name, with the event that its row refers to.
struct nvtxt_name {
    enum nvtxt_name_kind kind;
    struct nvtxt_slice text;
    struct nvtxt_slice domain; // of a category, resource or counter: the one it is named in; of a
                               // domain: same as `text`
    struct nvtxt_slice resource_kind; // of a resource: "cuStream" and the like
    struct nvtxt_slice json;          // of a counter: unit and the like, as one value, or ""
    uint64_t handle;                  // of a resource
    uint32_t category;                // of a category
    uint32_t pid, tid;                // of a thread: it; of the others: the process, and no tid
    bool own_pid;            // not of a thread: pid is that of $ProcessId; else of the event
    int64_t at;              // not of a process: start of that event
    uint32_t at_pid, at_tid; //   and its thread
};

// A range that is open. Ranges get numbers of their own (seq: 1, 2, …, per source, over the whole
// life of a session) so that a row of NVTXT_OPEN_RANGES can be found again when the range closes.
struct nvtxt_open_range {
    uint64_t seq;
    enum nvtxt_event_type type; // NVTXT_EVENT_PUSH_POP or …_START_END
    uint32_t pid, tid;
    uint32_t depth;   // NVTXT_EVENT_PUSH_POP: 0 for the outermost
    int64_t range_id; // NVTXT_EVENT_START_END: the RangeId that the source gave
    int64_t start;    // ns
    uint32_t category;
    uint32_t color;
    struct nvtxt_slice text;
    struct nvtxt_slice domain;
    struct nvtxt_slice excerpt; // of the line that opened it, for its never-closed warning
    struct nvtxt_payload payload;
    struct nvtxt_slice json;
    uint64_t line; // of the call that opened it
    uint32_t column;
};
