// SPDX-License-Identifier: Apache-2.0
//
// store/lock: locks on a store's files. Our own write lock, kept between two commits (here); whose
// the locks of others are (locks.h); a copy of a segment that stays locked (beside.c). It knows
// SQLite's files and their locks, but no tables. Any thread, except where a function names one.
//
// Everybody who may read a store in WAL mode may lock bytes of its -shm for reading, and a byte
// that somebody has locked for reading cannot be locked for writing. So one reader could stop every
// commit, on purpose or not. For that reason the connection that writes takes the write lock when
// it opens its segment and keeps it, so that nobody gets it between two commits.
//
// SQLite takes and releases the lock around each transaction. The writing connection is opened
// through a VFS of our own above the system's. There releasing does nothing, and taking a lock that
// is held does nothing either; everything else goes to the system's VFS. The lock ends when the
// connection closes its -shm. https://www.sqlite.org/walformat.html, "WAL Locks";
// https://www.sqlite.org/vfs.html
//
// The kept lock belongs to the connection, and to the thread that uses that.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

// The name of the VFS, for sqlite3_open_v2(); NULL when it cannot be registered (out of memory).
const char *store_writelock_vfs(void);

// Takes the lock of `db`, which was opened through the VFS and is in WAL mode, by committing
// something: its user_version, which stays the same. After that no commit needs a lock that a
// reader can be in the way of. Returns an SQLite result code; SQLITE_BUSY and SQLITE_PROTOCOL when
// somebody else holds a lock.
int store_writelock_take(sqlite3 *db, int user_version);

// Releases it until the next transaction takes it again. Not within a transaction.
void store_writelock_release(sqlite3 *db);

// Can a connection take the locks that it needs to open a segment and write to it? For one of any
// VFS that has done nothing yet. SQLite itself would try for ten seconds.
bool store_writelock_is_free(sqlite3 *db);

// For tests that write to a store in use, or make its writer wait: releasing is done. False in
// every installed program. Set it before the first store is opened.
extern bool store_writelock_shared;
