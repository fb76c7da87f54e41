// SPDX-License-Identifier: Apache-2.0
//
// A daemon's store as a row of segments (store/segment/segments.h): opens it, begins the next
// segment, and leaves the one before. The link is the truth: what it points to is written, and has
// the state of every session. A new segment is made under another name, filled with what goes on
// (store/segment/carry_over.h), synced, renamed and opened; only then the link moves. Until then a
// kill or a full disk leaves the old segment as it is, and the next start removes what was made.
//
// Only the holder of the configured path's lock may call these. Results as of store_open().
#pragma once

#include "store/store.h"

enum store_opening {
    STORE_OPEN_ACTIVE,
    STORE_OPEN_FRESH,  // the active segment is lost: a new one takes its place
    STORE_OPEN_BESIDE, // another process keeps it locked: a new one goes on where it ends
};

// Opens the store at the configured `path`: the active segment, or a new first one. A plain store
// at `path` becomes the first segment, and readers find it at every moment. A link to a store that
// is no segment is refused. `*vanished`: the active segment was missing. STORE_BUSY when another
// process holds a lock.
int store_rotation_open(struct store **store, const char *path, const struct store_options *options,
                        enum store_opening how, bool *vanished, char *error, size_t size);

// Makes the segment that follows `old`, which has no transaction open, and points the link to it.
// On success `*next` is open, and the caller closes `old`; after a failure nothing has changed.
int store_rotation_next(struct store **next, struct store *old, const char *path,
                        const struct store_options *options, char *error, size_t size);

// For a closed segment that the link left: deletes from it what the next one took over, and moves
// its log into its main file. Returns STORE_DONE, STORE_BUSY when a reader keeps its log in use
// (try again later), or another failure. A second call does no harm.
int store_rotation_leave(const char *segment);

// The real path of the active segment; "" when there is none.
void store_rotation_active(const char *path, char *active, size_t size);
