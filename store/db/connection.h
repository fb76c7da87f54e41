// SPDX-License-Identifier: Apache-2.0
//
// A store's file as an open SQLite connection: created or recognized, migrated, and set up as
// nvtxt-store(5), "Writing", says.
#pragma once

#include <sqlite3.h>
#include <stddef.h>

#include "store/value/options.h"

#define STORE_BUSY_MS 1000 // how long a foreign lock is waited for

// On success `*db` is a connection to a store of today's schema. Returns what store_open() does,
// with its sentence in `error`; `*db` may be set then, for the caller to close.
int store_connection_open(sqlite3 **db, const char *path, const struct store_options *options,
                          char *error, size_t size);

// For a reader who leaves no trace: opens `path` read-only. A reader of a database in WAL mode
// makes -wal and -shm when they are not there, and fails where it may not. Then nobody has it open,
// and it is read as a file that does not change (`immutable=1`), which needs neither. Returns an
// SQLite result code; the caller closes `*db` in any case. It is guarded as store/db/stranger.h
// says.
int store_connection_read(sqlite3 **db, const char *path);

// For the daemon, to read a segment that the link left, and that only the keeper may still write
// to. When all of it is in its main file it is read without any lock, so that nobody's locks are in
// the way. The same results.
int store_connection_read_left(sqlite3 **db, const char *path);
