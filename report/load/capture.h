// SPDX-License-Identifier: Apache-2.0
//
// report/load: stores and exports of Nsight Systems as arrays in memory. It owns the read
// transactions, which are over when it returns, and the arrays, which nobody changes later but
// report/model, which orders the events and marks the selected ones, and resolve.c, which adds the
// lines that events came of. One thread. It never writes, leaves no file beside a store, and knows
// nothing of lanes, selections or figures.
//
// This header is what was read: a capture. Everything in it lives until report_capture_free().
// Indexes are uint32_t; REPORT_NONE is no index.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "protocol/interp/event.h"
#include "protocol/lang/names.h"

#define REPORT_NONE UINT32_MAX

enum report_kind { REPORT_MARK, REPORT_PUSH_POP, REPORT_START_END };

enum report_event_flag {
    REPORT_OPEN = 1,     // a range without an end; `end` is the largest time of the capture
    REPORT_BACKWARD = 2, // a range whose end lay before its start; `end` was put to `start`, and
                         // `more` has it as it was
    REPORT_UNCLOSED = 4, // its end was filled in when its source ended (NVTXT_UNCLOSED)
    REPORT_SELECTED = 8, // set by report/model
};

// 64 bytes: a capture of a million events has to fit into a hundred million bytes with everything.
struct report_event {
    int64_t start, end; // ns since the Unix epoch (an export: of its own timeline); a mark: equal
    int64_t row;        // segment << 40 | rowid; of an open range: see report_load()
    union {
        int64_t int64; // also of the other integers; of UINT64 the same bits
        double real;   // DOUBLE and FLOAT
    } payload;
    uint32_t thread;      // index in `threads`
    uint32_t scope;       // index in `scopes`: its domain id and the process that it belongs to
    uint32_t name;        // index in `names`: its domain and message
    uint32_t category;    // 0: none
    uint32_t color;       // ARGB; 0: none
    uint32_t source;      // index in `sources`, or REPORT_NONE
    uint32_t more;        // index in `more`: what few events have, or REPORT_NONE
    uint8_t kind;         // enum report_kind
    uint8_t flags;        // enum report_event_flag
    uint8_t payload_kind; // enum nvtxt_payload_kind
    uint8_t store;        // index in `stores`
};

// What few events have.
struct report_more {
    struct nvtxt_slice json; // jsonText; data NULL: none
    uint64_t end_global_tid; // of another thread that ended the range
    bool ended_elsewhere;
    int64_t given_end; // of a backward range
};

// A distinct pair of domain and message; §4.1's name is DOMAIN:MESSAGE, :MESSAGE in the default
// one.
struct report_name {
    uint32_t domain;  // index in `domains`
    uint32_t message; // index in `messages`
};

// A domain as rows name it: an id in a process of a store.
struct report_domain_scope {
    uint32_t process; // index in `processes`
    uint32_t domain;  // index in `domains`
    int64_t id;       // domainId
};

struct report_process {
    uint32_t store;
    uint32_t pid;            // globalTid >> 24, 24 bits
    struct nvtxt_slice name; // data NULL: none
};

// A thread of one store; threads of two stores are never the same.
struct report_thread {
    uint32_t store;
    uint32_t process;        // index in `processes`
    uint64_t global_tid;     // what an export has above PID and TID is cut off
    struct nvtxt_slice name; // data NULL: none
};

static inline uint32_t report_tid(const struct report_thread *thread) {
    return (uint32_t)(thread->global_tid & 0xFFFFFF);
}

struct report_category {
    uint32_t scope; // index in `scopes`
    uint32_t id;
    struct nvtxt_slice name;
};

struct report_diagnostic {
    int64_t line, column;
    struct nvtxt_slice severity, stage, code, message, excerpt;
    bool has_at;
    int64_t at_ns; // when the line came
};

// A row of NVTXT_SOURCES with its newest counts over all segments. Slices with data NULL: no value.
struct report_source {
    uint32_t store;
    int64_t id;
    struct nvtxt_slice name, display_name, peer_comm, kind, ended;
    bool has_pid, has_closed, has_times;
    int64_t pid, opened_ns, closed_ns, first_ns, last_ns;
    int64_t lines, events, warnings, errors;
    bool has_levels;            // lines of logs: a mark with a payload of 0 to 7 has a level
    struct nvtxt_slice session; // the id of its session
    struct nvtxt_slice parent;  // a token: the range of another process that it began under
    bool has_uid;
    int64_t uid;                           // of who sent it
    struct report_diagnostic *diagnostics; // by line, then column, then as stored; all segments
    size_t diagnostic_count;
    bool left_out; // no part of what is selected: it has no diagnostics, errors and warnings then
    // Set by resolve.c when the file of the source is at hand; else data NULL, NULL, NULL, 0.
    struct nvtxt_slice file;      // its path
    const int64_t *line_rows;     // `row` of each of its events, ascending
    const uint32_t *line_numbers; // and its line, from 1
    size_t line_row_count;
};

// How many of its diagnostics people are shown; a bad program may have left thousands.
#define REPORT_DIAGNOSTICS_SHOWN 20
static inline size_t report_diagnostics_shown(const struct report_source *source) {
    return source->diagnostic_count < REPORT_DIAGNOSTICS_SHOWN ? source->diagnostic_count
                                                               : REPORT_DIAGNOSTICS_SHOWN;
}

// A row of NVTXT_RANGE_KEYS: the range that a token SESSION:KEY names.
struct report_range_key {
    uint32_t source; // index in `sources`
    uint32_t event;  // index in `events`, or REPORT_NONE: not loaded; set by report/model
    int64_t row;
    struct nvtxt_slice key;
    struct nvtxt_slice parent; // its own token in place of its source's; data NULL: none
};

