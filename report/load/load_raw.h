// SPDX-License-Identifier: Apache-2.0
//
// Rows of NVTX_EVENTS as they stand in a file, for whoever reads them: the thread that loads, or
// one that reads ahead (load_ahead.h). Only what is needed is asked for: the columns of the
// extension `nvtx` where a source had it, and some only if the caller of the load looks at them.
// Functions return SQLite result codes.
#pragma once

#include "report/load/load_state.h"
#include "store/db/sql.h"

struct report_raw {
    int type;
    bool has_end, has_text_id;
    int64_t row, start, end, text_id, domain_id;
    uint64_t global_tid;     // without what an export has above PID and TID
    struct nvtxt_slice text; // data NULL: none
    struct nvtxt_slice json; // only of wide rows; empty: none
    // Only if the load is not brief.
    bool has_end_global_tid;
    uint32_t category, color;
    uint64_t end_global_tid; // as global_tid
    struct nvtxt_payload payload;
};

// The statement of one connection.
struct report_raw_rows {
    sqlite3_stmt *stmt; // owned
    int columns;        // that a row has
    struct store_sql_rows taking;
    // Takes a row, which lives during the call. True: let me go on outside.
    bool (*take)(void *context, const struct report_raw *raw);
    void *context;
    int rc;        // of reading the last row
    int64_t least; // the rowid that the next row has at least
};

// Prepares it for a connection to the file; `rows` must not move. What a row has depends on the
// load and on the columns of the file.
int report_raw_prepare(struct report_raw_rows *rows, const struct report_load_state *load,
                       const struct report_load_file *file, sqlite3 *db);

// Begins with rows from `first` to `last`; `take` and `context` are set. While store_sql_next() of
// the statement is true, `rc` says whether the row could be read. Those that are taken are in
// order, each once: SQLite trusts the pages of a file, and this does not.
int report_raw_begin(struct report_raw_rows *rows, int64_t first, int64_t last);

// Rows of another table, with the same columns in the same order: their number, at most
// REPORT_RAW_MOST.
#define REPORT_RAW_MOST 20
int report_raw_columns(bool wide);
int report_raw_read(sqlite3_value **values, int columns, struct report_raw *raw);
