// SPDX-License-Identifier: Apache-2.0
//
// A batch as SQLite sees it while it is written: two table-valued virtual tables of one connection,
// nvtxt_batch_events (the records, source by source) and nvtxt_batch_strings (their new texts).
#pragma once

#include <sqlite3.h>

struct store_bulk;

// Registers both with the connection. They read what `bulk` says at the time; it must not move.
// Returns an SQLite result code.
int store_batch_tables_register(sqlite3 *db, const struct store_bulk *bulk);
