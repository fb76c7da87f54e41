// SPDX-License-Identifier: Apache-2.0
//
// The main file of a store that is open: is it still the one that was opened, as far as a look at
// its header and its length tells? SQLite does not ask. It has the pages that it needs in its cache
// and in the log, and would go on committing beside a file that somebody cut or wrote over.
//
// Part of a store, used by the thread that uses the store. The file is looked at through SQLite's
// own descriptor: closing another one would drop the locks that SQLite holds on it.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

// Bytes of the header that stay as they are: magic, page size, mode.
#define STORE_MAIN_FILE_FIXED 24

struct store_main_file {
    sqlite3_file *file; // borrowed from the connection; NULL: nothing is known of it
    unsigned char fixed[STORE_MAIN_FILE_FIXED];
    int64_t bytes; // when it was looked at last
};

// Remembers the main file of `db`, which is open and has its journal mode.
void store_main_file_init(struct store_main_file *main_file, sqlite3 *db);

// True when it was written over or cut since. False, too, when it cannot be read for the moment:
// the transaction meets that itself. Two system calls.
bool store_main_file_is_broken(struct store_main_file *main_file);
