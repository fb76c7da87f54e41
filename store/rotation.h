// SPDX-License-Identifier: Apache-2.0
//
// A daemon's store as a row of segments (store/segment/segments.h): opening it, beginning the next
// one, and leaving the one before. The link is the truth: what it points to is written and holds
// the state of every session. A new segment is made under another name, filled with what goes on
// (store/segment/carry_over.h), made lasting, renamed, opened, and only then the link swings; until
// then a kill or a full disk leaves the old one as it is, and what was made is cleared away at the
// next start.
//
// Only who holds the lock of the configured path may call these. Results as of store_open().
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum store_opening {
    STORE_OPEN_ACTIVE,
    STORE_OPEN_FRESH,  // what the link points to is lost: a new segment takes its place
    STORE_OPEN_BESIDE, // it stays locked by somebody else: a new segment goes on where it ends
};

// Opens the store at the configured `path`: the active segment, or a new first one. A plain store
// that stands there becomes the first segment, without a moment in which a reader finds nothing;
// one that is linked to from there, but is no segment, is refused. `*vanished` says that the active
// one was not there any more. STORE_BUSY when somebody else holds a lock.
int store_rotation_open(struct store **store, const char *path, const struct store_options *options,
                        enum store_opening how, bool *vanished, char *error, size_t size);

// Makes the segment that follows `old`, which has no transaction open, and lets the link point to
// it. On success `*next` is open and `old` is only to be closed; on failure nothing has changed.
int store_rotation_next(struct store **next, struct store *old, const char *path,
                        const struct store_options *options, char *error, size_t size);

// Takes from a segment that the link left, and that is closed, what goes on elsewhere, and makes
// its main file complete. Returns STORE_DONE, STORE_BUSY when a reader keeps its log in use (try
// again later), or another failure. Does no harm when repeated.
int store_rotation_leave(const char *segment);

// The real path of the active segment; "" when there is none.
void store_rotation_active(const char *path, char *active, size_t size);
