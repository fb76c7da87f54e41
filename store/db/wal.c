// SPDX-License-Identifier: Apache-2.0
//
// SQLite's hook reports the size of the log after each commit. When the log passes `checkpoint_at`,
// the writer checkpoints before its next transaction. If all of it was moved, that transaction
// writes the log from its start again. If readers prevented that, the next attempt waits until the
// log has grown by half its cap.
#include "store/db/wal.h"

#include "store/db/checkpointer.h"
#include "store/db/connection.h"

#define CAP_PAGES 8000     // 32 MiB: measurements showed the fastest checkpoints there
#define TRUNCATE_BUSY_MS 5 // nobody waits for a truncation

static int on_wal(void *context, sqlite3 *db, const char *name, int pages) {
    (void)db;
    (void)name;
    struct store_wal *wal = context;
    if ((size_t)pages < wal->pages) {
        wal->checkpoint_at = wal->cap_pages; // it began again at its start
        wal->moved = 0;
    }
    wal->pages = (size_t)pages;
    store_checkpointer_note(wal->checkpointer, wal->pages);
    return SQLITE_OK;
}

void store_wal_init(struct store_wal *wal, sqlite3 *db, size_t cap_pages) {
    *wal = (struct store_wal){.db = db, .cap_pages = cap_pages ?: CAP_PAGES};
    wal->checkpoint_at = wal->cap_pages;
    sqlite3_wal_hook(db, on_wal, wal);
}

void store_wal_start(struct store_wal *wal, const char *path) {
    wal->checkpointer = store_checkpointer_start(path);
}

void store_wal_stop(struct store_wal *wal) {
    store_checkpointer_stop(wal->checkpointer);
    wal->checkpointer = NULL;
}

size_t store_wal_held(const struct store_wal *wal) {
    return wal->pages > wal->moved ? wal->pages : 0;
}

void store_wal_checkpoint_if_due(struct store_wal *wal) {
    int pages = 0, moved = 0;
    if (wal->pages >= wal->checkpoint_at) {
        int rc = store_checkpointer_finish(wal->checkpointer, wal->db, SQLITE_CHECKPOINT_PASSIVE,
                                           &pages, &moved);
        wal->moved = rc == SQLITE_OK && pages > 0 && moved == pages ? wal->pages : 0;
        wal->checkpoint_at = wal->pages + wal->cap_pages / 2;
    }
}

int store_wal_truncate(struct store_wal *wal, int *pages, int *moved) {
    sqlite3_busy_timeout(wal->db, TRUNCATE_BUSY_MS);
    int rc = store_checkpointer_finish(wal->checkpointer, wal->db, SQLITE_CHECKPOINT_TRUNCATE,
                                       pages, moved);
    sqlite3_busy_timeout(wal->db, STORE_BUSY_MS);
    if (rc == SQLITE_OK) {
        wal->pages = 0;
        wal->moved = 0;
        wal->checkpoint_at = wal->cap_pages;
    }
    return rc;
}
