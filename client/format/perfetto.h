// SPDX-License-Identifier: Apache-2.0
//
// Perfetto's own trace: packets of protobuf
// (https://perfetto.dev/docs/reference/trace-packet-proto). All packets are of one sequence. This
// is what the parts of the format share: the packet that is made, texts, which are written once and
// named by a number after that, tracks, and arguments.
//
// Nothing here returns a failure but short memory; where no result says so, `packet.error` or
// `batch.text.error` remembers it.
#pragma once

#include "client/format/export_fmt.h"
#include "client/format/export_names.h"
#include "client/lane/export_tracks.h"
#include "client/lane/lane_batch.h"
#include "protocol/lang/value.h"

#define PERFETTO_START_END (UINT64_C(1) << 63) // with a thread: its start/end ranges

// Numbers of fields and values, as perfetto_trace.proto has them.
enum { TRACE_PACKET = 1 };
enum {
    PACKET_CLOCKS = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    PACKET_IS_FIRST = 87,
};
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { CLOCKS_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_REALTIME = 1, CLOCK_TRACE = 6 };
enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_DESCRIPTION = 14,
    TRACK_MERGING = 15,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 6, MERGING_NONE = 2 };
enum {
    EVENT_CATEGORY = 3,
    EVENT_ARGUMENT = 4,
    EVENT_LEGACY = 6,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_INTEGER = 30, // of a counter, as the next one
    EVENT_DOUBLE = 44,
    EVENT_FLOW = 47,
};
enum { LEGACY_BIND = 8, LEGACY_DIRECTION = 13, FLOW_IN = 1 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum {
    ARGUMENT_NAME = 1,
    ARGUMENT_BOOL = 2,
    ARGUMENT_UINT = 3,
    ARGUMENT_INT = 4,
    ARGUMENT_DOUBLE = 5,
    ARGUMENT_STRING = 6,
    ARGUMENT_JSON = 9,
    ARGUMENT_MEMBER = 11,
    ARGUMENT_ELEMENT = 12,
    ARGUMENT_TEXT = 17,
};
enum perfetto_table { CATEGORIES, EVENT_NAMES, ARGUMENT_NAMES, ARGUMENT_TEXTS, TABLES };
enum { INTERNED_ID = 1, INTERNED_TEXT = 2 };

struct perfetto {
    struct nvtxt_out packet; // owned; the one that is made, and its first failure
    struct nvtxt_texts names[TABLES];
    uint64_t forgotten[TABLES]; // how many there were before
    struct export_tracks tracks;
    uint64_t uuid;                // the last one of a track; they are even
    struct nvtxt_texts series;    // of counters: their uuids are odd
    struct export_names counters; // of the store
    uint64_t last_thread;         // of the event before; its tracks are described
    bool has_last_thread;
    int64_t origin_ns; // 0 of the trace
    struct export_lanes lanes;
    struct lane_batch batch;
};

// ---- Packets and texts --------------------------------------------------------------------------

// Begins a packet, the only one at a time, and ends it with what was begun: it is written.
size_t perfetto_begin(struct perfetto *perfetto, unsigned flags);
void perfetto_end(struct export_writer *writer, size_t begun);

// The number of a text for the packets that follow; a new text is written first, as a packet.
uint64_t perfetto_intern(struct export_writer *writer, enum perfetto_table table,
                         struct nvtxt_slice text);

// Forgets all texts when they are many. No event that is still to be written may have one.
void perfetto_forget(struct export_writer *writer);

// ---- Tracks -------------------------------------------------------------------------------------

// Describes the process and the thread of an event before its first one. Returns 0 or -ENOMEM.
int perfetto_describe(struct export_writer *writer, const struct store_named_event *row);

// The uuid of the track of an event, whose thread was described; 0 when memory is short.
uint64_t perfetto_track_of(struct export_writer *writer, const struct lane_item *item);

// The uuid of a track of a counter: of its samples or, where they are objects, of a member's. The
// process was described.
uint64_t perfetto_series_of(struct export_writer *writer, const struct export_name *counter,
                            struct nvtxt_slice member);

// ---- Arguments ----------------------------------------------------------------------------------

// The time in the trace.
int64_t perfetto_time(const struct perfetto *perfetto, int64_t ns);

// Adds the debug annotations of an event to the batch's text. Returns 0 or -ENOMEM.
int perfetto_put_arguments(struct export_writer *writer, const struct store_named_event *row);

// A number of JSON as a payload.
static inline struct nvtxt_payload perfetto_payload(const struct nvtxt_number *number) {
    if (number->type == NVTXT_F64) {
        return (struct nvtxt_payload){NVTXT_PAYLOAD_DOUBLE, {.real = number->real}};
    }
    return (struct nvtxt_payload){number->type == NVTXT_U64 ? NVTXT_PAYLOAD_UINT64
                                                            : NVTXT_PAYLOAD_INT64,
                                  {.int64 = number->integer}};
}
