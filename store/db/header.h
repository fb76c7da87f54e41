// SPDX-License-Identifier: Apache-2.0
//
// A store's file before SQLite sees it: creates it with its mode, or looks at it without a change,
// so that another program's database stays as it is, byte for byte.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_FILE_HEAD_BYTES 100 // of SQLite's header

// What the names of a store's files end with: the main file, its log, and the log's index.
#define STORE_FILE_ENDINGS 3
extern const char *const store_file_endings[STORE_FILE_ENDINGS]; // "", "-wal", "-shm"

// Writes `path` and `ending` to `name`, which has room for PATH_MAX bytes. Returns 0 or
// -ENAMETOOLONG.
int store_file_name(char *name, const char *path, const char *ending);

// The size of that file in bytes; -1: it is not there.
int64_t store_file_size(const char *path, const char *ending);

// How many bytes a database with this header has when all of its pages are in the file; 0 when the
// header does not say. A checkpoint writes the header first, so for a moment the file may be
// shorter.
int64_t store_file_claimed_bytes(const unsigned char *head);

enum store_file_kind {
    STORE_FILE_NEW,     // empty
    STORE_FILE_STORE,   // has our application id
    STORE_FILE_UNSURE,  // a database whose header says nothing: ask SQLite
    STORE_FILE_NEWER,   // our application id and a version above `newest`
    STORE_FILE_FOREIGN, // another application's database
    STORE_FILE_NONE,    // not a database
    // Not read; store_file_errno() has an errno for each.
    STORE_FILE_MISSING,  // nothing is there
    STORE_FILE_DANGLING, // a link to nowhere
    STORE_FILE_FOLDER,
    STORE_FILE_DEVICE, // neither file nor folder
    STORE_FILE_DENIED, // we may not read it
};

// Looks at `path`. A store with a version above `newest` is STORE_FILE_NEWER. Returns 0 with
// `*kind`, or -errno. `*version` is set for a store, newer or not; NULL: nobody asks.
int store_file_look(const char *path, int newest, enum store_file_kind *kind, int *version);

// Creates `path` with exactly `mode`; leaves a file that is there alone. Returns 0 or -errno.
int store_file_make(const char *path, uint32_t mode);

// A negative errno for a kind that is not read; 0 for the others.
int store_file_errno(enum store_file_kind kind);

// True for a database that is shorter than its header says and has no log or journal that may hold
// the rest. SQLite does not notice when less than a page is missing. For a caller that is about to
// write: while others write, the answer may be out of date.
bool store_file_is_cut(const char *path);

// Sets the mode of a store and its logs, as far as they are there and are ours to change.
void store_file_set_mode(const char *path, uint32_t mode);

// Gives a store and its logs, as far as they are there, to a group. 0: leaves them alone. Returns 0
// or -errno.
int store_file_set_group(const char *path, int64_t group);

// ---- While a store is open (header_guard.c) -----------------------------------------------------
//
// Watches the main file of an open store: is it still the one that was opened? A look at its header
// and its length answers. SQLite does not ask: it has the pages that it needs in its cache and in
// the log, and would go on committing beside a file that somebody cut or wrote over.
//
// Part of a store, used by the thread that uses the store. It reads through SQLite's own
// descriptor: closing another descriptor of the file would drop the locks that SQLite holds on it.

// Bytes of the header that stay as they are: magic, page size, mode.
#define STORE_MAIN_FILE_FIXED 24

struct store_main_file {
    sqlite3_file *file; // borrowed from the connection; NULL: it cannot be watched
    unsigned char fixed[STORE_MAIN_FILE_FIXED];
    int64_t bytes; // its size at the last look
};

// Remembers the main file of `db`, which is open and has its journal mode.
void store_main_file_init(struct store_main_file *main_file, sqlite3 *db);

// True when somebody wrote over it or cut it since. False also when it cannot be read at the
// moment: then the transaction fails by itself. Two system calls.
bool store_main_file_is_broken(struct store_main_file *main_file);

// ---- Files of others (stranger.c) ---------------------------------------------------------------
//
// Files that somebody else made: what export, info and merge read, and the copies that merge
// extends. Their schema could be an attack. So it may call no function that does harm, no trigger
// of it runs, and no tables are reached but those of the file. And a query can be stopped, however
// long it takes.
//
// Functions return SQLite result codes.

// Sets the function that queries ask whether to stop: above 0 means yes. NULL, and before the first
// call: they ask nobody. For the whole process; call it before you open anything.
void store_stranger_ask(int (*asked_to_stop)(void));

// Guards a connection that was just opened. A query that is stopped ends with SQLITE_INTERRUPT.
int store_stranger_guard(sqlite3 *db);

// Whether NVTX_EVENTS of the main database is no table with rowids, but a view, a virtual table or
// a table without rowids.
int store_stranger_is_odd(sqlite3 *db, bool *odd);

// The name of a trigger of the main database, cut to `size`; "" when there is none.
int store_stranger_trigger(sqlite3 *db, char *name, size_t size);
