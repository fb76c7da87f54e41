// SPDX-License-Identifier: Apache-2.0
//
// What a daemon now and then asks of the earlier segments of its store: a session that ended long
// ago, diagnostics of one that goes on, losses. They are read through connections of the moment;
// one that is not there any more, or cannot be read, has nothing to say.
//
// Functions return SQLite result codes. Used by the thread that owns the store.
#pragma once

#include <sqlite3.h>

#include "store/segment/ended.h"
#include "store/value/rows.h"
#include "store/value/session.h"

struct store_older {
    const char *path;          // the configured one; NULL: there are no other segments
    const char *active;        // real path of the segment in use
    sqlite3 *db;               // of the segment in use
    struct store_ended *ended; // borrowed; only who asks for sessions needs it
};

// A session that ended, and is not known to the segment in use any more. `*found` is left alone
// when there is none.
int store_older_session(const struct store_older *older, const char *session_id,
                        struct store_session *session, bool *found);

// Appends the diagnostics of its lines > acked that stand in earlier segments.
int store_older_diags(const struct store_older *older, uint64_t acked,
                      struct store_session *session);

// Appends losses until there are `limit`.
int store_older_losses(const struct store_older *older, size_t limit, struct store_losses *losses);
