// SPDX-License-Identifier: Apache-2.0
//
// SQLite's online backup in steps of STEP_BYTES, whatever the page size is; the watch is called
// after each step.
#include "store/copy/snapshot.h"

#include "store/db/sql.h"

#define STEP_BYTES ((int64_t)4 << 20)

int store_backup_run(sqlite3 *from, sqlite3 *to, const struct store_copy_watch *watch,
                     bool *stopped) {
    int64_t page_bytes = 0;
    *stopped = false;
    int rc = store_sql_int(from, "PRAGMA page_size", &page_bytes);
    sqlite3_backup *backup = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", from, "main") : NULL;
    if (!backup) {
        return rc ?: sqlite3_extended_errcode(to);
    }
    int pages = page_bytes > 0 ? (int)(STEP_BYTES / page_bytes) : 1;
    do {
        rc = sqlite3_backup_step(backup, pages);
        int total = sqlite3_backup_pagecount(backup);
        int left = sqlite3_backup_remaining(backup);
        if (watch) {
            *stopped = watch->on_step(watch->context, (uint64_t)((total - left) * page_bytes),
                                      (uint64_t)(total * page_bytes)) != 0;
        }
    } while (rc == SQLITE_OK && !*stopped);
    int finish = sqlite3_backup_finish(backup);
    return rc == SQLITE_DONE || *stopped ? SQLITE_OK : finish ?: rc;
}
