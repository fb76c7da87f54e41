// SPDX-License-Identifier: Apache-2.0
//
// Names of things that events and open ranges bear: a row of ThreadNames and PROCESSES for every
// thread and process, and the name rows of NVTX_EVENTS (33 categories, 39 threads, 75 domains).
// Each is made once and found again through NVTXT_NAME_ROWS, never by a scan.
//
// Functions return SQLite result codes. Used by the thread that owns the store.
#pragma once

#include <sqlite3.h>

#include "store/value/intern.h"
#include "store/value/record.h"
#include "store/write/domains.h"
#include "store/write/name_rows.h"
#include "store/write/owners.h"
#include "store/write/txn.h"

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
