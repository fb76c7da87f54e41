// SPDX-License-Identifier: Apache-2.0
//
// Where a session that ended is known: by the index of ended sessions (ended_index.h), and for
// segments that are not in it by opening them. What is asked most, and what must not take long
// however many segments there are, is an id that nobody knows.
//
// One thread, the writer. Functions return SQLite result codes.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/segment/segments.h"

struct store_ended { // zeroed: nothing is open yet
    sqlite3 *db;     // the index; NULL: there is none
    sqlite3_stmt *find, *version;
    int64_t seen;               // the index's data_version when `rest` was made
    struct store_segments rest; // left ones that are not in the index, oldest first
};

void store_ended_deinit(struct store_ended *ended);

// Looks an id up in the index of the store at `path`, whose segment in use is `active`. Writes the
// path of the segment that knows it, or "". Afterwards `rest` has the segments that must be asked
// one by one when it was not found: all, without an index.
int store_ended_find(struct store_ended *ended, const char *path, const char *active,
                     const char *session_id, char *segment, size_t size);

// The segments before the one in use, oldest first.
void store_ended_list(const char *path, const char *active, struct store_segments *list);
