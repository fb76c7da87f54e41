// SPDX-License-Identifier: Apache-2.0
//
// NVTXT_OWNERS: whose a process is, and so its names. The batch in which a source looked at the
// process writes the row. When the owner changes, the names that the one before gave become default
// names, so that they do not stand beside another's events; and names that the same batch still
// brings of it are left out (names.c).
//
// Functions return SQLite result codes. Used by the thread that owns the store.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/db/sql.h"

struct store_batch;

#define STORE_OWNERS_STMTS 9

struct store_owners {
    struct store_txn *txn;
    sqlite3_stmt *stmts[STORE_OWNERS_STMTS];
};

void store_owners_init(struct store_owners *owners, struct store_txn *txn);
void store_owners_deinit(struct store_owners *owners);

int store_owners_write(struct store_owners *owners, const struct store_batch *batch);

// Whether a process is the user's, or nobody's. `*is` is set.
int store_owners_is(struct store_owners *owners, uint64_t pid, int64_t uid, bool *is);

// A process is in this file from now on. Without a row its owner is not known (the file was begun
// while the row of its batch was on the way): then nobody may name it until somebody proves it.
int store_owners_see(struct store_owners *owners, uint64_t pid);
