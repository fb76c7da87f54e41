// SPDX-License-Identifier: Apache-2.0
//
// What is in a segment. How many events has it, and is there anything of its own in it at all? What
// it took over from the one before (open ranges, names, sessions) is not its own: once the link
// left the segment, that is in the next one, and only free pages stay here. And are its ids sound:
// rows, strings, sources and domains are numbered on from the largest, so one at the end of Int64
// would overflow. No store of ours comes near, so such a file is damaged. Any thread.
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

// Whether all ids leave room to count on, and events are rows of a table. Returns an SQLite result
// code.
int store_contents_sound(sqlite3 *db, bool *sound);
