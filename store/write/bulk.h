// SPDX-License-Identifier: Apache-2.0
//
// store/write: the rows of a transaction. One module for each kind of row: events and strings
// (here), sources, diagnostics and losses (catalog), names (names, name_rows, domains, owners),
// sessions and followed files. Each owns its prepared statements; struct store_txn has what they
// share. They write within the transaction that store.c began, and never begin or end one. Only
// sessions and followed files are read back here, as the other half of what they write. Functions
// return SQLite result codes and run on the thread that owns the store.
//
// This header is the batch inserter: all new strings in one statement, all events of a batch in
// another.
#pragma once

#include "store/value/arena.h"
#include "store/write/event_pages.h"

// The new texts of a batch, as SQLite sees them during a write: the virtual table
// nvtxt_batch_strings of one connection.
struct store_batch_strings {
    const struct store_event **events; // owned: those whose text is new, in the order of their ids
    size_t count, room;
};

// Registers the table with the connection. It reads `strings` when a statement runs; it must not
// move. Returns an SQLite result code.
int store_batch_strings_register(sqlite3 *db, const struct store_batch_strings *strings);

#define STORE_BULK_STMTS 4

struct store_bulk {
    struct store_txn *txn;
    struct store_intern *intern;
    struct store_batch_strings fresh;
    struct store_event_pages pages;
    sqlite3_stmt *stmts[STORE_BULK_STMTS];
};

// Shows the connection what batches look like; after that `bulk` must not move.
int store_bulk_init(struct store_bulk *bulk, struct store_txn *txn, struct store_intern *intern);
void store_bulk_deinit(struct store_bulk *bulk);

// Writes the events of the batch with their strings, NVTXT_EVENT_SOURCES, NVTXT_UNCLOSED and
// NVTXT_RANGE_KEYS. Before it, the domains of the batch must have their ids. After a failure the
// caller rolls back.
int store_bulk_write(struct store_bulk *bulk, const struct store_batch *batch);
