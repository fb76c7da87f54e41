// SPDX-License-Identifier: Apache-2.0
//
// A database that is written into the file behind a descriptor, which may have no name that this
// process could open. For the pages of a copy: no journal, no locks, no second file beside it.
#pragma once

#include <sqlite3.h>

// Opens the empty file behind `fd`, which may be read and written and stays the caller's, until the
// database is closed. Returns an SQLite result code; `*db` is to be closed in any case.
int store_descriptor_open(int fd, sqlite3 **db);
