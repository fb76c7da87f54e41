// SPDX-License-Identifier: Apache-2.0
//
// STORE_ID in META_DATA_EXPORT: which store a file belongs to, a random UUID. All segments of a
// store have the same one, and so have its snapshots and copies (nvtxt-store(5)). What is no UUID
// counts as none.
//
// Functions return SQLite result codes.
#pragma once

#include <sqlite3.h>

#include "protocol/text/uuid.h"

#define STORE_ID_SIZE NVTXT_UUID_SIZE

// "" when it has none.
int store_id_read(sqlite3 *db, char id[STORE_ID_SIZE]);

// Gives the store a new one if it has none.
int store_id_ensure(sqlite3 *db);

// Gives it a new one in any case: it was copied, and is to be another store.
int store_id_renew(sqlite3 *db);

// In a transaction: takes over that of the attached database `from`, if there is one.
int store_id_carry(sqlite3 *db, const char *from);
