// SPDX-License-Identifier: Apache-2.0
//
// Sizes are asked of the store after a commit and compared with the limits. Two facts are
// remembered for that: how big the segment was when it was begun, because one that was born big
// must double before it is left, and when it will be old. What is wrong for a while (log, link,
// disk) is logged when it begins; a flag for each remembers that.
#include "daemon/writer/rotation_policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/conf/conf.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "store/rotation.h"
#include "store/segment/segments.h"

#define SECOND_NS INT64_C(1000000000)
#define AGAIN_AFTER_NS (30 * SECOND_NS) // a failed rotation
#define ASK_EVERY_NS (10 * SECOND_NS)   // the keeper, for free room on the disk
#define PAGE_BYTES 4096
#define BYTES_OF_ROW 512 // of what is carried over, about
#define CARRIED_SHARE 16 // of a segment, at most about, see store_options.carry_rows

void rotate_limits_of(const struct conf *config, struct rotate_limits *limits) {
    // A log of twice the pages at which it is emptied is usual.
    int64_t usual = 2 * config->checkpoint_pages * PAGE_BYTES;
    // Room for the segment in use, its log, and the log of the segment before, until it is closed.
    int64_t log = usual < config->rotate_size ? usual : config->rotate_size;
    *limits = (struct rotate_limits){
        .bytes = config->rotate_size,
        .age_ns = config->rotate_age_ms * 1000000,
        .wal_bytes = config->rotate_wal > usual ? config->rotate_wal : usual,
        .keep = {.files = config->keep_files,
                 .bytes = config->keep_size,
                 .active_bytes = config->rotate_size + 2 * log,
                 .age_ns = config->keep_age_ms * 1000000,
                 .free_percent = nvtxt_conf_share(config->keep_free).percent,
                 .free_bytes = nvtxt_conf_share(config->keep_free).bytes,
                 .unshipped_bytes = config->keep_unshipped,
                 .at_least_bytes = config->keep_at_least},
    };
    snprintf(limits->shipped_file, sizeof(limits->shipped_file), "%s", config->shipped_file);
}

static void set_options(struct rotate *rotate) {
    int64_t rows = rotate->limits.bytes / CARRIED_SHARE / BYTES_OF_ROW;
    rotate->options.carry_rows = (size_t)(rows < 10000 ? rows : 10000);
}

static void set_age(struct rotate *rotate, struct store *store) {
    bool grows_old = rotate->limits.age_ns > 0 && store && store_holds_events(store);
    rotate->old_at_ns = grows_old ? store_begun_ns(store) + rotate->limits.age_ns : 0;
}

static void set_active(struct rotate *rotate, struct store *store) {
    rotate->holds = !store_is_empty(store);
    rotate->carried = store_carried_bytes(store);
    keeper_set_active(&rotate->keeper, store, !rotate->holds, rotate->carried);
}

bool rotate_check_content(struct rotate *rotate, struct store *store) {
    if (!rotate->holds && !store_is_empty(store)) {
        set_active(rotate, store);
    }
    return rotate->holds;
}

void rotate_begun(struct rotate *rotate, struct store *store) {
    set_active(rotate, store);
    rotate->first_bytes = store_content_bytes(store);
    set_age(rotate, store);
}

static void watch_disk(struct rotate *rotate, int64_t store_bytes) {
    struct keeper_state old;
    struct store_disk disk;
    const struct store_retention *keep = &rotate->limits.keep;
    if (store_disk_read(rotate->path, &disk) < 0) {
        return;
    }
    keeper_get_state(&rotate->keeper, &old);
    int64_t wanted = store_disk_wanted(&disk, keep);
    int64_t now = nvtxt_boottime_ns();
    bool low = disk.free < wanted, helpless = old.segments == 0 || old.missing > 0;
    int64_t own = old.bytes - old.carried + store_bytes - rotate->carried;
    bool large = keep->bytes > 0 && own > keep->bytes;
    if (old.segments > 0 && (large || (low && now - rotate->asked_ns > ASK_EVERY_NS))) {
        rotate->asked_ns = low ? now : rotate->asked_ns;
        keeper_check(&rotate->keeper);
    }
    if (low && !rotate->logged_short && helpless) {
        log_warning("the disk of the store %s has less room than KeepFree asks for, and %s: make "
                    "room, or lower KeepFree free_bytes=%" PRId64 " wanted=%" PRId64,
                    rotate->path,
                    old.segments == 0 ? "there is no old segment to remove"
                                      : "removing old segments would not make enough, so none is",
                    disk.free, wanted);
    }
    rotate->logged_short = low && (rotate->logged_short || helpless);
}

int rotate_init(struct rotate *rotate, struct bqueue *queue, const struct revive *revive,
                const struct rotate_limits *limits, struct store *store) {
    const char *path = revive->path;
    struct store_segments list = {0};
    *rotate = (struct rotate){.path = path, .options = revive->options, .limits = *limits};
    int r = keeper_init(&rotate->keeper, path, queue, limits);
    if (r < 0) {
        return r;
    }
    set_options(rotate);
    set_age(rotate, store);
    set_active(rotate, store);
    if (store_segments_list(path, &list) == 0 && list.count > 1) {
        keeper_check(&rotate->keeper);
    } else {
        watch_disk(rotate, 0); // there is no old segment to remove
    }
    store_segments_deinit(&list);
    return 0;
}

