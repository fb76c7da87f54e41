// SPDX-License-Identifier: Apache-2.0
//
// How many of a store's old segments have to go. A pure function of the list, the bounds and the
// disk; removing is store_segments_remove()'s. The active segment, the last one, always stays.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/segments.h"

struct store_retention {  // 0: no bound
    int64_t files;        // segments, with the active one
    int64_t bytes;        // all segments together
    int64_t active_bytes; // what the active one will have, when that is more than it has
    int64_t age_ns;       // since a segment was left
    int64_t free_percent; // of the disk, that should stay free
};

struct store_disk {
    int64_t total, free; // bytes, as an ordinary user may have them
};

// Returns 0 or -errno: of the disk that `path` lies on, or is to lie on.
int store_disk_read(const char *path, struct store_disk *disk);
int64_t store_disk_wanted(const struct store_disk *disk, int64_t free_percent); // bytes

// The first so many of the list are to be removed.
size_t store_retention_excess(const struct store_segments *segments,
                              const struct store_retention *retention,
                              const struct store_disk *disk, int64_t now_ns);

// When the oldest becomes too old: Unix time, 0: never.
int64_t store_retention_next_ns(const struct store_segments *segments,
                                const struct store_retention *retention);
