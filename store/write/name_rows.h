// SPDX-License-Identifier: Apache-2.0
//
// NVTXT_NAME_ROWS: where the row of a name stands, so that it is found without a scan and made only
// once. A bounded cache stands before the table and may forget anything at any time.
//
// Functions return SQLite result codes unless they say otherwise. Used by the thread that owns the
// store.
#pragma once

#include <sqlite3.h>
#include <stdint.h>

#include "store/db/sql.h"

// Kinds besides the event types 39 and 75, whose rows stand in NVTX_EVENTS. Kind 33 is from older
// versions: a category of all processes (key: its number).
#define STORE_ROW_PROCESS 1  // key: pid, row: of PROCESSES
#define STORE_ROW_THREAD 2   // key: globalTid, row: of StringIds (ThreadNames.nameId)
#define STORE_ROW_CATEGORY 3 // key: store_category_key(), row: of NVTX_EVENTS

// A category of the process of a thread: pid * 2^32 + category.
static inline uint64_t store_category_key(uint64_t global_tid, uint32_t category) {
    return (global_tid >> 24) << 32 | category;
}

#define STORE_NAME_ROWS_STMTS 2

struct store_name_rows {
    struct store_txn *txn;
    struct store_name_entry *cache;
    sqlite3_stmt *stmts[STORE_NAME_ROWS_STMTS];
};

int store_name_rows_init(struct store_name_rows *rows, struct store_txn *txn); // 0 or -ENOMEM
void store_name_rows_deinit(struct store_name_rows *rows);
void store_name_rows_forget(struct store_name_rows *rows); // the cache, not the table

// `*row` is 0 when there is none yet.
int store_name_rows_find(struct store_name_rows *rows, int kind, int64_t domain, uint64_t key,
                         int64_t *row);
int store_name_rows_add(struct store_name_rows *rows, int kind, int64_t domain, uint64_t key,
                        int64_t row);
