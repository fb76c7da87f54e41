// SPDX-License-Identifier: Apache-2.0
//
// What a new segment takes over from the one before it, so that it can be read alone and everything
// goes on: the state of sessions, open ranges, open sources, the sessions that ended last, and
// names; the STORE_ID, and where ids begin. Events, strings of events, diagnostics and losses stay
// where they are.
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
    bool ids_only;    // take over only STORE_ID and where ids begin: everything else was lost
    bool after_loss;  // sessions may have ended in a segment that is lost
    size_t rows;      // about how many rows of each kind that may not be needed
};

// Fills `db`, a store without events and without a transaction.
int store_carry(sqlite3 *db, const struct store_carry *carry);

// A column of NVTXT_SEGMENT; 0 when there is none of it.
int store_carry_fact(sqlite3 *db, const char *column, int64_t *value);

// Gives a file its number and name as a segment. Where its ids begin stays as it is.
int store_carry_begin(sqlite3 *db, const struct store_carry *carry);

// Deletes from a segment what the next one took over, because it would look as if it went on in
// both. Does nothing the second time. `now_ns`: when its open sources left it.
int store_carry_leave(sqlite3 *db, int64_t now_ns);
