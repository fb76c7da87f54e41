// SPDX-License-Identifier: Apache-2.0
//
// store/db: one SQLite file. Opens it, makes and migrates its schema, moves its log, and translates
// what SQLite says into codes of the store. It owns connections and the checkpoint thread, nothing
// of a store's rows: the rooms above write and read those. A connection belongs to the thread that
// uses the store; only the checkpointer has a thread and a connection of its own.
//
// This header opens a store's file: created or recognized, migrated, and set up as nvtxt-store(5),
// "Writing", says.
#pragma once

#include <sqlite3.h>
#include <stddef.h>

#include "store/value/codes.h"

#define STORE_BUSY_MS 1000 // how long SQLite waits for another process's lock

// On success `*db` is a connection to a store of today's schema. Returns what store_open() does,
// with its sentence in `error`. The caller closes `*db`, also after a failure.
int store_connection_open(sqlite3 **db, const char *path, const struct store_options *options,
                          char *error, size_t size);

// Opens `path` read-only, for a reader that leaves no trace. SQLite makes -wal and -shm for a
// reader of a database in WAL mode when they are not there, and fails where it may not. But when
// they are not there nobody has the database open, so it is read as a file that does not change
// (`immutable=1`), which needs neither. Where only a filled -wal was left, it is read without -shm,
// see store_privatelog_vfs(). Returns an SQLite result code; the caller closes `*db` in
// any case. The connection is guarded, see store_stranger_guard().
int store_connection_read(sqlite3 **db, const char *path);

// Opens the file of `first`, a connection of store_connection_read(), once more in the same way,
// for another thread. It does so without a descriptor of its own: closing one would end the locks
// of `first`. SQLITE_CANTOPEN when another file bears the name by now, or `first` reads a log that
// was left. Returns an SQLite result code; the caller closes `*db` in any case.
int store_connection_read_again(sqlite3 **db, sqlite3 *first);

// Opens a segment that the link left, for the daemon to read; only the keeper may still write to
// it. When all of it is in its main file, it is read without any lock, so that other processes'
// locks are not in the way. Returns the same; SQLITE_BUSY at once when others' locks keep its log
// from being read.
int store_connection_read_left(sqlite3 **db, const char *path);

// Opens such a segment all the same, by a copy of it at `copy`, which has no name any more then.
int store_connection_read_locked(sqlite3 **db, const char *path, const char *copy);

// ---- Logs without -shm (privatelog.c) -----------------------------------------------------------
//
// A VFS that reads a store whose log was left without its -shm file: a copy of both files, or what
// a machine that went down left. Nothing is made beside the store, and no right to write is needed.

// The name of the VFS, for sqlite3_open_v2(), read-only; NULL without memory. The connection has to
// say `PRAGMA locking_mode = EXCLUSIVE` before it reads: then SQLite keeps the index of the log in
// its own memory. As soon as somebody else opens the store (a -shm is there) reading it fails with
// SQLITE_BUSY, because no lock protects this reader.
const char *store_privatelog_vfs(void);
