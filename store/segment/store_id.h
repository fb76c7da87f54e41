// SPDX-License-Identifier: Apache-2.0
//
// STORE_ID in META_DATA_EXPORT: which store a file belongs to, a random UUID. All segments of a
// store have the same one, and so have its snapshots and copies (nvtxt-store(5)). What is no UUID
// counts as none.
//
// Functions return SQLite result codes.
#pragma once

#include <sqlite3.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "protocol/text/forms.h"

#define STORE_ID_SIZE NVTXT_UUID_SIZE

// "" when it has none.
int store_id_read(sqlite3 *db, char id[STORE_ID_SIZE]);

// Gives the store a new one if it has none.
int store_id_ensure(sqlite3 *db);

// Gives it a new one in any case: it was copied, and is to be another store.
int store_id_renew(sqlite3 *db);

// In a transaction: takes over that of the attached database `from`, if there is one.
int store_id_carry(sqlite3 *db, const char *from);

// ---- How far a shipper has come -----------------------------------------------------------------
//
// A shipper, a program that brings the store elsewhere (nvtxt-ship(1)), writes a file with the
// STORE_ID, a blank, and the number of the first segment that it has not shipped whole. Retention
// may wait for it (retention.h).

enum store_shipped {
    STORE_SHIPPED_KNOWN,
    STORE_SHIPPED_OTHER, // of another store
    STORE_SHIPPED_WRONG, // not such a file
};

// What the text of the file says. `*number` is 0 unless it is known.
enum store_shipped store_shipped_parse(struct nvtxt_slice text, const char *store_id,
                                       uint64_t *number);

// Reads the file. Returns an enum store_shipped or -errno.
int store_shipped_read(const char *file, const char *store_id, uint64_t *number);
