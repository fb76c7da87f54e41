// SPDX-License-Identifier: Apache-2.0
//
// Events as they are read back a few at a time: what is asked for, and the answer.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

// A place between two events of a store, whatever segments it has (segments.h).
struct store_cursor {
    uint64_t segment; // its number
    int64_t row;      // the event with this rowid is before it, the next one after it
};

#define STORE_CURSOR_END                                                                           \
    (struct store_cursor) {                                                                        \
        UINT64_MAX, 0                                                                              \
    }

// What is asked for. Texts are borrowed; what is not set does not matter.
struct store_event_query {
    struct store_cursor cursor;
    bool backward;             // events before the cursor, the newest one first
    size_t limit;              // at most so many, and at most STORE_EVENTS_BYTES of text
    int64_t pid;               // -1: any
    int64_t category;          // number; -1: any
    const char *category_name; // NULL: any
    const char *message;       // text that it contains; NULL: any
    const char *kind;          // as NVTXT_TIMELINE has it, or "range"; NULL: any
};

// One call looks at STORE_EVENTS_SCANNED rows at most, so that it takes milliseconds whatever the
// store holds. A cursor that is more than STORE_EVENTS_LAG rows of its segment late skips the
// oldest.
#define STORE_EVENTS_SCANNED 10000
#define STORE_EVENTS_LAG 100000
#define STORE_EVENTS_BYTES (1u << 20)

struct store_events {
    struct store_event_row {
        int64_t row, start_ns, duration_ns, pid, tid, category, source_id; // 0: none
        struct nvtxt_slice kind, message;
        struct nvtxt_slice category_name, process, thread, source, domain, color; // or ""
        struct nvtxt_slice payload;      // its number, else its JSON, else ""
        struct nvtxt_slice payload_type; // of the number, as NVTXT has it: "u64"; ""
        struct nvtxt_slice json, level;  // or ""
        char *texts;                     // owned: what the slices point to
    } *rows;                             // owned
    size_t count;
    struct store_cursor next; // where the next call begins
    struct store_cursor end;  // after the newest event
    bool more;                // there are rows beyond `next` that were not read
    uint64_t skipped;         // rows that were skipped because the cursor was too late
    bool gone;                // its segment was removed: nobody knows how many rows were skipped
};
void store_events_deinit(struct store_events *events);
