// SPDX-License-Identifier: Apache-2.0
//
// Which session ended in which of the segments that the link left: a small database beside them,
// with the name of the configured path and ".ended". Its table "segments" lists the segments that
// it has completely; "ended" has a row for each session, by its id and its user (-1: not known),
// that one of them says has ended. One transaction writes both for one segment. So after a power
// loss the index lacks a segment at worst, and the keeper reads that again.
//
// A session belongs to the oldest segment that knows its end, and goes when that segment goes: so
// the index is bounded by what is kept. The segments have everything that it needs, so a damaged
// index is made anew: at the next start, or when the keeper finds the damage.
//
// Only the keeper writes it (store_ended_index_follow()), the writer reads it (ended.h).
#pragma once

#include <sqlite3.h>

#include "store/segment/segments.h"

#define STORE_ENDED_SUFFIX ".ended"

// Brings the index of the store at the configured `path` up to date with the segments that the link
// left: reads new ones and forgets those that are gone. It skips one that it cannot read until the
// next call. `check`: first checks the index for damage. Returns an SQLite result code; after a
// failure the index only lacks segments.
int store_ended_index_follow(const char *path, const struct store_segments *left, bool check);

// Opens an existing index; `*db` is NULL after a failure. Returns an SQLite result code.
int store_ended_index_open(sqlite3 **db, const char *path);

// The name of a segment without its folder.
const char *store_ended_index_name(const struct store_segment *segment);
