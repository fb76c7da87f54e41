// SPDX-License-Identifier: Apache-2.0
//
// Which segment knows a session that ended: the index of ended sessions (ended_index.h) answers,
// and for segments that are not in the index, the segments themselves do. The most frequent
// question is about an id that nobody knows; it must not take long, however many segments there
// are.
//
// One thread, the writer. Functions return SQLite result codes.
#pragma once

#include <sqlite3.h>

#include "store/segment/segments.h"

struct store_ended { // zeroed: nothing is open yet
    sqlite3 *db;     // the index; NULL: there is none
    sqlite3_stmt *find, *version;
    int64_t seen;               // the index's data_version when `rest` was made
    struct store_segments rest; // that the link left and the index lacks, oldest first
};

void store_ended_deinit(struct store_ended *ended);

// Looks an id of a user up in the index of the store at `path`, whose active segment is `active`.
// Writes the path of the segment that knows it, or "". If it found none, the caller must ask the
// segments in `rest` one by one: all of them, when there is no index.
int store_ended_find(struct store_ended *ended, const char *path, const char *active,
                     const char *session_id, int64_t uid, char *segment, size_t size);

// The segments before the active one, oldest first.
void store_ended_list(const char *path, const char *active, struct store_segments *list);
