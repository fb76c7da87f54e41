// SPDX-License-Identifier: Apache-2.0
//
// What a store says of its losses, read back. See struct store_losses.
#pragma once

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "store/value/rows.h"

// Both return an SQLite result code. `losses` is zeroed; on failure it is left to be freed.
int store_losses_read(sqlite3 *db, size_t limit, struct store_losses *losses);
int store_losses_count(sqlite3 *db, int64_t *count);
