// SPDX-License-Identifier: Apache-2.0
//
// What a batch has besides events: its sources and their counters, diagnostics, clock measurements
// and losses. Threads, processes and name rows are written by names.c.
//
// Functions return SQLite result codes. Used by the thread that owns the store.
#pragma once

#include <sqlite3.h>

#include "store/value/record.h"
#include "store/write/names.h"
#include "store/write/txn.h"

#define STORE_CATALOG_STMTS 7

struct store_catalog {
    struct store_txn *txn;
    struct store_names *names;
    sqlite3_stmt *stmts[STORE_CATALOG_STMTS];
};

void store_catalog_init(struct store_catalog *catalog, struct store_txn *txn,
                        struct store_names *names);
void store_catalog_deinit(struct store_catalog *catalog);

// Writes the sources of the batch, their names and diagnostics, clocks and losses.
int store_catalog_write(struct store_catalog *catalog, const struct store_batch *batch);
