// SPDX-License-Identifier: Apache-2.0
//
// Which session ended in which of the segments that the link left: a small database beside them,
// named as the configured path with ".ended". Its table "segments" lists those that are in it
// wholly, "ended" has a row for each session that one of them says has ended. Both are written in
// one transaction a segment, so what a power loss takes away is a segment that is not in it, and
// that is read again.
//
// An id belongs to the oldest segment that knows its end, which is the one in which it ended while
// that is kept, and goes with it: so the index is bounded by what is kept. All of it can be made
// anew from the segments. A damaged one is: at the next start, or when the keeper meets the damage.
//
// Written by the keeper alone (store_ended_index_follow), read by the writer (ended.h).
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/segment/segments.h"

#define STORE_ENDED_SUFFIX ".ended"

// Brings the index of the store at the configured `path` up to date with the segments that were
// left: those that came are read, those that went are forgotten. One that cannot be read now is
// left out, for the next time. `check`: the index is looked through for damage before. Returns an
// SQLite result code; after a failure the index lacks segments, no more.
int store_ended_index_follow(const char *path, const struct store_segments *left, bool check);

// Opens an index that is there; `*db` is NULL after a failure. Returns an SQLite result code.
int store_ended_index_open(sqlite3 **db, const char *path);

// The name of a segment without its folder.
const char *store_ended_index_name(const struct store_segment *segment);
