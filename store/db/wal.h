// SPDX-License-Identifier: Apache-2.0
//
// A store's write-ahead log: how many pages it has, and when they are moved into the main file.
// Automatic checkpoints are off: they would run inside COMMIT, before the acknowledgement goes out.
// A helper thread (checkpointer.h) does most of the work beside the writer. When the log has passed
// its cap, the writer moves the rest before its next transaction.
//
// Part of a store, used by the thread that uses the store. Functions return SQLite result codes.
#pragma once

#include <sqlite3.h>
#include <stddef.h>

struct store_checkpointer;

struct store_wal {
    sqlite3 *db; // borrowed
    size_t pages;
    size_t moved; // the log had so many pages when all of it was in the main file
    size_t cap_pages;
    size_t checkpoint_at;                    // pages from which the next attempt is made
    struct store_checkpointer *checkpointer; // NULL: all checkpoints are this thread's
};

// Counts the pages of `db` from now on; `wal` stays where it is until `db` is closed. `cap_pages`
// is 0 for the default, 8000.
void store_wal_init(struct store_wal *wal, sqlite3 *db, size_t cap_pages);

// Starts the helper for the store at `path`, and stops it; stopped twice, or never started, is
// fine.
void store_wal_start(struct store_wal *wal, const char *path);
void store_wal_stop(struct store_wal *wal);

// The pages that keep SQLite from writing the log from its start again.
size_t store_wal_held(const struct store_wal *wal);

// Between two transactions: checkpoints when the log has passed its cap. A failure only costs time:
// the next attempt comes when the log has grown by half its cap.
void store_wal_checkpoint_if_due(struct store_wal *wal);

// Moves all of it into the main file and cuts the log, as far as readers allow (SQLITE_BUSY).
// `pages` and `moved` get what sqlite3_wal_checkpoint_v2() says.
int store_wal_truncate(struct store_wal *wal, int *pages, int *moved);
