// SPDX-License-Identifier: Apache-2.0
//
// For rooms that read the tables of a file themselves: opens it as a reader does, leaves no trace,
// and says the same sentences. A reader of store_read_connect() has no chunks and no totals; only
// the functions here, store_read_error() and store_read_close() may be called with it.
#pragma once

#include "store/read/read_event.h"

struct sqlite3;
struct sqlite3_value;
struct store_reader;

// Returns what store_read_open() does.
int store_read_connect(struct store_reader **reader, const char *path, char *error, size_t size);

// The connection, borrowed. `*ours`: a store; else the export of another program.
struct sqlite3 *store_read_database(const struct store_reader *reader, bool *ours);

// One more connection to the same file, for another thread that reads rows of events: those that
// the file had when the first one opened it are the same there. Nobody waits for locks. The caller
// closes `*db` in any case. Returns an SQLite result code; then the rows can be read with the first
// one.
int store_read_connect_again(const struct store_reader *reader, struct sqlite3 **db);

// Translates an SQLite result code into a code of the store, with the sentence.
int store_read_result(struct store_reader *reader, int rc);

// True when the table has the column. `*rc` is an SQLite result code, and is passed on.
bool store_read_has_column(struct store_reader *reader, const char *table, const char *column,
                           int *rc);

// The rows of NVTX_EVENTS that the window can lie in, in order; they live until the next call. Each
// row must still be checked. Returns an SQLite result code.
int store_read_spans(struct store_reader *reader, const struct store_read_window *window,
                     const struct store_span **spans, size_t *count);

// What an export's times lack to the Unix epoch; 0 of a store. Returns an SQLite result code.
int store_read_offset(struct store_reader *reader, int64_t *offset_ns);

// What store_read_rows_after() found.
struct store_read_rows {
    const struct store_read_event *events; // they live until the next call
    size_t count;
    int64_t last;   // the last row that was read, also if it is no event
    bool at_end;    // there is none after it
    bool has_names; // a row of a name was among them
    size_t bytes;   // of memory for their texts
};

// The events in the rows after `after` up to `last` as they are now, in the caller's transaction:
// at most as many as fit into a chunk. Of a store only, and of a reader of store_read_connect().
// Returns an SQLite result code.
int store_read_rows_after(struct store_reader *reader, int64_t after, int64_t last,
                          struct store_read_rows *rows);

// Ends the life of these rows: gives back what long texts took.
void store_read_rows_free(struct store_reader *reader);

// The payload of a row: its columns in the order of enum nvtxt_payload_kind; if it is not `wide`,
// there are only those of Int64 and Double.
void store_read_payload(struct sqlite3_value **values, bool wide, struct nvtxt_payload *payload);
