// SPDX-License-Identifier: Apache-2.0
//
// The folder of the link is watched, not the files: segments come and go, and a commit changes the
// log of the newest one. What is read from the descriptor is only looked through for names of this
// store. The keeper's index, the -shm and other people's files wake nobody's reader. A watch makes
// each write of the daemon dearer, so it ends with the first change that it finds.
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "store/follow/follow.h"
#include "store/follow/follow_state.h"

#define WANTED                                                                                     \
    (IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |            \
     IN_MOVE_SELF | IN_ONLYDIR)
#define GONE (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)

static int watch_folder(struct store_follow *follow) {
    char folder[PATH_MAX];
    size_t len = (size_t)(nvtxt_base_name(follow->path) - follow->path);
    snprintf(folder, sizeof(folder), "%.*s", (int)len, follow->path);
    follow->watched = inotify_add_watch(follow->watch, len ? folder : ".", WANTED);
    return follow->watched < 0 ? nvtxt_origin(-errno) : 0;
}

static bool ends_in(const char *name, const char *ending) {
    size_t len = strlen(name), more = strlen(ending);
    return len >= more && strcmp(name + len - more, ending) == 0;
}

static bool is_of_store(const struct store_follow *follow, const struct inotify_event *event) {
    const char *name = nvtxt_base_name(follow->path);
    size_t stem = strlen(name) - (ends_in(name, ".sqlite") ? strlen(".sqlite") : 0);
    return event->len > 0 && strncmp(event->name, name, stem) == 0 &&
           !ends_in(event->name, "-shm") && !ends_in(event->name, ".ended") &&
           !ends_in(event->name, ".ended-journal") && !ends_in(event->name, ".ended-wal");
}

static bool look_through(const struct store_follow *follow, const char *bytes, size_t len) {
    bool changed = false;
    for (size_t at = 0; at + sizeof(struct inotify_event) <= len;) {
        const struct inotify_event *event = (const struct inotify_event *)(bytes + at);
        bool is_gone = event->wd == follow->watched && (event->mask & GONE);
        changed = changed || is_gone || is_of_store(follow, event) || (event->mask & IN_Q_OVERFLOW);
        at += sizeof(*event) + event->len;
    }
    return changed;
}

static bool empty(struct store_follow *follow) {
    _Alignas(struct inotify_event) char bytes[16384];
    bool changed = false;
    ssize_t got;
    while ((got = read(follow->watch, bytes, sizeof(bytes))) > 0) {
        changed = look_through(follow, bytes, (size_t)got) || changed;
    }
    return changed;
}

int store_follow_watch(struct store_follow *follow, int *fd) {
    if (follow->watch < 0) {
        follow->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    }
    *fd = follow->watch;
    if (follow->watch < 0) {
        return nvtxt_origin(-errno);
    }
    if (follow->watched >= 0) {
        return 0;
    }
    empty(follow); // what an earlier watch left: who begins a watch reads the store after that
    return watch_folder(follow);
}

void store_follow_unwatch(struct store_follow *follow) {
    if (follow->watched >= 0) {
        inotify_rm_watch(follow->watch, follow->watched);
        follow->watched = -1;
    }
}

bool store_follow_changed(struct store_follow *follow) {
    if (follow->watched < 0) {
        return true;
    }
    bool changed = empty(follow);
    if (changed) {
        store_follow_unwatch(follow);
    }
    return changed;
}
