// SPDX-License-Identifier: Apache-2.0
//
// The numbers that a store counts on from: rows, strings, sources, domains. One that does so from
// the end of Int64 would overflow; no store of ours comes near, so it is damaged.
#pragma once

#include <stdbool.h>

struct sqlite3;

// Whether all of them leave room to count on, and events are rows of a table. Returns an SQLite
// result code.
int store_ids_check(struct sqlite3 *db, bool *sound);
