// SPDX-License-Identifier: Apache-2.0
//
// The write lock of a segment, taken once and kept. Whoever may read a store in WAL mode may lock
// bytes of its -shm for reading, and a byte that somebody has locked for reading cannot be locked
// for writing: one reader could stop every commit, on purpose or not. So the one connection that
// writes takes the lock when it opens its segment, and nobody gets between two commits.
//
// SQLite takes and gives back the lock around each transaction. The writing connection is opened
// through a VFS of its own over the system's, in which giving back does nothing, and taking again
// neither; all else goes through. The lock goes when the connection closes its -shm.
// https://www.sqlite.org/walformat.html, "WAL Locks"; https://www.sqlite.org/vfs.html
//
// The kept lock belongs to the connection and is used by the thread that uses that.
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

// Gives it back until the next transaction takes it again. Without a transaction.
void store_writelock_release(sqlite3 *db);

// For a connection of any VFS that has done nothing yet: can it take the locks that opening a
// segment and writing to it need? SQLite itself would try for ten seconds.
bool store_writelock_is_free(sqlite3 *db);

// For tests that write to a store in use, or keep its writer waiting: giving back is done. False in
// every program that is installed. Set before the first store is opened.
extern bool store_writelock_shared;
