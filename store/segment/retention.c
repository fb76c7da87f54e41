// SPDX-License-Identifier: Apache-2.0
//
// The link left a segment when the next one was begun, and the next one's name has that time. How
// much removing frees is computed, not measured: a reader that has a removed file open keeps its
// room, and measuring would then remove one segment after the other.
#include "store/segment/retention.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "protocol/base/origin.h"

const char *store_retention_key_name(enum store_retention_key key) {
    static const char *const names[STORE_RETENTION_KEYS] = {
        [STORE_KEEP_FILES] = "KeepFiles",
        [STORE_KEEP_SIZE] = "KeepSize",
        [STORE_KEEP_AGE] = "KeepAge",
        [STORE_KEEP_FREE] = "KeepFree",
    };
    return names[key];
}

int store_disk_read(const char *path, struct store_disk *disk) {
    char folder[PATH_MAX];
    struct statvfs system;
    const char *slash = strrchr(path, '/');
    int len = slash == path ? 1 : slash ? (int)(slash - path) : 1;
    snprintf(folder, sizeof(folder), "%.*s", len, slash ? path : ".");
    if (statvfs(folder, &system) < 0) {
        return nvtxt_origin(-errno);
    }
    int64_t unit = (int64_t)system.f_frsize;
    disk->free = (int64_t)system.f_bavail * unit;
    disk->total = (int64_t)(system.f_blocks - system.f_bfree + system.f_bavail) * unit;
    return 0;
}

int64_t store_disk_wanted(const struct store_disk *disk, const struct store_retention *retention) {
    int64_t share = disk->total / 100 * retention->free_percent;
    return retention->free_bytes > 0 && share > retention->free_bytes ? retention->free_bytes
                                                                      : share;
}

static int64_t left_ns(const struct store_segments *segments, size_t i) {
    return segments->rows[i + 1].started_ns;
}

struct sums {
    int64_t files; // that count
    int64_t bytes; // of the files
    int64_t room;  // of what is their own, the active one as big as it will be
};

// Without what it took over: that would count in each segment, and one user's open ranges would
// push out the others' history.
static int64_t own_bytes(const struct store_segment *row) {
    return row->bytes > row->carried ? row->bytes - row->carried : 0;
}

static struct sums sums_of(const struct store_segments *segments, int64_t active_bytes) {
    struct sums sums = {0};
    for (size_t i = 0; i < segments->count; i++) {
        int64_t own = own_bytes(&segments->rows[i]);
        bool grows = i + 1 == segments->count && own < active_bytes;
        sums.files += !segments->rows[i].empty;
        sums.bytes += segments->rows[i].bytes;
        sums.room += grows ? active_bytes : own;
    }
    return sums;
}

// Files, size and age: whether segment `i`, the oldest of those that stay so far, has to go.
static bool is_unwanted(const struct store_segments *segments, size_t i, const struct sums *sums,
                        const struct store_retention *retention, int64_t now_ns,
                        enum store_retention_key *key) {
    bool too_many = retention->files > 0 && sums->files > retention->files;
    bool too_big = retention->bytes > 0 && sums->room > retention->bytes;
    bool too_old = retention->age_ns > 0 && left_ns(segments, i) + retention->age_ns <= now_ns;
    *key = too_old ? STORE_KEEP_AGE : too_many ? STORE_KEEP_FILES : STORE_KEEP_SIZE;
    return too_many || too_big || too_old;
}

// Whether a segment that is unwanted stays because it was not shipped.
static bool is_waiting(const struct store_segment *row, const struct sums *sums,
                       const struct store_retention *retention) {
    return retention->unshipped_from > 0 && row->number >= retention->unshipped_from &&
           sums->bytes < retention->unshipped_bytes;
}

// Adds to the plan what has to go for `missing` bytes of free room. When that is not enough it adds
// nothing, and notes what is missing.
static void add_for_room(const struct store_segments *segments,
                         const struct store_retention *retention, int64_t bytes, int64_t missing,
                         struct store_retention_plan *plan) {
    size_t gone = plan->count;
    int64_t freed = 0;
    for (; freed < missing && gone + 2 < segments->count; gone++) {
        if (bytes - freed - segments->rows[gone].bytes < retention->at_least_bytes) {
            break;
        }
        freed += segments->rows[gone].bytes;
        plan->keys[gone] = STORE_KEEP_FREE;
    }
    if (freed < missing) {
        plan->missing = missing;
    } else {
        plan->count = gone;
    }
}

void store_retention_make(const struct store_segments *segments,
                          const struct store_retention *retention, const struct store_disk *disk,
                          int64_t now_ns, struct store_retention_plan *plan) {
    struct sums sums = sums_of(segments, retention->active_bytes);
    int64_t missing = store_disk_wanted(disk, retention) - disk->free;
    size_t gone = 0;
    plan->waits = false;
    for (; gone + 1 < segments->count; gone++) {
        const struct store_segment *row = &segments->rows[gone];
        if (!is_unwanted(segments, gone, &sums, retention, now_ns, &plan->keys[gone])) {
            break;
        }
        if (is_waiting(row, &sums, retention)) {
            plan->waits = true;
            break;
        }
        sums.files -= !row->empty;
        sums.bytes -= row->bytes;
        sums.room -= own_bytes(row);
        missing -= row->bytes;
    }
    plan->count = gone;
    plan->missing = 0;
    if (missing > 0) {
        add_for_room(segments, retention, sums.bytes, missing, plan);
    }
}

int64_t store_retention_next_ns(const struct store_segments *segments,
                                const struct store_retention *retention) {
    return retention->age_ns > 0 && segments->count > 1 ? left_ns(segments, 0) + retention->age_ns
                                                        : 0;
}
