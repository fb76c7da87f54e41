// SPDX-License-Identifier: Apache-2.0
//
// One loop loads all kinds of rows; each kind has its query and a function that reads one row.
#include "store/read/older_segments.h"

#include "protocol/table/arrays.h"
#include "store/db/sql.h"

// Appends the rows of a statement to `*rows`, and finalizes it.
static int load(sqlite3_stmt *stmt, int rc, void (*read)(sqlite3_stmt *stmt, void *row),
                void **rows, size_t *count, size_t size) {
    while (store_sql_next(stmt, &rc)) {
        void *row = nvtxt_add(rows, count, size);
        if (row) {
            read(stmt, row);
        }
        rc = row ? SQLITE_OK : SQLITE_NOMEM;
    }
    sqlite3_finalize(stmt);
    return rc;
}

// ---- Losses -------------------------------------------------------------------------------------

// The table has no index and is read from its end: it is empty when all is well, and when it is not
// the newest rows are the ones that matter.
static const char newest_losses[] =
    "SELECT l.atNs, ifnull(l.sourceId, 0), ifnull(l.uid, -1), ifnull(l.pid, 0), ifnull(l.count, 0),"
    " ifnull(l.reason, ''), coalesce(s.displayName, s.name, '') FROM NVTXT_LOSSES l "
    "LEFT JOIN NVTXT_SOURCES s ON s.id = l.sourceId ORDER BY l.rowid DESC LIMIT ?";

static void read_loss(sqlite3_stmt *stmt, void *to) {
    struct store_loss_row *row = to;
    row->at_ns = sqlite3_column_int64(stmt, 0);
    row->source_id = sqlite3_column_int64(stmt, 1);
    row->uid = sqlite3_column_int64(stmt, 2);
    row->pid = sqlite3_column_int64(stmt, 3);
    row->count = (uint64_t)sqlite3_column_int64(stmt, 4);
    store_sql_text(stmt, 5, row->reason, sizeof(row->reason));
    store_sql_text(stmt, 6, row->source, sizeof(row->source));
}

int store_losses_read(sqlite3 *db, size_t limit, struct store_losses *losses) {
    sqlite3_stmt *stmt = NULL;
    void *rows = losses->rows;
    int rc = sqlite3_prepare_v2(db, newest_losses, -1, &stmt, NULL);
    rc = rc ?: store_sql_bind(stmt, "i", (int64_t)limit);
    rc = load(stmt, rc, read_loss, &rows, &losses->count, sizeof(*losses->rows));
    losses->rows = rows;
    return rc;
}

int store_losses_count(sqlite3 *db, int64_t *count) {
    return store_sql_int(db, "SELECT count(*) FROM NVTXT_LOSSES", count);
}

// ---- Diagnostics --------------------------------------------------------------------------------

// The newest ones stand at the end of the table; those of one source are found by its index, where
// the largest lines are the newest ones.
#define DIAG_COLUMNS                                                                               \
    "SELECT ifnull(d.atNs, 0), ifnull(d.sourceId, 0), d.line, d.\"column\", d.severity, d.stage, " \
    "d.code, d.message, d.excerpt, coalesce(s.name, s.displayName, s.peerComm, '') "               \
    "FROM NVTXT_DIAGNOSTICS d LEFT JOIN NVTXT_SOURCES s ON s.id = d.sourceId "

static const char newest_diags[] = DIAG_COLUMNS "ORDER BY d.rowid DESC LIMIT ?1";
static const char newest_diags_of_source[] =
    DIAG_COLUMNS "WHERE d.sourceId = ?2 ORDER BY d.line DESC, d.rowid DESC LIMIT ?1";

static void read_diag(sqlite3_stmt *stmt, void *to) {
    struct store_diag_row *row = to;
    row->at_ns = sqlite3_column_int64(stmt, 0);
    row->source_id = sqlite3_column_int64(stmt, 1);
    row->line = (uint64_t)sqlite3_column_int64(stmt, 2);
    row->column = (uint32_t)sqlite3_column_int64(stmt, 3);
    store_sql_text(stmt, 4, row->severity, sizeof(row->severity));
    store_sql_text(stmt, 5, row->stage, sizeof(row->stage));
    store_sql_text(stmt, 6, row->code, sizeof(row->code));
    store_sql_text(stmt, 7, row->message, sizeof(row->message));
    store_sql_text(stmt, 8, row->excerpt, sizeof(row->excerpt));
    store_sql_text(stmt, 9, row->source, sizeof(row->source));
}

int store_diags_read(sqlite3 *db, int64_t source_id, size_t limit, struct store_diags *diags) {
    sqlite3_stmt *stmt = NULL;
    void *rows = diags->rows;
    int rc =
        sqlite3_prepare_v2(db, source_id ? newest_diags_of_source : newest_diags, -1, &stmt, NULL);
    rc = rc ?: store_sql_bind(stmt, source_id ? "ii" : "i", (int64_t)limit, source_id);
    rc = load(stmt, rc, read_diag, &rows, &diags->count, sizeof(*diags->rows));
    diags->rows = rows;
    return rc;
}

// ---- Totals -------------------------------------------------------------------------------------

// NVTXT_BATCHES knows every event that we wrote. Rowids are given without holes, so when its events
// and our name rows together are as many as the largest rowid, there are no other rows, and the
// event table need not be read.
int store_totals_read(sqlite3 *db, struct store_totals *totals) {
    int64_t number;
    int64_t named = 0;
    int64_t rows = 0;
    int rc = store_sql_int(db, "SELECT total(events) FROM NVTXT_BATCHES", &number);
    totals->events = (uint64_t)number;
    rc = rc ?: store_sql_int(db, "SELECT startTime FROM ANALYSIS_DETAILS", &totals->first_ns);
    rc = rc ?: store_sql_int(db, "SELECT stopTime FROM ANALYSIS_DETAILS", &totals->last_ns);
    rc = rc ?: store_sql_int(db, "SELECT count(*) FROM NVTXT_SOURCES", &number);
    totals->sources = (uint64_t)number;
    rc = rc ?: store_sql_int(db, "SELECT count(*) FROM NVTXT_LOSSES", &number);
    totals->losses = (uint64_t)number;
    if (rc == 0) {
        rc = store_sql_int(
            db, "SELECT count(DISTINCT row) FROM NVTXT_NAME_ROWS WHERE kind IN (3, 33, 39, 75)",
            &named);
    }
    rc = rc ?: store_sql_int(db, "SELECT ifnull(max(rowid), 0) FROM NVTX_EVENTS", &rows);
    if (rc != SQLITE_OK || rows == (int64_t)totals->events + named) {
        return rc;
    }
    // There are rows that we did not write, so all rows are counted.
    rc = store_sql_int(db, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)",
                       &number);
    totals->events = (uint64_t)number;
    if (rc == 0) {
        rc = store_sql_int(db, "SELECT min(start) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)",
                           &totals->first_ns);
    }
    if (rc != 0) {
        return rc;
    }
    return store_sql_int(db, "SELECT max(end) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)",
                         &totals->last_ns);
}
