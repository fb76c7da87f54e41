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
#include "store/value/rows.h"

// Prepares `text` into `*slot` on first use; the slot's owner finalizes it.
int store_sql_prepare(sqlite3 *db, sqlite3_stmt **slot, const char *text);

// Binds parameters from 1 on, one per letter: `i` int64_t, `d` double, `t` const char * (NULL
// binds NULL), `s` const char * and size_t (bytes without a NUL), `o` struct nvtxt_slice (data NULL
// binds NULL), `m` struct store_maybe, `n` NULL (no argument).
// Text is borrowed: it must live until the statement has run.
int store_sql_bind(sqlite3_stmt *stmt, const char *types, ...);

// Steps once and resets: for statements whose rows nobody reads.
int store_sql_run(sqlite3_stmt *stmt);

// The same for a query: `*value` is the first column of its first row, 0 when it has no row.
int store_sql_run_int(sqlite3_stmt *stmt, int64_t *value);

// The next row of a statement: `while (store_sql_next(stmt, &rc)) { rc = ...; }`. False when `*rc`
// is a failure already, when the step fails, and at the end, where `*rc` is SQLITE_OK.
bool store_sql_next(sqlite3_stmt *stmt, int *rc);

// A statement whose rows a function of ours takes while SQLite's machine runs: a row costs one
// call, not a step and a call for each column. `... WHERE nvtxt_row(a, b, c)` gives `take` the
// values of each row; its store_sql_next() returns true only when `take` did, which means: let me
// go on outside. Where rows have an order, they are those of `(SELECT ... ORDER BY ... LIMIT -1)`.
// Text is UTF-8; all values end when `take` returns.
struct store_sql_rows {
    bool (*take)(void *context, sqlite3_value **values);
    void *context;
};

// Makes nvtxt_row known to a connection; `rows` must not move, its members may change.
int store_sql_rows_register(sqlite3 *db, struct store_sql_rows *rows);

// A view of a value's text, as store_sql_view() of a column.
int store_sql_value(sqlite3_value *value, struct nvtxt_slice *text);

static inline bool store_sql_is_null(sqlite3_value *value) {
    return sqlite3_value_type(value) == SQLITE_NULL;
}

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

// A view of a column's text until the next step, data NULL for NULL. Fails when memory is too short
// for the text.
int store_sql_view(sqlite3_stmt *stmt, int column, struct nvtxt_slice *text);

// A copy of a column's text that the caller frees, with a NUL after it; empty for NULL.
int store_sql_copy(sqlite3_stmt *stmt, int column, struct nvtxt_slice *slice);

// The same for text without a NUL in it; NULL for NULL.
int store_sql_string(sqlite3_stmt *stmt, int column, char **string);

void store_sql_finalize(sqlite3_stmt **slots, size_t count);

// What the modules of store/write share during a transaction: the connection, the ids that come
// next, and the numbers of the transaction's NVTXT_BATCHES row. Owned by the store. It reads the
// ids from the file when it is opened, after a rollback, and when another process wrote.
struct store_txn {
    sqlite3 *db;
    int64_t now_ns;      // Unix time at which the transaction began
    int64_t next_row;    // of NVTX_EVENTS
    int64_t range_base;  // rangeId minus rowid: rows of earlier segments
    int64_t next_string; // of StringIds
    uint64_t events;     // rows of type 34, 59, 60 that it added
    int64_t first_row, last_row;
    int64_t min_start, max_end;
};

// For a struct with `txn` and `stmts`, in a file that has the `texts` of the statements under the
// same numbers: prepares one on first use and binds its parameters; the second one also runs it.
#define STORE_SQL_BIND(part, which, types, ...)                                                    \
    (store_sql_prepare((part)->txn->db, &(part)->stmts[which], texts[which])                       \
         ?: store_sql_bind((part)->stmts[which], types, __VA_ARGS__))
#define STORE_SQL_RUN(part, which, types, ...)                                                     \
    (STORE_SQL_BIND(part, which, types, __VA_ARGS__) ?: store_sql_run((part)->stmts[which]))

// ---- Codes (result.c) ---------------------------------------------------------------------------
//
// Translates SQLite's result codes, and errnos of system calls, into codes of the store, with a
// sentence for people. It is the one place of the store that looks at the value of a negative errno
// or of a code of SQLite; all others pass them on.

// The store's code for `rc` of the last call on `db`: STORE_DONE, a positive code, or -errno.
int store_result_of(sqlite3 *db, int rc);

// The same, with a sentence "cannot <what> <path>: <why>" when it failed.
int store_result_say(sqlite3 *db, int rc, const char *what, const char *path, char *error,
                     size_t size);

// The same for a call of the system that failed with `r`, below 0: says a sentence "cannot <what>
// the store <path>: <why>" and returns STORE_NO_SPACE or `r`.
int store_result_say_errno(int r, const char *what, const char *path, char *error, size_t size);

// SQLite's code for a negative errno, for functions that return those.
int store_result_rc(int r);

// True when the last failure on `db` was a function, a module or a collation that is missing.
bool store_result_lacks_code(sqlite3 *db);
