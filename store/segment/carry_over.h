// SPDX-License-Identifier: Apache-2.0
//
// What a new segment takes over from the one before it, so that it can be read alone and everything
// goes on: the state of sessions, open ranges, open sources, the latest ended sessions, and names;
// and where ids go on. Events, strings of events, diagnostics and losses stay where they are.
//
// Functions return SQLite result codes.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_carry {
    uint64_t number; // of the new segment
    const char *name;
    int64_t started_ns;
    const char *from; // path of the segment before it; NULL: there is none
    bool ids_only;    // nothing but where ids go on: what else there was is lost
    size_t rows;      // at most about so many rows of each kind that is not needed for certain
};

// Fills `db`, a store without events and without a transaction.
int store_carry(sqlite3 *db, const struct store_carry *carry);

// A column of NVTXT_SEGMENT; 0 when there is none of it.
int store_carry_fact(sqlite3 *db, const char *column, int64_t *value);

// A file becomes a segment under this number and name; where its ids begin stays.
int store_carry_begin(sqlite3 *db, const struct store_carry *carry);

// The segment before goes on elsewhere: takes away what was carried over from it and would look
// like going on in two places. Does nothing the second time. `now_ns`: when its open sources left
// it.
int store_carry_leave(sqlite3 *db, int64_t now_ns);
