// SPDX-License-Identifier: Apache-2.0
//
// Losses, diagnostics and totals of one file, read back; see store/value/rows.h.
//
// Functions return SQLite result codes. They append to lists; after a failure the caller frees
// those as well.
#pragma once

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "store/value/rows.h"

int store_losses_read(sqlite3 *db, size_t limit, struct store_losses *losses);
int store_losses_count(sqlite3 *db, int64_t *count);

int store_diags_read(sqlite3 *db, int64_t source_id, size_t limit, struct store_diags *diags);

// `totals` is zeroed.
int store_totals_read(sqlite3 *db, struct store_totals *totals);
