// SPDX-License-Identifier: Apache-2.0
//
// SQLite's result codes become the store's here, and nowhere else.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

// The store's code for `rc` of the last call on `db`: STORE_DONE, a positive code, or -errno.
int store_result_of(sqlite3 *db, int rc);

// The same, with a sentence "cannot <what> <path>: <why>" when it failed.
int store_result_say(sqlite3 *db, int rc, const char *what, const char *path, char *error,
                     size_t size);

// True when what failed last on `db` lacks a function, a module or a collation.
bool store_result_lacks_code(sqlite3 *db);
