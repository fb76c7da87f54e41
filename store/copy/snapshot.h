// SPDX-License-Identifier: Apache-2.0
//
// A snapshot of a segment while the daemon writes it: one plain file, complete in itself, that gets
// its name when it is on the disk. It is made inside one read transaction: the writer goes on, and
// its log grows meanwhile.
//
// May be called in the process that writes the store. So nothing but SQLite opens the store's file,
// because closing any other descriptor of it would drop the locks of the whole process
// (https://www.sqlite.org/howtocorrupt.html, 2.2).
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How the caller of a copy or a snapshot sees how far it is, and stops it: called after every few
// megabytes. 0 goes on; anything else ends the copy, with STORE_STOPPED.
struct store_copy_watch {
    int (*on_step)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *context;
};

// Mode and group of `file` are those of the segment; it must not exist. Returns STORE_DONE with its
// size, a failure as of store_open() with a sentence in `error`, or STORE_STOPPED, without a
// sentence; after a failure nothing is left.
int store_snapshot(const char *segment, const char *file, const struct store_copy_watch *watch,
                   int64_t *bytes, char *error, size_t size);

// The same into the empty regular file behind `fd`, which may be read and written and stays the
// caller's. What is in it after a failure is of no use.
int store_snapshot_into(const char *segment, int fd, const struct store_copy_watch *watch,
                        int64_t *bytes, char *error, size_t size);

// ---- Pages of one open database into another (backup.c) -----------------------------------------

// Copies until the end, or until the watch (may be NULL) ends it; `*stopped` says so. `from` should
// have a read transaction open, so that the copy is of one moment and does not begin again when
// somebody writes. Returns an SQLite result code.
int store_backup_run(sqlite3 *from, sqlite3 *to, const struct store_copy_watch *watch,
                     bool *stopped);

// ---- A database behind a descriptor (descriptor.c) ----------------------------------------------
//
// A database that is written into the file behind a descriptor, which may have no name that this
// process could open. For the pages of a copy: no journal, no locks, no second file beside it.

// Opens the empty file behind `fd`, which may be read and written and stays the caller's, until the
// database is closed. Returns an SQLite result code; `*db` is to be closed in any case.
int store_descriptor_open(int fd, sqlite3 **db);
