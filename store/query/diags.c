// SPDX-License-Identifier: Apache-2.0
//
// The newest ones stand at the end of the table; those of one source are found by its index, where
// the largest lines are the newest ones.
#include "store/query/diags.h"

#include <stdlib.h>

#include "store/db/sql.h"

#define COLUMNS                                                                                    \
    "SELECT ifnull(d.atNs, 0), ifnull(d.sourceId, 0), d.line, d.\"column\", d.severity, d.stage, " \
    "d.code, d.message, d.excerpt, coalesce(s.name, s.displayName, s.peerComm, '') "               \
    "FROM NVTXT_DIAGNOSTICS d LEFT JOIN NVTXT_SOURCES s ON s.id = d.sourceId "

static const char newest[] = COLUMNS "ORDER BY d.rowid DESC LIMIT ?1";
static const char newest_of_source[] =
    COLUMNS "WHERE d.sourceId = ?2 ORDER BY d.line DESC, d.rowid DESC LIMIT ?1";

static void copy_text(sqlite3_stmt *stmt, int column, char *text, size_t size) {
    const unsigned char *value = sqlite3_column_text(stmt, column);
    sqlite3_snprintf((int)size, text, "%s", value ? (const char *)value : "");
}

static void read_row(sqlite3_stmt *stmt, struct store_diag_row *row) {
    row->at_ns = sqlite3_column_int64(stmt, 0);
    row->source_id = sqlite3_column_int64(stmt, 1);
    row->line = (uint64_t)sqlite3_column_int64(stmt, 2);
    row->column = (uint32_t)sqlite3_column_int64(stmt, 3);
    copy_text(stmt, 4, row->severity, sizeof(row->severity));
    copy_text(stmt, 5, row->stage, sizeof(row->stage));
    copy_text(stmt, 6, row->code, sizeof(row->code));
    copy_text(stmt, 7, row->message, sizeof(row->message));
    copy_text(stmt, 8, row->excerpt, sizeof(row->excerpt));
    copy_text(stmt, 9, row->source, sizeof(row->source));
}

int store_diags_read(sqlite3 *db, int64_t source_id, size_t limit, struct store_diags *diags) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, source_id ? newest_of_source : newest, -1, &stmt, NULL);
    rc = rc ?: store_sql_bind(stmt, source_id ? "ii" : "i", (int64_t)limit, source_id);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct store_diag_row *rows =
            realloc(diags->rows, (diags->count + 1) * sizeof(*diags->rows));
        rc = rows ? SQLITE_OK : SQLITE_NOMEM;
        if (rows) {
            diags->rows = rows;
            read_row(stmt, &rows[diags->count++]);
        }
    }
    int final = sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc ?: final;
}
