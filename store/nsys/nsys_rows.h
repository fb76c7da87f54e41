// SPDX-License-Identifier: Apache-2.0
//
// The inside of struct store_nsys, and its rows: which columns the export's tables have, which
// numbers come next, and rows of NVTX_EVENTS and StringIds. Private to store/nsys.
//
// Functions return SQLite result codes.
#pragma once

#include "protocol/interp/event.h"
#include "protocol/interp/interp.h"
#include "store/db/sql.h"
#include "store/nsys/nsys_facts.h"
#include "store/nsys/table_shape.h"
#include "store/value/arena.h"
#include "store/write/name_rows.h"

enum nsys_column { // of NVTX_EVENTS
    COL_START,
    COL_END,
    COL_TYPE,
    COL_RANGE,
    COL_TEXT,
    COL_CATEGORY,
    COL_COLOR,
    COL_TID,
    COL_DOMAIN,
    COL_END_TID,
    COL_TEXT_ID,
    COL_UINT64,
    COL_INT64,
    COL_DOUBLE,
    COL_UINT32,
    COL_INT32,
    COL_FLOAT,
    COL_JSON,
    COL_JSON_ID,
    COL_COUNT,
};

enum nsys_type {
    TYPE_CATEGORY,
    TYPE_MARK,
    TYPE_THREAD,
    TYPE_PUSH_POP,
    TYPE_START_END,
    TYPE_DOMAIN,
    TYPE_COUNT
};

enum nsys_stmt {
    FIND_DOMAIN,
    ADD_DOMAIN,
    GET_NAME,
    SET_NAME,
    SET_STRING,
    GET_PROCESS,
    SET_PROCESS,
    SET_THREAD,
    FIND_STRING,
    KEEP_STRING,
    NSYS_STMTS,
};

struct nsys_domain { // the one that was looked up last
    char *name;      // owned
    size_t len, room;
    uint32_t pid;
    int64_t id;
};

struct store_nsys {
    sqlite3 *db;
    char *name; // what sentences call the export
    struct store_export_facts facts;
    struct store_nsys_place place;
    struct store_nsys_counts counts;
    struct store_txn txn; // db, next_row, next_string
    struct store_intern intern;
    struct store_name_rows rows; // over a temporary table: names of the export, and ours
    struct store_shape strings, events, threads, processes;
    sqlite3_stmt *stmts[NSYS_STMTS];
    int64_t types[TYPE_COUNT];  // the export's numbers
    uint32_t nulls[TYPE_COUNT]; // of names: columns that are NULL in the export's own rows
    // Rows from these on are ours, and may be changed.
    int64_t first_row, first_string, first_process;
    int64_t next_process;
    int64_t next_domain;
    int64_t next_range;
    struct nsys_domain domain;
    uint64_t last_tid; // of the event before
    bool has_last_tid;
    int64_t first_ns, last_ns; // what our events span
    char error[512];
};

// A row of NVTX_EVENTS.
struct nsys_row {
    enum nsys_type type;
    int64_t start, end;
    int64_t range_id;
    struct nvtxt_slice text;
    int64_t text_id;
    int64_t category, color, domain;
    uint64_t tid;
    bool ended_elsewhere;
    uint64_t end_tid;
    struct nvtxt_payload payload;
    struct nvtxt_slice json;
};

// Looks at the tables of the open export; makes NVTX_EVENTS where there is none. Close gives back
// what it took, also after a failure.
int store_nsys_rows_open(struct store_nsys *nsys);
void store_nsys_rows_close(struct store_nsys *nsys);

// The name of a column that readers need and that the export lacks; NULL when it has all of them.
const char *store_nsys_rows_lack(const struct store_nsys *nsys);

// Adds a row, which gets the rowid txn.next_row.
int store_nsys_add_row(struct store_nsys *nsys, const struct nsys_row *row);

// The id of a string that rows may share, added if the cache does not know it; 0 where events have
// no column for it.
int store_nsys_string(struct store_nsys *nsys, struct nvtxt_slice text, int64_t *id);

// The same for the name of a thread: a string of its own, so that a rename changes nothing else; in
// a copy of a store the one of that text.
int store_nsys_thread_string(struct store_nsys *nsys, struct nvtxt_slice text, int64_t *id);

// globalTid of the export.
static inline uint64_t store_nsys_tid(const struct store_nsys *nsys, uint32_t pid, uint32_t tid) {
    return (uint64_t)nsys->place.target << 48 | nvtxt_global_tid(pid, tid);
}

// ---- What is named in an export (nsys_names.c) --------------------------------------------------

// Reads what the export has named already. Call it when the place is known.
int store_nsys_names_load(struct store_nsys *nsys);

// Makes sure that a thread and its process have rows and names.
int store_nsys_see_thread(struct store_nsys *nsys, uint64_t tid);

// The id of a display name in a process. Adds the row that names it, at the time `at`.
int store_nsys_domain(struct store_nsys *nsys, struct nvtxt_slice name, uint32_t pid, uint64_t tid,
                      int64_t at, int64_t *id);

int store_nsys_name(struct store_nsys *nsys, const struct nvtxt_name *name);
