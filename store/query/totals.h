// SPDX-License-Identifier: Apache-2.0
//
// What a store holds, in numbers. See struct store_figures.
#pragma once

#include <sqlite3.h>

#include "store/value/rows.h"

// `figures` is zeroed. Returns an SQLite result code.
int store_figures_read(sqlite3 *db, struct store_figures *figures);
