// SPDX-License-Identifier: Apache-2.0
//
// The inside of a load, shared by the .c files of this room. Nobody else includes it.
//
// The functions of the room return SQLite result codes while a file is read: SQLITE_NOMEM without
// memory, SQLITE_INTERRUPT when the caller wants to stop or the capture is too large
// (`too_large`).
#pragma once

#include <sqlite3.h>

#include "protocol/base/clock.h"
#include "protocol/table/arrays.h"
#include "protocol/table/hash.h"
#include "report/load/capture.h"
#include "store/read/reader_tables.h"
#include "store/value/arena.h"

#define REPORT_TID_BITS UINT64_C(0xFFFFFFFFFFFF) // PID and TID; an export has more above
#define REPORT_NEAR 1024                         // a power of two
#define REPORT_EVENTS_MAX (UINT32_MAX - 1)       // so that there is an index for none
#define REPORT_ROW_BITS 40                       // row = segment << 40 | rowid

// What a capture owns beside its arrays.
struct report_memory {
    struct store_arena bytes; // all slices of the capture but those of
    struct store_arena texts; // messages and what few events have
};

struct report_grown { // how many elements the arrays of the capture have room for
    size_t stores, events, more, messages, names, domains, scopes, processes, threads;
    size_t categories, sources, keys, losses, kernels;
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
    struct report_memory *memory;                               // of the capture
    struct store_read_window window;                            // of all sources
    uint64_t max_memory;                                        // 0: no bound
    uint64_t taken_memory;                                      // by something else
    size_t readers;                                             // threads that may read rows
    bool (*interrupted)(void);                                  // or NULL
    int (*part)(void *context, struct report_capture *capture); // or NULL
    void *context;
    struct report_grown room;
    bool windowed; // not all events are wanted
    bool brief;    // as in struct report_load_options
    bool too_large;
    // When there is a bound of memory: how many rows will come, of all files; at most so many where
    // `rows_counted` is false. And the bytes of texts that rows brought: of the files before, and
    // from what was used when the rows of this one began, or UINT64_MAX.
    int64_t rows_expected;
    bool rows_counted;
    uint64_t row_texts, rows_began;
    struct store_arena nodes; // of the tables below but the first
    struct store_arena message_nodes;
    struct nvtxt_hash messages, words, scopes;
    struct nvtxt_map names; // domain << 32 | message
    uint32_t *last_names;   // of each message; owned
    size_t last_name_room;
    // Of the store that is read.
    struct nvtxt_map processes, threads, sources;
    // Of the file that is read.
    struct nvtxt_map file_scopes;     // by PID and domain id
    struct nvtxt_map process_domains; // of an export: names of domains by PID and domain id
    struct nvtxt_map file_domains;    // by domain id
    struct nvtxt_map texts;           // textId of rows with a text
    struct nvtxt_map strings;         // textId of rows without one
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
    size_t diagnostic_count;
    bool any;
};

// Room for one more element of an array of the capture. Returns 0 or SQLITE_NOMEM.
#define REPORT_GROW(load, array, count)                                                            \
    report_load_grow(&(load)->capture->array, &(load)->room.array, (load)->capture->count,         \
                     sizeof(*(load)->capture->array))
static inline int report_load_grow(void *array, size_t *room, size_t count, size_t size) {
    bool fits = count < REPORT_EVENTS_MAX && nvtxt_grow(array, room, count + 1, size) == 0;
    return fits ? SQLITE_OK : SQLITE_NOMEM;
}

static inline bool report_load_interrupted(const struct report_load_state *load) {
    return load->interrupted && load->interrupted();
}

// What the texts and tables of the load take by now.
static inline uint64_t report_load_texts(const struct report_load_state *load) {
    return store_arena_used(&load->memory->bytes) + store_arena_used(&load->memory->texts) +
           store_arena_used(&load->nodes) + store_arena_used(&load->message_nodes);
}

// A time of the file since the Unix epoch, or the nearest one that an int64_t can hold.
static inline int64_t report_load_time(const struct report_load_file *file, int64_t time) {
    return nvtxt_time_plus(time, file->offset_ns);
}

