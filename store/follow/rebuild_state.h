// SPDX-License-Identifier: Apache-2.0
//
// Inside of a rebuild: what its parts share. rebuild.c opens and ends it and adds the rows that
// nothing else needs, rebuild_events.c adds events, rebuild_names.c adds names.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "store/db/sql.h"
#include "store/value/arena.h"

enum store_rebuild_statement {
    STORE_REBUILD_ADD_EVENT,
    STORE_REBUILD_ADD_STRING,
    STORE_REBUILD_ADD_BATCH,
    STORE_REBUILD_ADD_RUN,
    STORE_REBUILD_ADD_UNCLOSED,
    STORE_REBUILD_ADD_KEY,
    STORE_REBUILD_ADD_SOURCE,
    STORE_REBUILD_ADD_DIAGNOSTIC,
    STORE_REBUILD_ADD_LOSS,
    STORE_REBUILD_ADD_DOMAIN,
    STORE_REBUILD_ADD_PROCESS,
    STORE_REBUILD_ADD_THREAD,
    STORE_REBUILD_ADD_NAME,
    STORE_REBUILD_ADD_NAME_ROW,
    STORE_REBUILD_FIND_THREAD,
    STORE_REBUILD_STATEMENTS
};

struct store_rebuild_batch { // events 0: none
    int64_t first, last, min_start, max_end, committed_ns, events;
};

struct store_rebuild_run { // last 0: none
    int64_t first, last, source_id;
};

struct store_rebuild {
    sqlite3 *db;
    char *path; // owned
    sqlite3_stmt *stmts[STORE_REBUILD_STATEMENTS];
    struct store_intern intern;
    int64_t next_row, next_string;
    int64_t last_start; // of the last event: where names stand
    struct store_rebuild_batch batch;
    struct store_rebuild_run run;
    bool has_nvtx; // payloads or JSON that need the extension
    char error[512];
};

// Translates an SQLite result code into a code of the store, with the sentence.
int store_rebuild_result(struct store_rebuild *rebuild, int rc);

// rebuild.c: prepares a statement, once; a result code.
int store_rebuild_ready(struct store_rebuild *rebuild, enum store_rebuild_statement which);

// Runs a statement that returns no row; a result code.
#define STORE_REBUILD_RUN(rebuild, which, types, ...)                                              \
    (store_rebuild_ready(rebuild, which)                                                           \
         ?: store_sql_bind((rebuild)->stmts[which], types, __VA_ARGS__)                            \
         ?: store_sql_run((rebuild)->stmts[which]))

// rebuild_events.c: a new string, and one that may be there already.
int store_rebuild_add_string(struct store_rebuild *rebuild, struct nvtxt_slice text, int64_t *id);
int store_rebuild_intern(struct store_rebuild *rebuild, struct nvtxt_slice text, int64_t *id);

// rebuild_events.c: no event follows, or none of this batch.
int store_rebuild_end_batch(struct store_rebuild *rebuild);

// rebuild_names.c: rows for the domains that events use, and default names for threads and
// processes that have none.
int store_rebuild_complete_names(struct store_rebuild *rebuild);
