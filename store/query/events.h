// SPDX-License-Identifier: Apache-2.0
//
// Reads events back a few at a time, over all segments of a store. See struct store_events.
#pragma once

#include <sqlite3.h>
#include <stdint.h>

#include "store/value/event_rows.h"

// A segment that can be read, up to its last row.
struct store_events_place {
    sqlite3 *db; // borrowed
    int64_t last_row;
};

// The largest rowid of NVTX_EVENTS, 0 when it is empty. Returns an SQLite result code.
int store_events_last(sqlite3 *db, int64_t *row);

// `active` is the last segment of the store at `path`; others are opened while they are needed.
// `events` is zeroed; on failure it is left to be freed. Returns an SQLite result code.
int store_events_read(const struct store_events_place *active, const char *path,
                      const struct store_event_query *query, struct store_events *events);