static inline int64_t report_load_row(const struct report_load_file *file, int64_t rowid) {
    return (int64_t)((uint64_t)file->segment << REPORT_ROW_BITS | (uint64_t)rowid);
}

// ---- load_memory

// SQLITE_INTERRUPT when the load has to stop; asked now and then while rows are read. It sets
// `too_large` when the load takes too much at least. The rows to come count when some were read,
// for they say how long texts are, and so what to allow.
int report_load_check(struct report_load_state *load);

// The bytes that the load will take if the texts of the rows to come are like those of the rows
// before, or longer by a sixteenth.
uint64_t report_load_needs(const struct report_load_state *load);

// ---- load_names: what events refer to, each once: messages, names, domains, scopes, processes,
// threads. What is not there yet is added.

// Begins with a store, and with a file of it; leaves the file before it is closed.
void report_load_names_store(struct report_load_state *load);
int report_load_names_file(struct report_load_state *load, const struct report_load_file *file);
void report_load_names_leave(struct report_load_state *load);
void report_load_names_deinit(struct report_load_state *load);

// Forgets all messages and names of events; what rows have in common beside them stays.
void report_load_names_forget(struct report_load_state *load);

// A text that lives as long as the capture, kept once.
int report_load_word(struct report_load_state *load, struct nvtxt_slice text,
                     struct nvtxt_slice *word);
int report_load_domain(struct report_load_state *load, struct nvtxt_slice name, uint32_t *index);
int report_load_name(struct report_load_state *load, uint32_t domain, uint32_t message,
                     uint32_t *index);

// The message of a row: `text`, or where its data is NULL the string of `*text_id`; NULL: it has
// none.
int report_load_text(struct report_load_state *load, struct nvtxt_slice text,
                     const int64_t *text_id, uint32_t *index);

// The same for two columns of a statement's row, the text and its id.
int report_load_text_column(struct report_load_state *load, sqlite3_stmt *row, int column,
                            uint32_t *index);

// The thread, and the scope of the domain of that id in its process. `global_tid` is without what
// an export has above PID and TID.
int report_load_bearer(struct report_load_state *load, const struct report_load_file *file,
                       uint64_t global_tid, int64_t domain_id, uint32_t *thread, uint32_t *scope);

// The scope if the capture has it. The id of the process is its PID.
bool report_load_find_scope(const struct report_load_state *load, uint64_t pid, int64_t domain_id,
                            uint32_t *index);

// ---- load_tables, load_bearers, load_kernels: what a file has beside its events

// Before the events: facts, sources, diagnostics, losses. Counters of a source are totals, so those
// of a later file of the store replace them.
int report_load_facts(struct report_load_state *load, const struct report_load_file *file);
int report_load_sources(struct report_load_state *load, const struct report_load_file *file);

// After them: names of the processes, threads and categories that events have.
int report_load_bearers(struct report_load_state *load, const struct report_load_file *file);

// What names ranges for processes below them. The sources of the file are known.
int report_load_keys(struct report_load_state *load, const struct report_load_file *file);

// The kernels of an export, after the events.
int report_load_kernels(struct report_load_state *load, const struct report_load_file *file);

// ---- load_rows: the events of a file

// Hands the events on that were read since the last time, and forgets them. Nothing is done without
// somebody who takes them.
int report_load_part(struct report_load_state *load);

// The rows of NVTX_EVENTS that lie in the window. The sources of the file are known.
int report_load_rows(struct report_load_state *load, const struct report_load_file *file);

// The open ranges of the newest file of a store.
int report_load_open_ranges(struct report_load_state *load, const struct report_load_file *file);

// How many events report_load_rows() will take: exactly, which looks at each row of the window, or
// at most.
int report_load_count(const struct report_load_state *load, struct report_load_file *file,
                      bool exactly, int64_t *rows);

// ---- load_finish

// After the last file. Returns 0 or -ENOMEM.
int report_load_finish(struct report_load_state *load);