// The name of a source for people: its own, or that of who sent it; else "source " and its id,
// which is written to `made`.
#define REPORT_SOURCE_NAME 32
struct nvtxt_slice report_source_name(const struct report_source *source,
                                      char made[REPORT_SOURCE_NAME]);

struct report_loss {
    uint32_t store;
    int64_t at_ns;
    bool has_source;
    int64_t source; // the id
    struct nvtxt_slice reason;
    uint64_t count;
};

// A kernel of CUPTI_ACTIVITY_KIND_KERNEL with the runtime call that started it.
struct report_kernel {
    uint32_t store;
    int64_t start, end;
    uint32_t name;      // index in `messages`
    uint32_t thread;    // of the runtime call; REPORT_NONE when it is not known
    int64_t call_start; // of the runtime call
};

struct report_store {
    struct nvtxt_slice path;             // as the caller named it
    bool ours;                           // a store of nvtxtd ("nvtxt"); else an export ("nsys")
    struct nvtxt_slice product, version; // META_DATA_EXPORT; data NULL: not said
    struct nvtxt_slice schema;           // of an export's tables, from there: "3.11.0"
    int64_t schema_version;              // user_version; 0 of an export
    struct nvtxt_slice *segments;        // paths, oldest first; at least one
    size_t segment_count;
    bool has_kernels;           // CUPTI_ACTIVITY_KIND_KERNEL and _RUNTIME are tables with rows
    const char *kernels_lack;   // these have rows, but this is not there; NULL: nothing
    int64_t utc_base_ns;        // add it to a time for ns since the Unix epoch; 0 of a store
    struct nvtxt_slice *tables; // names of tables of the newest segment, no views
    size_t table_count;
};

struct report_capture {
    struct report_store *stores;
    size_t store_count;
    // As read: by store, segment, row. report_model_build() puts them into the order of §4.1.
    struct report_event *events;
    size_t event_count;
    struct report_more *more;
    size_t more_count;
    struct nvtxt_slice *messages; // distinct bytes
    size_t message_count;
    struct report_name *names;
    size_t name_count;
    struct nvtxt_slice *domains; // distinct; [0] is the default domain, an empty slice
    size_t domain_count;
    struct report_domain_scope *scopes;
    size_t scope_count;
    struct report_process *processes; // by store, then pid
    size_t process_count;
    struct report_thread *threads; // by store, then globalTid
    size_t thread_count;
    struct report_category *categories; // those with a name; by scope, then id
    size_t category_count;
    struct report_source *sources; // by store, then id
    size_t source_count;
    struct report_range_key *keys; // as stored; report/model puts them into order: source, key, row
    size_t key_count;
    bool has_parents;           // a source or a key has a token
    struct report_loss *losses; // by store, then as stored
    size_t loss_count;
    struct report_kernel *kernels;
    size_t kernel_count;
    // Of all events loaded; both 0 without any. last_ns: the largest start or end.
    int64_t first_ns, last_ns;
    bool windowed; // only events of a window were loaded
    void *memory;  // owned by load.c
};

// Memory that lives as long as the capture, or NULL.
void *report_capture_take(struct report_capture *capture, size_t size);

// The line of the call that opened the event, in its source's file; 0: not known.
uint32_t report_event_line(const struct report_capture *capture, const struct report_event *event);

// The name of a category in a scope; data NULL: it has none.
struct nvtxt_slice report_category_name(const struct report_capture *capture, uint32_t scope,
                                        uint32_t category);

static inline struct nvtxt_slice report_event_text(const struct report_capture *capture,
                                                   const struct report_event *event) {
    return capture->messages[capture->names[event->name].message];
}

static inline struct nvtxt_slice report_domain(const struct report_capture *capture,
                                               const struct report_event *event) {
    return capture->domains[capture->names[event->name].domain];
}

// The end as it was given, also of a backward range; for people, and in no figure.
static inline int64_t report_given_end(const struct report_capture *capture,
                                       const struct report_event *event) {
    bool backward = event->flags & REPORT_BACKWARD && event->more != REPORT_NONE;
    return backward ? capture->more[event->more].given_end : event->end;
}

// Whether a source has lines of logs.
static inline bool report_has_logs(const struct report_capture *capture) {
    size_t i = 0;
    while (i < capture->source_count && !capture->sources[i].has_levels) {
        i++;
    }
    return i < capture->source_count;
}

// Whether it is a line of a log: a mark of a source with levels.
static inline bool report_is_line(const struct report_capture *capture,
                                  const struct report_event *event) {
    return event->kind == REPORT_MARK && event->source != REPORT_NONE &&
           capture->sources[event->source].has_levels;
}

// The level of a line of a log, from 0 (emerg) to 7 (debug); NVTXT_LEVEL_NONE when it has none.
static inline int report_line_level(const struct report_capture *capture,
                                    const struct report_event *event) {
    bool may = event->payload_kind == NVTXT_PAYLOAD_INT64 && report_is_line(capture, event);
    bool has = may && event->payload.int64 >= 0 && event->payload.int64 < NVTXT_LEVEL_COUNT;
    return has ? (int)event->payload.int64 : NVTXT_LEVEL_NONE;
}

// End minus start; an open range has 0 (it is in no figure of durations), a backward one too. No
// two times are further apart than 64 bits without a sign hold.
static inline uint64_t report_duration(const struct report_event *event) {
    return event->flags & REPORT_OPEN ? 0 : (uint64_t)event->end - (uint64_t)event->start;
}

static inline bool report_is_range(const struct report_event *event) {
    return event->kind != REPORT_MARK;
}
