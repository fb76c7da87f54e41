// SPDX-License-Identifier: Apache-2.0
//
// The target of the link is two numbers: when, and how many events. A new note is made under
// another name and renamed over the old one. A daemon that was killed after the commit and before
// it removed the note finds the same row in the store, and does not write it twice.
#include "daemon/writer/revive.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/loss_notes.h"
#include "protocol/base/origin.h"
#include "protocol/lang/timebase.h"
#include "protocol/wire/ctlmsg.h"
#include "store/segment/segments.h"

#define NOTE_BYTES 48 // two numbers

struct note {
    int64_t at_ns;
    uint64_t events; // 0: nothing is noted
};

static void file_of(const char *store_path, char *path, size_t size) {
    snprintf(path, size, "%s.lost", store_path);
}

static bool parse(const char *text, struct note *note) {
    int len = 0;
    return sscanf(text, "%" SCNd64 " %" SCNu64 "%n", &note->at_ns, &note->events, &len) == 2 &&
           text[len] == '\0' && note->events > 0 && note->events <= INT64_MAX;
}

// Returns 0 or -errno.
static int read_note(const char *path, struct note *note) {
    char target[NOTE_BYTES + 1];
    struct stat stat;
    *note = (struct note){0};
    if (lstat(path, &stat) < 0) {
        return errno == ENOENT ? 0 : nvtxt_origin(-errno);
    }
    if (S_ISDIR(stat.st_mode)) {
        return nvtxt_origin(-EISDIR); // it cannot be removed, and would count at each start
    }
    ssize_t n = readlink(path, target, sizeof(target) - 1);
    target[n < 0 ? 0 : n] = '\0';
    if (!parse(target, note)) {
        *note = (struct note){.at_ns = nvtxt_time_ns(stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec),
                              .events = 1};
    }
    return 0;
}

int stop_note_add(const char *store_path, int64_t at_ns, uint64_t events) {
    char path[PATH_MAX], fresh[PATH_MAX + sizeof(".new")], target[NOTE_BYTES];
    struct note before;
    file_of(store_path, path, sizeof(path));
    int r = read_note(path, &before); // of an earlier stop, if no start could write it since
    if (r < 0) {
        return r;
    }
    snprintf(fresh, sizeof(fresh), "%s.new", path);
    snprintf(target, sizeof(target), "%" PRId64 " %" PRIu64, at_ns, before.events + events);
    unlink(fresh);
    if (symlink(target, fresh) < 0) {
        return nvtxt_origin(-errno);
    }
    if (rename(fresh, path) < 0) {
        r = nvtxt_origin(-errno);
        unlink(fresh);
        return r;
    }
    return store_segments_sync(path);
}

// Whether a daemon that was killed before it removed the note has moved it. No, when that cannot be
// found out: a loss that is written twice is better than one that is missing.
static bool is_moved(struct store *store, const struct note *note) {
    struct store_losses losses;
    bool found = false;
    if (store_losses_load(store, NVTXT_CTL_LOSSES, &losses) != STORE_DONE) {
        return false;
    }
    for (size_t i = 0; i < losses.count && !found; i++) {
        const struct store_loss_row *row = &losses.rows[i];
        found = row->at_ns == note->at_ns && row->count == note->events &&
                strcmp(row->reason, LOSS_UNWRITTEN) == 0;
    }
    store_losses_deinit(&losses);
    return found;
}

int stop_note_move(const char *store_path, struct store *store) {
    char path[PATH_MAX];
    struct note note;
    file_of(store_path, path, sizeof(path));
    int r = read_note(path, &note);
    if (r < 0 || note.events == 0) {
        return r;
    }
    r = is_moved(store, &note) ? 0 : loss_row_write(store, note.at_ns, LOSS_UNWRITTEN, note.events);
    if (r == 0) {
        unlink(path);
    }
    return r;
}
