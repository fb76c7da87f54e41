// SPDX-License-Identifier: Apache-2.0
//
// A segment was left when the next one was begun, which is in that one's name. What removing frees
// is reckoned, not measured: a reader that holds a removed file keeps its room, and measuring would
// remove one after the other for it.
#include "store/retention.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

int store_disk_read(const char *path, struct store_disk *disk) {
    char folder[PATH_MAX];
    struct statvfs system;
    const char *slash = strrchr(path, '/');
    int len = slash == path ? 1 : slash ? (int)(slash - path) : 1;
    snprintf(folder, sizeof(folder), "%.*s", len, slash ? path : ".");
    if (statvfs(folder, &system) < 0) {
        return -errno;
    }
    int64_t unit = (int64_t)system.f_frsize;
    disk->free = (int64_t)system.f_bavail * unit;
    disk->total = (int64_t)(system.f_blocks - system.f_bfree + system.f_bavail) * unit;
    return 0;
}

int64_t store_disk_wanted(const struct store_disk *disk, int64_t free_percent) {
    return disk->total / 100 * free_percent;
}

static int64_t left_ns(const struct store_segments *segments, size_t i) {
    return segments->rows[i + 1].started_ns;
}

size_t store_retention_excess(const struct store_segments *segments,
                              const struct store_retention *retention,
                              const struct store_disk *disk, int64_t now_ns) {
    int64_t bytes = 0, freed = 0;
    int64_t missing = store_disk_wanted(disk, retention->free_percent) - disk->free;
    for (size_t i = 0; i < segments->count; i++) {
        bool active = i + 1 == segments->count;
        bool grows = active && segments->rows[i].bytes < retention->active_bytes;
        bytes += grows ? retention->active_bytes : segments->rows[i].bytes;
    }
    size_t gone = 0;
    for (; gone + 1 < segments->count; gone++) {
        bool too_many =
            retention->files > 0 && (int64_t)(segments->count - gone) > retention->files;
        bool too_big = retention->bytes > 0 && bytes - freed > retention->bytes;
        bool too_old =
            retention->age_ns > 0 && left_ns(segments, gone) + retention->age_ns <= now_ns;
        if (!too_many && !too_big && !too_old && freed >= missing) {
            break;
        }
        freed += segments->rows[gone].bytes;
    }
    return gone;
}

int64_t store_retention_next_ns(const struct store_segments *segments,
                                const struct store_retention *retention) {
    return retention->age_ns > 0 && segments->count > 1 ? left_ns(segments, 0) + retention->age_ns
                                                        : 0;
}
