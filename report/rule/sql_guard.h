// SPDX-License-Identifier: Apache-2.0
//
// The guard around queries of rules (nvtxt-rule(5), "QUERIES"): one SELECT that reads and computes,
// with functions from a list, for a limited time, in limited memory. All else is refused when the
// query is prepared, or stopped when it runs.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

struct sqlite3;
struct sqlite3_stmt;

#define REPORT_SQL_SECONDS 5                         // for one query, on all stores together
#define REPORT_SQL_ROWS 1000                         // of one query, of all stores together
#define REPORT_SQL_BYTES (1024 * 1024)               // of one value
#define REPORT_SQL_HEAP ((int64_t)128 * 1024 * 1024) // for SQLite while a query runs
#define REPORT_SQL_REASON 512                        // bytes of a sentence

// The functions that a query may use; NULL ends the list.
extern const char *const report_sql_functions[];

// One use of the guard, from report_sql_begin() to report_sql_end().
struct report_sql_guard {
    int64_t deadline_ns;       // of the monotonic clock
    bool (*interrupted)(void); // NULL: never
    bool timed_out, was_interrupted;
    int64_t heap_before;             // the limit that SQLite had
    char refused[REPORT_SQL_REASON]; // what the authorizer refused last; "": nothing
};

// Starts the time, and limits the memory of SQLite in this process: no other thread may use SQLite
// until report_sql_end().
void report_sql_begin(struct report_sql_guard *guard, bool (*interrupted)(void));
void report_sql_end(struct report_sql_guard *guard);

// Guards a connection that was opened read-only. `guard` must stay in its place until the
// connection is closed. Returns an SQLite result code.
int report_sql_guard_connection(struct report_sql_guard *guard, struct sqlite3 *db);

// Prepares a query on a guarded connection; the caller finalizes `*stmt`. Returns 0, -ENOMEM,
// -EINTR when `interrupted` said so, or NVTXT_WRONG with a sentence; then `*at` is the byte
// of the query that it is about, or the query's length when that is not known. `*unknown`: it names
// a table or column that this database does not have.
int report_sql_prepare(struct report_sql_guard *guard, struct sqlite3 *db, struct nvtxt_slice sql,
                       struct sqlite3_stmt **stmt, char *reason, size_t *at, bool *unknown);

// What went wrong with the last step, as a sentence. Returns 0, -ENOMEM or -EINTR.
int report_sql_why(const struct report_sql_guard *guard, struct sqlite3 *db, int rc, char *reason);

// Looks at a query without a store, when its rule is loaded. Tables and columns are not looked for:
// an export has other ones than a store. Returns what report_sql_prepare() does.
int report_sql_check(struct nvtxt_slice sql, char *reason, size_t *at);

// Runs a query of a rule, guarded, on the newest segment of each store, one after the other; the
// rows of all become one table (nvtxt-rule(5), "QUERIES").

struct report_builder;
struct report_capture;

struct report_sql_query {
    struct nvtxt_slice sql, title;
    size_t rows;                // at most this many are shown; 0: all, at most REPORT_SQL_ROWS
    int64_t since_ns, until_ns; // bound as :since and :until
    bool (*interrupted)(void);  // NULL: never
};

// Adds the table to the result, for `message`. Returns 0, -ENOMEM, -EINTR, or NVTXT_WRONG
// with a sentence (REPORT_SQL_REASON bytes).
int report_sql_run(struct report_builder *builder, const struct report_capture *capture,
                   size_t message, const struct report_sql_query *query, char *reason);
