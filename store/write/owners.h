// SPDX-License-Identifier: Apache-2.0
//
// NVTXT_OWNERS: which user the names of a process belong to. The batch in which a user first used
// or named the process, or took it over, writes the row. After a take-over the names that the owner
// before gave become default names, so that they do not stand beside the new owner's events.
//
// Functions return SQLite result codes. Used by the thread that owns the store.
#pragma once

#include <sqlite3.h>
#include <stdint.h>

#include "store/write/txn.h"

struct store_batch;

#define STORE_OWNERS_STMTS 7

struct store_owners {
    struct store_txn *txn;
    sqlite3_stmt *stmts[STORE_OWNERS_STMTS];
};

void store_owners_init(struct store_owners *owners, struct store_txn *txn);
void store_owners_deinit(struct store_owners *owners);

int store_owners_write(struct store_owners *owners, const struct store_batch *batch);
