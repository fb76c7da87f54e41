// SPDX-License-Identifier: Apache-2.0
//
// What the daemon reads back while the store is in use: losses, diagnostics and totals of one file,
// events of all segments a few at a time, and what only earlier segments know. It borrows the
// writer's connection for the active segment and opens others for a moment, read-only. Functions
// return SQLite result codes and run on the thread that owns the store.
//
// Rare questions go to earlier segments: a session that ended long ago, diagnostics of a session
// that goes on, losses. A segment that is gone has no answer, nor has one that cannot be read; but
// of a session it is said that it may be there.
#pragma once

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "store/segment/ended.h"
#include "store/value/event_rows.h"
#include "store/value/rows.h"
#include "store/value/session.h"

struct store_older {
    const char *path;          // the configured one; NULL: there are no other segments
    const char *active;        // real path of the active segment
    sqlite3 *db;               // of the active segment
    struct store_ended *ended; // borrowed; needed for sessions only
    char *unreadable; // borrowed, PATH_MAX bytes; needed for sessions only: the first segment that
                      // cannot be read, or ""
};

// A session that ended and that the active segment does not know any more, or that was put aside
// with its segment: that is taken for its end ("lost"). `*found` stays as it is when there is none.
// SQLITE_BUSY: it may be in a segment that others have locked; SQLITE_NOTADB: in one that cannot be
// read for another reason.
int store_older_session(const struct store_older *older, const char *session_id, int64_t uid,
                        struct store_session *session, bool *found);

// Appends the diagnostics of the session's lines > acked from earlier segments.
int store_older_diags(const struct store_older *older, uint64_t acked,
                      struct store_session *session);

// Appends losses until there are `limit`.
int store_older_losses(const struct store_older *older, size_t limit, struct store_losses *losses);

// ---- Events of all segments, a few at a time ----------------------------------------------------

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

// ---- Losses, diagnostics and totals of one file -------------------------------------------------
//
// These append to lists (store/value/rows.h); after a failure the caller frees those as well.

int store_losses_read(sqlite3 *db, size_t limit, struct store_losses *losses);
int store_losses_count(sqlite3 *db, int64_t *count);

int store_diags_read(sqlite3 *db, int64_t source_id, size_t limit, struct store_diags *diags);

// `totals` is zeroed.
int store_totals_read(sqlite3 *db, struct store_totals *totals);
