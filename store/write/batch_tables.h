// SPDX-License-Identifier: Apache-2.0
//
// A batch as SQLite sees it during a write: two table-valued virtual tables of one connection,
// nvtxt_batch_events (the records, source by source) and nvtxt_batch_strings (their new texts).
#pragma once

#include <sqlite3.h>
#include <stddef.h>

struct store_batch;
struct store_event;
struct store_txn;

// What the tables hold while a statement runs.
struct store_batch_tables {
    const struct store_txn *txn;
    const struct store_batch *batch;
    const struct store_event **fresh; // owned: events whose text is new, in the order of their ids
    size_t fresh_count;
};

// Registers both with the connection. They read `tables` when a statement runs; it must not move.
// Returns an SQLite result code.
int store_batch_tables_register(sqlite3 *db, const struct store_batch_tables *tables);
