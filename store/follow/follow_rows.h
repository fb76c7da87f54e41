// SPDX-License-Identifier: Apache-2.0
//
// What a follower hands out: places, segments, and rows of each table with the columns that a copy
// of the store elsewhere has. Times are Unix times in ns. A number that may be NULL in the store is
// a struct store_maybe.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "store/read/read_event.h"
#include "store/value/rows.h"

// How far somebody has read. Zeroed: nothing yet.
struct store_place {
    uint64_t segment;                 // number; 0: a plain file, or nothing yet
    int64_t event_row;                // rowid of the last event or name; 0: none of this segment
    int64_t diagnostic_row, loss_row; // likewise
    int64_t batch;                    // id of the batch of event_row; 0: none of this segment
    int64_t batch_ns;                 // its committedNs; likewise
    int64_t base;                     // rangeBase of the segment
};

// Rows of NVTX_EVENTS that went before they were read.
struct store_gap {
    uint64_t segment; // that of the place before the gap
    int64_t count;    // 0: no gap
};

struct store_follow_segment {
    uint64_t number;
    const char *name;   // of its file; lives until the follower goes to another segment
    int64_t started_ns; // 0: not known
    int64_t base;       // rangeBase
};

struct store_follow_event {
    struct store_read_event event; // its category, color and domain_id: 0 for none
    int64_t range_id;              // 0: none
    int64_t source_id;             // 0: none
    int64_t batch, committed_ns;   // of its batch
    bool unclosed;
};

// The small tables; the rows of the first three never change.
enum store_follow_table {
    STORE_FOLLOW_DIAGNOSTICS, // struct store_follow_diagnostic
    STORE_FOLLOW_LOSSES,      // struct store_follow_loss
    STORE_FOLLOW_KEYS,        // struct store_follow_key
    STORE_FOLLOW_SOURCES,     // struct store_follow_source
    STORE_FOLLOW_DOMAINS,     // struct store_follow_domain
    STORE_FOLLOW_PROCESSES,   // struct store_follow_name
    STORE_FOLLOW_THREADS,     // struct store_follow_name
    STORE_FOLLOW_CATEGORIES,  // struct store_follow_category
    STORE_FOLLOW_TABLES,
};

struct store_follow_source {
    int64_t id;
    struct nvtxt_slice kind, session, name, display_name, peer_comm, ended;
    struct store_maybe peer_pid, peer_uid, peer_gid, opened_ns, closed_ns, lines, events, warnings,
        errors, first_ns, last_ns;
    bool levels;               // payloads of its marks are levels of syslog
    struct nvtxt_slice parent; // the token of what it began under
};

struct store_follow_key { // of an event, by which others can name it as their parent
    int64_t row, source_id;
    struct nvtxt_slice key;
    struct nvtxt_slice parent; // the token of its own one; data NULL: none
};

struct store_follow_diagnostic {
    int64_t row;
    struct store_maybe source_id, line, column, at_ns;
    struct nvtxt_slice severity, stage, code, message, excerpt;
};

struct store_follow_loss {
    int64_t row;
    struct store_maybe at_ns, source_id, uid, pid;
    struct nvtxt_slice reason;
    int64_t count;
};

struct store_follow_domain {
    int64_t id;
    struct nvtxt_slice name;
};

struct store_follow_name { // of a process or a thread
    int64_t id;            // pid; globalTid
    struct nvtxt_slice name;
};

#define STORE_FOLLOW_ALL_PROCESSES (-1) // a name of an older version; see store/write/name_rows.h

struct store_follow_category {
    int64_t domain_id;
    int64_t pid; // or STORE_FOLLOW_ALL_PROCESSES
    int64_t category;
    struct nvtxt_slice name;
};

struct store_follow_range_key {
    int64_t source_id, seq;
};

struct store_follow_range {
    struct store_follow_range_key key;
    struct store_maybe global_tid, event_type, start_ns, domain_id, category, color;
    struct nvtxt_slice text;
};

struct store_follow_opens {
    bool all;
    const struct store_follow_range *came;
    const struct store_follow_range_key *went;
    size_t came_count, went_count;
};
