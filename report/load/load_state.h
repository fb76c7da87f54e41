// SPDX-License-Identifier: Apache-2.0
//
// The inside of a load, shared by the .c files of this room. Nobody else includes it.
//
// The functions of the room return SQLite result codes while a file is read: SQLITE_NOMEM without
// memory, SQLITE_INTERRUPT when the caller wants to stop or the capture is too large
// (`too_large`).
#pragma once

#include <sqlite3.h>

#include "protocol/base/hash.h"
#include "report/load/capture.h"
#include "report/load/idmap.h"
#include "store/read/reader_tables.h"
#include "store/value/arena.h"

#define REPORT_TID_BITS UINT64_C(0xFFFFFFFFFFFF) // PID and TID; an export has more above
#define REPORT_NEAR 1024                         // a power of two
#define REPORT_ROW_BITS 40                       // row = segment << 40 | rowid

// What a capture owns beside its arrays.
struct report_memory {
    struct store_arena bytes; // all slices of the capture
};

struct report_grown { // how many elements the arrays of the capture have room for
    size_t stores, events, more, messages, names, domains, scopes, processes, threads;
    size_t categories, sources, losses, kernels;
};

struct report_load_file {
    struct store_reader *reader;
    sqlite3 *db; // of the reader
    bool ours;
    uint32_t store;
    int64_t segment; // from 0, oldest first
    bool newest;     // of its store
    int64_t offset_ns;
};

// A diagnostic until it has its place in its source.
struct report_load_diagnostic {
    uint32_t source;
    size_t order;
    struct report_diagnostic row;
};

struct report_load_state {
    struct report_capture *capture;
    struct report_memory *memory;    // of the capture
    struct store_read_window window; // of all sources
    uint64_t max_memory;             // 0: no bound
    uint64_t taken_memory;           // by something else
    bool (*interrupted)(void);       // or NULL
    struct report_grown room;
    bool windowed; // not all events are wanted
    bool too_large;
    // When there is a bound of memory: how many rows will come, of all files; at most so many where
    // `rows_counted` is false. And the bytes of texts that rows brought: of the files before, and
    // from what was used when the rows of this one began, or UINT64_MAX.
    int64_t rows_expected;
    bool rows_counted;
    uint64_t row_texts, rows_began;
    struct store_arena nodes; // of the tables below
    struct nvtxt_hash messages, words, scopes;
    struct report_idmap names; // domain << 32 | message
    uint32_t *last_names;      // of each message; owned
    size_t last_name_room;
    // Of the store that is read.
    struct report_idmap processes, threads, sources;
    // Of the file that is read.
    struct report_idmap file_scopes;     // by PID and domain id
    struct report_idmap process_domains; // of an export: names of domains by PID and domain id
    struct report_idmap file_domains;    // by domain id
    struct report_idmap texts;           // textId of rows with a text
    struct report_idmap strings;         // textId of rows without one
    // What was found last, for rows that are like those before.
    struct report_load_near {
        bool set;
        uint64_t global_tid;
        uint32_t thread;
        int64_t domain_id;
        uint32_t scope;
    } near[REPORT_NEAR];
    struct report_load_near_text {
        bool set;
        int64_t id;
        uint32_t message;
    } near_texts[REPORT_NEAR];
    sqlite3_stmt *find_domain, *find_string;
    // Of all.
    struct report_load_diagnostic *diagnostics; // owned
    size_t diagnostic_count, diagnostic_room;
    bool any;
};

// Room for one more element of an array of the capture. Returns 0 or SQLITE_NOMEM.
#define REPORT_GROW(load, array, count)                                                            \
    report_load_grow((void **)&(load)->capture->array, &(load)->room.array,                        \
                     (load)->capture->count, sizeof(*(load)->capture->array))
int report_load_grow(void **array, size_t *room, size_t count, size_t size);

// SQLITE_INTERRUPT when the load has to stop; asked now and then while rows are read.
int report_load_check(struct report_load_state *load);

// What the texts and tables of the load take by now.
static inline uint64_t report_load_texts(const struct report_load_state *load) {
    return store_arena_used(&load->memory->bytes) + store_arena_used(&load->nodes);
}

// A time of the file since the Unix epoch, or the nearest one that an int64_t can hold.
static inline int64_t report_load_time(const struct report_load_file *file, int64_t time) {
    int64_t result;
    if (__builtin_add_overflow(time, file->offset_ns, &result)) {
        return time < 0 ? INT64_MIN : INT64_MAX;
    }
    return result;
}

static inline int64_t report_load_row(const struct report_load_file *file, int64_t rowid) {
    return (int64_t)((uint64_t)file->segment << REPORT_ROW_BITS | (uint64_t)rowid);
}
