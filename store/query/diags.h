// SPDX-License-Identifier: Apache-2.0
//
// The diagnostics that a store holds, read back. See struct store_diags.
#pragma once

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "store/value/rows.h"

// Returns an SQLite result code. `diags` is zeroed; on failure it is left to be freed.
int store_diags_read(sqlite3 *db, int64_t source_id, size_t limit, struct store_diags *diags);
