// SPDX-License-Identifier: Apache-2.0
//
// What is in a segment: how many events, and whether it has anything of its own. What it took over
// from the one before (open ranges, names, sessions) is not its own: when the link has left it,
// that is in the next segment, and only free pages stay here.
//
// Also whether its ids are sound. Rows, strings, sources and domains are counted on from the
// largest id, so one at the end of Int64 would overflow. No store of ours comes near it: such a
// file is damaged. Any thread.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct store_contents {
    int64_t events;
    int64_t carried; // bytes of its file that it took over and that are free now
    bool empty;      // no events, diagnostics or losses
};

// Reads a segment that nobody writes any more. Returns STORE_DONE or another result; a segment that
// cannot be read does not count as empty.
int store_contents_read(const char *segment, struct store_contents *contents);

// Returns an SQLite result code.
int store_contents_empty(sqlite3 *db, bool *empty);

// Whether all ids leave room to count on, and events are rows of a table. Returns an SQLite result
// code.
int store_contents_sound(sqlite3 *db, bool *sound);
