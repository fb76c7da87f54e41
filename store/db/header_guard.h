// SPDX-License-Identifier: Apache-2.0
//
// Watches the main file of an open store: is it still the one that was opened? A look at its header
// and its length answers. SQLite does not ask: it has the pages that it needs in its cache and in
// the log, and would go on committing beside a file that somebody cut or wrote over.
//
// Part of a store, used by the thread that uses the store. It reads through SQLite's own
// descriptor: closing another descriptor of the file would drop the locks that SQLite holds on it.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

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