void rotate_deinit(struct rotate *rotate) {
    keeper_deinit(&rotate->keeper);
}

void rotate_configure(struct rotate *rotate, const struct rotate_limits *limits,
                      struct store *store) {
    rotate->limits = *limits;
    set_options(rotate);
    set_age(rotate, store);
    keeper_configure(&rotate->keeper, limits);
}

// ---- Log and link -------------------------------------------------------------------------------

static void watch_log(struct rotate *rotate, int64_t wal_bytes) {
    int64_t limit = rotate->limits.wal_bytes;
    if (!rotate->logged_pinned && wal_bytes > limit / 2) {
        rotate->logged_pinned = true;
        log_warning("a reader that keeps a transaction open keeps the write-ahead log growing; at "
                    "its limit the daemon begins a new file wal_bytes=%" PRId64 " limit=%" PRId64,
                    wal_bytes, limit);
    } else if (wal_bytes < limit / 4) {
        rotate->logged_pinned = false;
    }
}

// Readers find the segment by the link: when somebody removed it, it is made again. A file in its
// place is not removed.
static void watch_link(struct rotate *rotate, struct store *store) {
    enum store_link link;
    char target[PATH_MAX];
    const char *file = strrchr(store_file_path(store), '/');
    const char *linked = NULL;
    if (store_segments_link(rotate->path, &link, target) < 0 || !file) {
        return;
    }
    if (link == STORE_LINK_SEGMENT) {
        linked = strrchr(target, '/');
    }
    if (linked ? strcmp(linked, file) == 0 : link == STORE_LINK_SEGMENT) {
        return;
    }
    bool other = link == STORE_LINK_FILE || link == STORE_LINK_OTHER || link == STORE_LINK_FOREIGN;
    int r = other ? nvtxt_origin(-EEXIST)
                  : store_segments_set_link(rotate->path, store_file_path(store));
    if (r == 0 || !rotate->logged_unlinked) {
        log_warning("the link of the store %s was taken away; %s segment=%s", rotate->path,
                    r == 0  ? "it was made again"
                    : other ? "something else stands there: move it away"
                            : "it cannot be made again",
                    file + 1);
    }
    rotate->logged_unlinked = r != 0;
}

// ---- Rotation -----------------------------------------------------------------------------------

// A segment that was begun big, by what it took over, at least doubles.
bool rotate_is_full(const struct rotate *rotate, struct store *store) {
    int64_t limit = rotate->limits.bytes;
    if (limit < 2 * rotate->first_bytes) {
        limit = 2 * rotate->first_bytes;
    }
    return store_content_bytes(store) >= limit && nvtxt_boottime_ns() >= rotate->not_before_ns;
}

const char *rotate_reason(struct rotate *rotate, struct store *store) {
    store_checkpoint_if_due(store);
    int64_t wal_bytes = store_wal_held_bytes(store);
    rotate_check_content(rotate, store); // tells the keeper at the first event
    if (rotate->limits.age_ns > 0 && rotate->old_at_ns == 0) {
        set_age(rotate, store);
    }
    watch_log(rotate, wal_bytes);
    watch_link(rotate, store);
    watch_disk(rotate, store_file_bytes(store) + store_wal_bytes(store));
    if (nvtxt_boottime_ns() < rotate->not_before_ns) {
        return NULL;
    }
    return rotate_is_full(rotate, store)                                   ? "size"
           : wal_bytes > rotate->limits.wal_bytes                          ? "wal"
           : rotate->old_at_ns && nvtxt_realtime_ns() >= rotate->old_at_ns ? "age"
                                                                           : NULL;
}

int rotate_now(struct rotate *rotate, struct store **store, const char *reason, char *why,
               size_t size) {
    struct store *next = NULL;
    int64_t began = nvtxt_boottime_ns();
    int r = store_rotation_next(&next, *store, rotate->path, &rotate->options, why, size);
    if (r) {
        rotate->not_before_ns = nvtxt_boottime_ns() + AGAIN_AFTER_NS;
        if (!rotate->logged_failure) {
            log_error("the store goes on in the segment that it has, a new one is tried again "
                      "later: %s reason=%s",
                      why, reason);
        }
        rotate->logged_failure = true;
        return r;
    }
    char left[NAME_MAX + 1];
    snprintf(left, sizeof(left), "%s", nvtxt_base_name(store_file_path(*store)));
    keeper_take(&rotate->keeper, *store, next);
    *store = next;
    rotate->logged_failure = false;
    rotate->not_before_ns = 0;
    rotate_begun(rotate, next);
    log_info("the store goes on in a new segment reason=%s segment=%s left=%s after_us=%" PRId64,
             reason, nvtxt_base_name(store_file_path(next)), left,
             (nvtxt_boottime_ns() - began) / 1000);
    return 0;
}

int64_t rotate_wait_until_ns(const struct rotate *rotate) {
    if (!rotate->old_at_ns) {
        return 0;
    }
    int64_t left = rotate->old_at_ns - nvtxt_realtime_ns();
    int64_t pause = rotate->not_before_ns - nvtxt_boottime_ns();
    left = left > pause ? left : pause;
    return nvtxt_monotonic_ns() + (left > 0 ? left : 0);
}
