// SPDX-License-Identifier: Apache-2.0
//
// store/write: the rows of a transaction. One module for each kind of row: events and strings
// (here), sources, diagnostics and losses (catalog), names (names, name_rows, domains, owners),
// sessions and followed files. Each owns its prepared statements; struct store_txn has what they
// share. They write within the transaction that store.c began, and never begin or end one. Only
// sessions and followed files are read back here, as the other half of what they write. Functions
// return SQLite result codes and run on the thread that owns the store.
//
// This header is the batch inserter: all events of a batch in one statement, all new strings in
// another.
#pragma once

#include <sqlite3.h>
#include <stddef.h>

#include "store/db/sql.h"
#include "store/value/arena.h"
#include "store/value/record.h"

// A batch as SQLite sees it during a write: two table-valued virtual tables of one connection,
// nvtxt_batch_events (the records, source by source) and nvtxt_batch_strings (their new texts).
// This is what they hold while a statement runs.
struct store_batch_tables {
    const struct store_txn *txn;
    const struct store_batch *batch;
    const struct store_event **fresh; // owned: events whose text is new, in the order of their ids
    size_t fresh_count;
};

// The value of a column that every event fills with an integer that many have in common: its type,
// rangeId, category, color, globalTid or domainId. `row` is its rowid. The column is that of
// NVTX_EVENTS, from 0.
int64_t store_batch_value(const struct store_batch_tables *tables, const struct store_event *event,
                          int64_t row, int column);

// Registers both with the connection. They read `tables` when a statement runs; it must not move.
// Returns an SQLite result code.
int store_batch_tables_register(sqlite3 *db, const struct store_batch_tables *tables);

// Statements for events, one for a shape of batches: those that were made last. A program has a
// few.
#define STORE_BULK_SHAPES 16
#define STORE_BULK_STMTS 4

struct store_bulk {
    struct store_txn *txn;
    struct store_intern *intern;
    struct store_batch_tables tables;
    size_t fresh_room; // of tables.fresh
    struct store_bulk_shape {
        unsigned shape;
        sqlite3_stmt *stmt;
    } shapes[STORE_BULK_SHAPES];
    size_t oldest; // of them: the next one that goes
    sqlite3_stmt *stmts[STORE_BULK_STMTS];
};

// Registers the virtual tables with the connection; after that `bulk` must not move.
int store_bulk_init(struct store_bulk *bulk, struct store_txn *txn, struct store_intern *intern);
void store_bulk_deinit(struct store_bulk *bulk);

// Writes the events of the batch with their strings, NVTXT_EVENT_SOURCES, NVTXT_UNCLOSED and
// NVTXT_RANGE_KEYS. Before it, the domains of the batch must have their ids. After a failure the
// caller rolls back.
int store_bulk_write(struct store_bulk *bulk, const struct store_batch *batch);
