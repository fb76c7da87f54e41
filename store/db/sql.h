// SPDX-License-Identifier: Apache-2.0
//
// The calls that every user of statements inside store/ needs: prepare once, bind by letters, loop
// over rows, end a transaction. Functions return SQLite result codes. No state of its own.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

// Prepares `text` into `*slot` on first use; the slot's owner finalizes it.
int store_sql_prepare(sqlite3 *db, sqlite3_stmt **slot, const char *text);

// Binds parameters from 1 on, one per letter: `i` int64_t, `d` double, `t` const char * (NULL
// binds NULL), `s` const char * and size_t (bytes without a NUL), `n` NULL (no argument).
// Text is borrowed: it must live until the statement has run.
int store_sql_bind(sqlite3_stmt *stmt, const char *types, ...);

// Steps once and resets: for statements whose rows nobody reads.
int store_sql_run(sqlite3_stmt *stmt);

// The same for a query: `*value` is the first column of its first row, 0 when it has no row.
int store_sql_run_int(sqlite3_stmt *stmt, int64_t *value);

// The next row of a statement: `while (store_sql_next(stmt, &rc)) { rc = ...; }`. False when `*rc`
// is a failure already, when the step fails, and at the end, where `*rc` is SQLITE_OK.
bool store_sql_next(sqlite3_stmt *stmt, int *rc);

// Resets, keeping the code of the failed step, after `rc` came from store_sql_next or sqlite3_step.
int store_sql_done(sqlite3_stmt *stmt, int rc);

// Runs statements without parameters and without rows.
int store_sql_exec(sqlite3 *db, const char *text);

// Ends a transaction: commits when `rc` is SQLITE_OK, else, or when that fails, rolls back. Returns
// the first failure.
int store_sql_commit(sqlite3 *db, int rc);

// Prepares a query and runs it once, as store_sql_run_int does.
int store_sql_int(sqlite3 *db, const char *text, int64_t *value);

// A column's text with a NUL, cut to `size` bytes; "" for NULL.
void store_sql_text(sqlite3_stmt *stmt, int column, char *text, size_t size);

// A copy of a column's text that the caller frees, with a NUL after it; empty for NULL.
int store_sql_copy(sqlite3_stmt *stmt, int column, struct nvtxt_slice *slice);

// The same for text without a NUL in it; NULL for NULL.
int store_sql_string(sqlite3_stmt *stmt, int column, char **string);

void store_sql_finalize(sqlite3_stmt **slots, size_t count);

// For a struct with `txn` and `stmts`, in a file that has the `texts` of the statements under the
// same numbers: prepares one on first use and binds its parameters; the second one also runs it.
#define STORE_SQL_BIND(part, which, types, ...)                                                    \
    (store_sql_prepare((part)->txn->db, &(part)->stmts[which], texts[which])                       \
         ?: store_sql_bind((part)->stmts[which], types, __VA_ARGS__))
#define STORE_SQL_RUN(part, which, types, ...)                                                     \
    (STORE_SQL_BIND(part, which, types, __VA_ARGS__) ?: store_sql_run((part)->stmts[which]))
