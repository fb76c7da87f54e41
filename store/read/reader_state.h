// SPDX-License-Identifier: Apache-2.0
//
// The inside of a reader, shared by reader.c and the reader_*.c. Nobody else includes it.
#pragma once

#include <limits.h>
#include <sqlite3.h>

#include "protocol/base/clock.h"
#include "protocol/table/hash.h"
#include "store/db/sql.h"
#include "store/read/read_event.h"
#include "store/value/arena.h"

#define STORE_READ_CACHE_KIB "1024" // of pages, of a connection

enum store_read_stmt {
    STORE_READ_ROWS,
    STORE_READ_PROCESS,
    STORE_READ_THREAD,
    STORE_READ_DOMAIN,
    STORE_READ_CATEGORY,
    STORE_READ_SOURCE_AT,
    STORE_READ_SOURCE_NAME,
    STORE_READ_SOURCE_LEVELS,
    STORE_READ_KEY,
    STORE_READ_KEY_AFTER,
    STORE_READ_STMTS,
};

struct store_reader {
    sqlite3 *db;
    bool ours;           // has our tables; else a genuine export
    bool wide;           // rows may have payloads with a type, and JSON
    bool range_ids;      // whether events get their range_id
    char path[PATH_MAX]; // as the caller named it
    char error[PATH_MAX + 256];
    int failed;        // of a look-up of a name: the next chunk reports it
    int64_t offset_ns; // from the file's times to the Unix epoch
    struct store_totals totals;
    int64_t first_row, last_row; // of the store when it was opened

    // The window.
    int64_t since_ns, until_ns;
    struct store_span *spans; // owned, in order
    size_t span_count, span_room;
    size_t span_at;         // index of the one that is read
    int64_t next_row;       // in that span
    double rows, rows_read; // for progress; their difference may exceed an int64_t

    // The chunk.
    struct store_read_event *events; // owned
    struct store_arena texts;
    struct store_sql_rows taking;
    size_t count; // of events
    int steps;    // rows that were read for it
    int64_t last; // of them
    int rc;       // of the one that was taken last

    // Names.
    bool names_loaded; // of an export: all are in the table
    struct nvtxt_hash names;
    struct store_arena name_bytes;
    int64_t source_first, source_last; // rows of the source that was looked up last
    int64_t source_id;
    struct nvtxt_slice source_name; // owned
    bool source_levels;             // of source_id
    bool lacks_levels;              // of an older store, without the column

    sqlite3_stmt *stmts[STORE_READ_STMTS];
};

// reader_open.c: opens `reader->db` read-only and finds out whose file it is. Returns what
// store_read_open() does, with its sentence in reader->error.
int store_reader_connect(struct store_reader *reader);

// Translates `rc`, with a sentence in reader->error when it is a failure.
int store_reader_result(struct store_reader *reader, int rc);

// reader_open.c: true when the export's table has the column. `*rc` is an SQLite result code.
bool store_reader_has_column(struct store_reader *reader, const char *table, const char *column,
                             int *rc);

// reader_tables.c: sets first_row and last_row. Returns an SQLite result code.
int store_reader_rows(struct store_reader *reader);

// A time of the file since the Unix epoch, or the nearest one that an int64_t can hold.
static inline int64_t store_reader_time(const struct store_reader *reader, int64_t time) {
    return nvtxt_time_plus(time, reader->offset_ns);
}

// reader_spans.c: fills the spans of the window. Returns an SQLite result code.
int store_reader_spans(struct store_reader *reader, const struct store_read_window *window);

// reader_names.c: forgets the names that were looked up.
void store_reader_free_names(struct store_reader *reader);
