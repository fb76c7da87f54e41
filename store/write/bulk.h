// SPDX-License-Identifier: Apache-2.0
//
// The batch inserter: all events of a batch in one statement, all new strings in another.
//
// Functions return SQLite result codes. Used by the thread that owns the store.
#pragma once

#include <sqlite3.h>
#include <stddef.h>

#include "store/value/intern.h"
#include "store/value/record.h"
#include "store/write/batch_tables.h"
#include "store/write/txn.h"

// Which of three optional columns a statement names: every combination has its statement.
#define STORE_BULK_VARIANTS 8
#define STORE_BULK_STMTS 3

struct store_bulk {
    struct store_txn *txn;
    struct store_intern *intern;
    struct store_batch_tables tables;
    size_t fresh_room; // of tables.fresh
    sqlite3_stmt *events[STORE_BULK_VARIANTS];
    sqlite3_stmt *stmts[STORE_BULK_STMTS];
};

// Registers the virtual tables with the connection; `bulk` must not move after it.
int store_bulk_init(struct store_bulk *bulk, struct store_txn *txn, struct store_intern *intern);
void store_bulk_deinit(struct store_bulk *bulk);

// Writes the events of the batch with their strings, NVTXT_EVENT_SOURCES and NVTXT_UNCLOSED. The
// domains of the batch have their ids. A failure leaves the transaction to be rolled back.
int store_bulk_write(struct store_bulk *bulk, const struct store_batch *batch);
