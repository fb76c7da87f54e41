// SPDX-License-Identifier: Apache-2.0
//
// A file whose META_DATA_EXPORT was dropped by somebody stays without: nothing else needs that
// table.
#include "store/segment/store_id.h"

#include <stdbool.h>
#include <string.h>

#include "store/db/sql.h"

static int has_table(sqlite3 *db, const char *schema, bool *has) {
    char sql[128];
    int64_t count = 0;
    sqlite3_snprintf(sizeof(sql), sql,
                     "SELECT count(*) FROM %w.sqlite_master WHERE name = 'META_DATA_EXPORT'",
                     schema);
    int rc = store_sql_int(db, sql, &count);
    *has = count > 0;
    return rc;
}

static int read_from(sqlite3 *db, const char *schema, char id[STORE_ID_SIZE]) {
    sqlite3_stmt *stmt = NULL;
    char sql[128];
    char text[STORE_ID_SIZE + 1]; // so that a longer one is seen to be longer
    bool has = false;
    *id = '\0';
    int rc = has_table(db, schema, &has);
    if (rc != SQLITE_OK || !has) {
        return rc;
    }
    sqlite3_snprintf(sizeof(sql), sql,
                     "SELECT value FROM %w.META_DATA_EXPORT WHERE name = 'STORE_ID'", schema);
    rc = store_sql_prepare(db, &stmt, sql);
    while (store_sql_next(stmt, &rc)) {
        store_sql_text(stmt, 0, text, sizeof(text));
        if (nvtxt_uuid_is(text)) {
            strcpy(id, text);
        }
    }
    sqlite3_finalize(stmt);
    return rc;
}

int store_id_read(sqlite3 *db, char id[STORE_ID_SIZE]) {
    return read_from(db, "main", id);
}

// In a transaction.
static int set(sqlite3 *db, const char *id) {
    sqlite3_stmt *stmt = NULL;
    bool has = false;
    int rc = has_table(db, "main", &has);
    if (rc != SQLITE_OK || !has) {
        return rc;
    }
    rc = store_sql_exec(db, "DELETE FROM META_DATA_EXPORT WHERE name = 'STORE_ID'");
    if (rc == 0) {
        rc = store_sql_prepare(db, &stmt,
                               "INSERT INTO META_DATA_EXPORT (name, value) "
                               "VALUES ('STORE_ID', ?)");
    }
    rc = rc ?: store_sql_bind(stmt, "t", id);
    rc = rc ?: store_sql_run(stmt);
    sqlite3_finalize(stmt);
    return rc;
}

int store_id_ensure(sqlite3 *db) {
    char id[STORE_ID_SIZE];
    int rc = store_id_read(db, id);
    return rc != SQLITE_OK || *id ? rc : store_id_renew(db);
}

int store_id_renew(sqlite3 *db) {
    char id[STORE_ID_SIZE];
    int r = nvtxt_uuid_make(id);
    int rc = r < 0 ? store_result_rc(r) : SQLITE_OK;
    rc = rc ?: store_sql_exec(db, "BEGIN IMMEDIATE");
    return rc ?: store_sql_commit(db, set(db, id));
}

int store_id_carry(sqlite3 *db, const char *from) {
    char id[STORE_ID_SIZE];
    int rc = read_from(db, from, id);
    return rc != SQLITE_OK || !*id ? rc : set(db, id);
}
