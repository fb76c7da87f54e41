// SPDX-License-Identifier: Apache-2.0
//
// Copies the pages of one open database into another, a few megabytes at a time.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

#include "store/copy/watch.h"

// Copies until the end, or until the watch (may be NULL) ends it; `*stopped` says so. `from` should
// have a read transaction open, so that the copy is of one moment and does not begin again when
// somebody writes. Returns an SQLite result code.
int store_backup_run(sqlite3 *from, sqlite3 *to, const struct store_copy_watch *watch,
                     bool *stopped);
