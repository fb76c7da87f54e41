// SPDX-License-Identifier: Apache-2.0
//
// How many of a store's old segments have to go, and for which key. A pure function of the list,
// the bounds and the disk; store_segments_remove() removes. The active segment, the last one,
// always stays.
//
// Bounds of files, size and age are about the store itself and are kept exactly. Free room on the
// disk is different, because others fill the disk as well. So for that bound the store never
// becomes smaller than `at_least_bytes`, the newest segment that the link left stays, and nothing
// goes when all that may go would not be enough.
//
// Segments that a shipper has not shipped yet (store_id.h) wait for it as long as all of them take
// less than a size; a full disk does not wait.
#pragma once

#include "store/segment/segments.h"

enum store_retention_key {
    STORE_KEEP_FILES,
    STORE_KEEP_SIZE,
    STORE_KEEP_AGE,
    STORE_KEEP_FREE,
    STORE_RETENTION_KEYS // how many there are
};

struct store_retention {     // 0: no bound
    int64_t files;           // segments that are not empty, and the active one
    int64_t bytes;           // all segments together, without what they took over
    int64_t active_bytes;    // what the active one will have, when that is more than it has
    int64_t age_ns;          // since the link left a segment
    int64_t free_percent;    // of the disk, that should stay free,
    int64_t free_bytes;      // and no more than so many of it; 0: whatever the percentage makes
    uint64_t unshipped_from; // number of the first segment that waits; 0: none does
    int64_t unshipped_bytes; // of all segments together: at so many, none waits
    int64_t at_least_bytes;  // of all segments together: these stay, however little is free
};

struct store_disk {
    int64_t total, free; // bytes, as an ordinary user may have them
};

struct store_retention_plan {
    size_t count;                   // how many have to go, from the start of the list
    enum store_retention_key *keys; // borrowed, room for the length of the list: why each goes
    bool waits;                     // a segment would go, but waits for the shipper
    int64_t missing; // free bytes that are missing, when removing would not be enough for them
};

// "KeepFiles", "KeepSize", "KeepAge", "KeepFree": as in nvtxtd.conf(5).
const char *store_retention_key_name(enum store_retention_key key);

// Reads the disk that `path` is on, or will be on. Returns 0 or -errno.
int store_disk_read(const char *path, struct store_disk *disk);
int64_t store_disk_wanted(const struct store_disk *disk, const struct store_retention *retention);

// Fills the plan; the caller only sets its `keys`.
void store_retention_make(const struct store_segments *segments,
                          const struct store_retention *retention, const struct store_disk *disk,
                          int64_t now_ns, struct store_retention_plan *plan);

// When the oldest segment becomes too old: Unix time; 0: never.
int64_t store_retention_next_ns(const struct store_segments *segments,
                                const struct store_retention *retention);
