// SPDX-License-Identifier: Apache-2.0
//
// The table has no index and is read from its end: it is empty when all is well, and when it is not
// the newest rows are the ones that matter.
#include "store/query/losses.h"

#include <stdlib.h>

#include "store/db/sql.h"

static const char newest[] =
    "SELECT l.atNs, ifnull(l.sourceId, 0), ifnull(l.uid, -1), ifnull(l.pid, 0), ifnull(l.count, 0),"
    " ifnull(l.reason, ''), coalesce(s.displayName, s.name, '') FROM NVTXT_LOSSES l "
    "LEFT JOIN NVTXT_SOURCES s ON s.id = l.sourceId ORDER BY l.rowid DESC LIMIT ?";

static void copy_text(sqlite3_stmt *stmt, int column, char *text, size_t size) {
    const unsigned char *value = sqlite3_column_text(stmt, column);
    sqlite3_snprintf((int)size, text, "%s", value ? (const char *)value : "");
}

static void read_row(sqlite3_stmt *stmt, struct store_loss_row *row) {
    row->at_ns = sqlite3_column_int64(stmt, 0);
    row->source_id = sqlite3_column_int64(stmt, 1);
    row->uid = sqlite3_column_int64(stmt, 2);
    row->pid = sqlite3_column_int64(stmt, 3);
    row->count = (uint64_t)sqlite3_column_int64(stmt, 4);
    copy_text(stmt, 5, row->reason, sizeof(row->reason));
    copy_text(stmt, 6, row->source, sizeof(row->source));
}

int store_losses_read(sqlite3 *db, size_t limit, struct store_losses *losses) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, newest, -1, &stmt, NULL);
    rc = rc ?: store_sql_bind(stmt, "i", (int64_t)limit);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct store_loss_row *rows =
            realloc(losses->rows, (losses->count + 1) * sizeof(*losses->rows));
        rc = rows ? SQLITE_OK : SQLITE_NOMEM;
        if (rows) {
            losses->rows = rows;
            read_row(stmt, &rows[losses->count++]);
        }
    }
    int final = sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc ?: final;
}

int store_losses_count(sqlite3 *db, int64_t *count) {
    return store_sql_int(db, "SELECT count(*) FROM NVTXT_LOSSES", count);
}
