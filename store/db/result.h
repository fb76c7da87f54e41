// SPDX-License-Identifier: Apache-2.0
//
// Translates SQLite's result codes, and errnos of system calls, into codes of the store, with a
// sentence for people. It is the one place of the store that looks at the value of a negative errno
// or of a code of SQLite; all others pass them on.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

// The store's code for `rc` of the last call on `db`: STORE_DONE, a positive code, or -errno.
int store_result_of(sqlite3 *db, int rc);

// The same, with a sentence "cannot <what> <path>: <why>" when it failed.
int store_result_say(sqlite3 *db, int rc, const char *what, const char *path, char *error,
                     size_t size);

// The same for a call of the system that failed with `r`, below 0: says a sentence "cannot <what>
// the store <path>: <why>" and returns STORE_NO_SPACE or `r`.
int store_result_say_errno(int r, const char *what, const char *path, char *error, size_t size);

// SQLite's code for a negative errno, for functions that return those.
int store_result_rc(int r);

// True when the last failure on `db` was a function, a module or a collation that is missing.
bool store_result_lacks_code(sqlite3 *db);
