// SPDX-License-Identifier: Apache-2.0
//
// A new store is opened in one of three ways: as it is (the segment in use), fresh (after one that
// was put aside or vanished), or beside a segment that somebody has locked for too long. The loss
// is one transaction with one row, before anything else is written.
#include "daemon/writer/revive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/loss_notes.h"
#include "daemon/conf/paths.h"
#include "protocol/base/clock.h"
#include "store/lock/locks.h"
#include "store/rotation.h"
#include "store/segment/segments.h"

char *revive_list_aside(const struct revive *revive) {
    struct store_segments list;
    char *text = NULL;
    if (store_quarantine_list(revive->path, &list) < 0) {
        return NULL;
    }
    for (size_t i = 0; i < list.count; i++) {
        char *longer = NULL;
        int n = asprintf(&longer, "%s%s%s", text ?: "", text ? ", " : "", list.rows[i].path);
        free(text);
        text = n < 0 ? NULL : longer;
    }
    store_segments_deinit(&list);
    return text;
}

bool revive_is_due(int r) {
    return r == STORE_CORRUPT || r == STORE_GONE;
}

static void rename_files(struct revive *revive, const char *file) {
    int r =
        store_quarantine(file, revive->path, revive->loss_ns, revive->aside, sizeof(revive->aside));
    if (r == 0) {
        log_error("the store's files were put aside as %s", revive->aside);
        return;
    }
    *revive->aside = '\0';
    if (r < 0) {
        log_error("the store's files cannot be put aside: %s", strerror(-r));
    }
}

void revive_put_aside(struct revive *revive, struct store *store_take, int r,
                      const char *sentence) {
    bool broken = r == STORE_CORRUPT;
    char file[PATH_MAX];
    if (store_take) {
        snprintf(file, sizeof(file), "%s", store_file_path(store_take));
    } else {
        store_rotation_active(revive->path, file, sizeof(file));
    }
    if (!*file) { // a plain file, not a segment
        snprintf(file, sizeof(file), "%s", revive->path);
    }
    log_error("%s", sentence);
    revive->loss_ns = nvtxt_realtime_ns();
    if (broken) {
        store_abandon(store_take);
    } else {
        store_close(store_take); // its write-ahead log goes into the file, wherever that is now
    }
    // Only the log was removed: the file is complete, and is opened again.
    if (!broken && access(file, F_OK) == 0) {
        return;
    }
    revive->loss = broken ? LOSS_STORE_BROKEN : LOSS_STORE_VANISHED;
    rename_files(revive, file);
}

static int write_loss(struct revive *revive, struct store *store) {
    int r = loss_row_write(store, revive->loss_ns, revive->loss, 1);
    if (r == STORE_DONE) {
        revive->loss = NULL;
        *revive->aside = '\0';
        log_warning("a new store takes its place store=%s", revive->path);
    }
    return r;
}

// The lock file may have been removed with its folder: another daemon could lock the new one.
static int keep_lock(struct revive *revive, char *why, size_t size) {
    if (lock_file_is_ours(revive->path, *revive->lock)) {
        return 0;
    }
    int fd = lock_file_take(revive->path, "store", why, size);
    if (fd < 0) {
        return STORE_BUSY;
    }
    close(*revive->lock);
    *revive->lock = fd;
    return 0;
}

// ---- Locked by somebody else --------------------------------------------------------------------

static bool is_over(const struct revive *revive) {
    return revive->locked_since_ns > 0 &&
           nvtxt_boottime_ns() - revive->locked_since_ns >= revive->lock_timeout_ns;
}

// Puts into `why` the sentence for the case that it lasts.
static void note_locked(struct revive *revive, char *why, size_t size) {
    char active[PATH_MAX], whose[160];
    struct store_locks locks;
    store_rotation_active(revive->path, active, sizeof(active));
    store_locks_find(*active ? active : revive->path, &locks);
    store_locks_say(&locks, whose, sizeof(whose));
    snprintf(why, size, "the store %s is locked by %s: let it close the store, or end it",
             revive->path, whose);
    if (!revive->locked_since_ns) {
        revive->locked_since_ns = nvtxt_boottime_ns();
        log_warning("%s; it is waited for timeout_s=%" PRId64, why,
                    revive->lock_timeout_ns / 1000000000);
    }
}

bool revive_note_locked(struct revive *revive, char *why, size_t size) {
    note_locked(revive, why, size);
    return is_over(revive);
}

static void note_left(const char *locked, struct store *store) {
    log_warning("a segment of the store stays locked, a new one goes on beside it with what was "
                "open; it is completed when it is free locked=%s segment=%s",
                nvtxt_base_name(locked), nvtxt_base_name(store_file_path(store)));
}

bool revive_wait(const struct revive *revive) {
    const struct timespec pause = {.tv_nsec = 100000000};
    if (!revive->locked_since_ns || revive->left_behind) {
        return false;
    }
    nanosleep(&pause, NULL);
    return true;
}

static int open_store(struct revive *revive, struct store **store, bool *vanished, char *why,
                      size_t size) {
    char locked[PATH_MAX];
    bool over = is_over(revive);
    enum store_opening how = revive->loss ? STORE_OPEN_FRESH
                             : over       ? STORE_OPEN_BESIDE
                                          : STORE_OPEN_ACTIVE;
    struct store_options options = revive->options;
    options.aside = *revive->aside ? revive->aside : NULL;
    store_rotation_active(revive->path, locked, sizeof(locked));
    int r = store_rotation_open(store, revive->path, &options, how, vanished, why, size);
    revive->left_behind = over;
    if (r == STORE_BUSY) {
        note_locked(revive, why, size);
    } else {
        revive->locked_since_ns = 0;
    }
    if (r == STORE_DONE && how == STORE_OPEN_BESIDE && *locked) {
        note_left(locked, *store);
    }
    return r;
}

int revive_open(struct revive *revive, struct store **store, char *why, size_t size) {
    if (access(revive->path, F_OK) < 0) {
        paths_make_store_folder(revive->path); // keep_lock() says what is wrong with it
    }
    if (keep_lock(revive, why, size)) {
        return STORE_BUSY;
    }
    bool vanished = false;
    int r = open_store(revive, store, &vanished, why, size);
    if (r == STORE_DONE && vanished && !revive->loss) {
        revive->loss = LOSS_STORE_VANISHED;
        revive->loss_ns = nvtxt_realtime_ns();
    }
    if (r != STORE_DONE || !revive->loss) {
        return r;
    }
    r = write_loss(revive, *store);
    if (r != STORE_DONE) {
        const char *sentence = store_error(*store);
        snprintf(why, size, "%s", r < 0 && !*sentence ? strerror(-r) : sentence);
        store_close(*store);
        *store = NULL;
    }
    return r;
}
