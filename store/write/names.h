// SPDX-License-Identifier: Apache-2.0
//
// Names of things that events and open ranges bear: a row of ThreadNames and PROCESSES for every
// thread and process, and the name rows of NVTX_EVENTS (33 categories, 39 threads, 75 domains).
// Each is made once and found again through NVTXT_NAME_ROWS, never by a scan.
//
// Functions return SQLite result codes. Used by the thread that owns the store.
#pragma once

#include "store/value/arena.h"
#include "store/write/domains.h"
#include "store/write/name_rows.h"
#include "store/write/owners.h"

#define STORE_NAMES_STMTS 9

struct store_names {
    struct store_txn *txn;
    struct store_intern *intern;
    struct store_domains *domains;
    struct store_name_rows *rows;
    struct store_owners *owners;
    sqlite3_stmt *stmts[STORE_NAMES_STMTS];
};

void store_names_init(struct store_names *names, struct store_txn *txn, struct store_intern *intern,
                      struct store_domains *domains, struct store_name_rows *rows,
                      struct store_owners *owners);
void store_names_deinit(struct store_names *names);

// To be called when a source's row was made: if its process is only called "Process <pid>", it gets
// the peer's name.
int store_names_new_source(struct store_names *names, const struct store_source *source);

// Writes the names that a share gives, then what its events bear. Then every domain of its events
// has its id.
int store_names_write(struct store_names *names, const struct store_batch *batch,
                      const struct store_share *share);

// ---- Sources, diagnostics and losses (catalog.c) ------------------------------------------------
//
// What a batch has besides events: its sources and their counters, diagnostics, clock measurements
// and losses. Threads, processes and name rows are written by names.c.

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
