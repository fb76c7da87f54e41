// SPDX-License-Identifier: Apache-2.0
//
// How many of a store's old segments have to go, and for which key. A pure function of the list,
// the bounds and the disk; removing is store_segments_remove()'s. The active segment, the last one,
// always stays.
//
// Files, size and age are wishes about the store itself and are kept as they were said. Free room
// on the disk is another matter: others fill it as well, so for its sake nothing goes below
// `at_least_bytes`, the newest segment that was left stays, and nothing goes at all when all that
// may go would not make enough room.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/segment/segments.h"

enum store_retention_key {
    STORE_KEEP_FILES,
    STORE_KEEP_SIZE,
    STORE_KEEP_AGE,
    STORE_KEEP_FREE,
    STORE_RETENTION_KEYS // how many there are
};

struct store_retention {    // 0: no bound
    int64_t files;          // segments that are not empty, with the active one
    int64_t bytes;          // all segments together, without what they only carry
    int64_t active_bytes;   // what the active one will have, when that is more than it has
    int64_t age_ns;         // since a segment was left
    int64_t free_percent;   // of the disk, that should stay free,
    int64_t free_bytes;     // and no more than so many of it; 0: whatever the percentage makes
    int64_t at_least_bytes; // of all segments together, that stay whatever is free
};

struct store_disk {
    int64_t total, free; // bytes, as an ordinary user may have them
};

struct store_retention_plan {
    size_t count;                   // the first so many of the list are to be removed
    enum store_retention_key *keys; // borrowed, room for as many as the list has: why each goes
    int64_t missing; // bytes of free room that nothing will be removed for: it would not be enough
};

// "KeepFiles", "KeepSize", "KeepAge", "KeepFree": as in nvtxtd.conf(5).
const char *store_retention_key_name(enum store_retention_key key);

// Returns 0 or -errno: of the disk that `path` lies on, or is to lie on.
int store_disk_read(const char *path, struct store_disk *disk);
int64_t store_disk_wanted(const struct store_disk *disk, const struct store_retention *retention);

// Fills the plan; of its members only `keys` is given.
void store_retention_make(const struct store_segments *segments,
                          const struct store_retention *retention, const struct store_disk *disk,
                          int64_t now_ns, struct store_retention_plan *plan);

// When the oldest becomes too old: Unix time, 0: never.
int64_t store_retention_next_ns(const struct store_segments *segments,
                                const struct store_retention *retention);
