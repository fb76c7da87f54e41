// SPDX-License-Identifier: Apache-2.0
//
// An event as a JSON object with names instead of ids: its members are the columns of the view
// NVTXT_TIMELINE, in its order and with its values, and then endGlobalTid, the payload in the
// column of its type, jsonText, and the parent (nvtxt-export(1), "jsonl"). What an event has not is
// left out.
#pragma once

#include "protocol/text/out.h"
#include "store/read/reader_parents.h"

// An event with its names; `data` is NULL where there is none. All is borrowed.
struct store_named_event {
    const struct store_read_event *event;
    struct nvtxt_slice process, thread, category, domain;
    int64_t source_id; // 0: none
    struct nvtxt_slice source;
    const char *level; // when the event is a line of a log; NULL: none
    size_t file;       // index of its file; as the next two, only of an export with parents
    const struct store_parent *parent;    // in another process; NULL: none
    const struct store_parent *as_parent; // the event, if others have it as their parent; or NULL
    int64_t utc_offset_ns; // from the start of the event to UTC; 0 for a time since the Unix epoch
    bool has_no_row;       // eventRow is left out
    // A duration and a payload that do not fit into Int64 are strings of their digits; else the
    // duration is the nearest that fits, and the payload a number.
    bool long_as_text;
    bool never_negative; // a range that ends before it starts has the duration 0
};

// Writes the members, without the braces.
void store_event_members(struct nvtxt_out *out, const struct store_named_event *named);

// End minus start; when that does not fit, the nearest value that does.
int64_t store_event_duration(const struct store_read_event *event);

// The kind as NVTXT_TIMELINE has it: "mark", "push/pop", "start/end".
struct nvtxt_slice store_event_kind(enum nvtxt_event_type type);

// Writes the number of a payload, as JSON and NVTXT have it. False, and nothing written, when there
// is none or when it is infinite.
bool store_event_number(struct nvtxt_out *out, const struct nvtxt_payload *payload);

// "Infinity" or "-Infinity", for a payload that is neither none nor a number.
struct nvtxt_slice store_event_infinity(const struct nvtxt_payload *payload);

// The column of a payload's kind among uint64Value, int64Value, doubleValue, uint32Value,
// int32Value, floatValue: from 1 on.
unsigned store_event_payload_column(enum nvtxt_payload_kind kind);
#define STORE_EVENT_PAYLOAD_COLUMNS 6

static inline uint32_t store_event_pid(uint64_t global_tid) {
    return (uint32_t)(global_tid >> 24);
}
static inline uint32_t store_event_tid(uint64_t global_tid) {
    return (uint32_t)(global_tid & 0xFFFFFF);
}
