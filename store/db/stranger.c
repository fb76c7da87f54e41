// SPDX-License-Identifier: Apache-2.0
//
// SQLite's own switches for untrusted databases (https://sqlite.org/security.html), and its
// progress handler, the only thing that SQLite calls while a statement runs.
#include "store/db/header.h"

#include "store/db/sql.h"

#define ASK_EVERY 20000 // instructions of SQLite's machine: well below a millisecond

static int (*asked)(void);

static int on_progress(void *unused) {
    (void)unused;
    return asked && asked() > 0;
}

void store_stranger_ask(int (*asked_to_stop)(void)) {
    asked = asked_to_stop;
}

int store_stranger_guard(sqlite3 *db) {
    int rc = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    rc = rc ?: sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    rc = rc ?: sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (asked) {
        sqlite3_progress_handler(db, ASK_EVERY, on_progress, NULL);
    }
    return rc;
}

// Views and virtual tables have no page, and only a table without rowids is an index itself. The
// table table_list says it, too, but makes SQLite work out the columns of all views.
int store_stranger_is_odd(sqlite3 *db, bool *odd) {
    int64_t found = 0;
    int rc = store_sql_int(db,
                           "SELECT count(*) FROM main.sqlite_master m WHERE type IN ('table', "
                           "'view') AND name = 'NVTX_EVENTS' COLLATE NOCASE AND (rootpage = 0 OR "
                           "EXISTS (SELECT 1 FROM pragma_index_info(m.name, 'main')))",
                           &found);
    *odd = found > 0;
    return rc;
}

int store_stranger_trigger(sqlite3 *db, char *name, size_t size) {
    sqlite3_stmt *stmt = NULL;
    *name = '\0';
    int rc = sqlite3_prepare_v2(
        db, "SELECT name FROM main.sqlite_master WHERE type = 'trigger' ORDER BY rowid LIMIT 1", -1,
        &stmt, NULL);
    if (store_sql_next(stmt, &rc)) {
        store_sql_text(stmt, 0, name, size);
    }
    sqlite3_finalize(stmt);
    return rc;
}
