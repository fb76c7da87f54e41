// SPDX-License-Identifier: Apache-2.0
//
// What somebody would miss of a segment: how many events it has, and whether there is anything of
// its own in it at all. What went along into it from the one before (open ranges, names, sessions)
// is not its own, and once the segment was left it
// is in the next one: free pages are all that stays of it here. Any thread.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct store_contents {
    int64_t events;
    int64_t carried; // bytes of its file that only went along, and of which nothing is left
    bool empty;      // no events, no diagnostics, no losses
};

// Of a segment that nobody writes any more, by its path. Returns STORE_DONE or another result; a
// segment that cannot be read is not taken for empty.
int store_contents_read(const char *segment, struct store_contents *contents);

// Returns an SQLite result code.
int store_contents_empty(sqlite3 *db, bool *empty);
