// SPDX-License-Identifier: Apache-2.0
//
// Rounds are numbered. A folder remembers in which round its names were complete, a file in which
// round it lost its name. When all folders are listed, a timer waits until the events up to then
// are taken. After that, a file is gone if it lost its name before this round began, and no folder
// has shown another name of it.
#include "daemon/follow/watch_state.h"

#include "daemon/follow/follow.h"

#define SETTLE_MS 20 // see on_settle()

// Its name was not found again. Returns whether that may still come.
static bool settle_loss(const struct lost_files *lost, struct follow *follow) {
    const struct folder *folder = watch_folder_of(lost->watch, follow->path);
    if (folder && !folder->up && !follow_is_blank(follow)) {
        return false; // not known until its folder is there, or for FileExpiry
    }
    if (follow->lost_round >= lost->settle_round) {
        return true;
    }
    follow->lost = false;
    if (!follow->anew) {
        follow->ending = !folder ? follow_unwatched : follow->replaced ? "replaced" : "removed";
    }
    schedule_want(follow);
    return false;
}

static bool is_listed(const struct lost_files *lost) {
    for (const struct folder *folder = lost->watch->folders; folder; folder = folder->next) {
        if (folder->round < lost->round) {
            return false;
        }
    }
    return true;
}

static void on_settle(uv_timer_t *timer);

static void wait_to_settle(struct lost_files *lost, unsigned loops) {
    lost->settle_loops = loops;
    uv_timer_start(&lost->settle, on_settle, loops == 0 ? SETTLE_MS : 0, 0);
}

// A file that is renamed while its folder is listed may be missing in the list under both names.
// But then there is an event that says where to look. So all events up to the list must have been
// taken, which needs one more iteration of the loop, and the looks that they asked for must be
// done.
static void on_settle(uv_timer_t *timer) {
    struct lost_files *lost = timer->data;
    struct watch *watch = lost->watch;
    bool busy = false, again = false;
    for (struct folder *folder = watch->folders; folder; folder = folder->next) {
        busy |= folder_is_busy(folder);
    }
    if (busy || lost->settle_loops == 0) {
        wait_to_settle(lost, busy ? 0 : 1);
        return;
    }
    bool before = schedule_pause(watch);
    for (struct follow *follow = watch->known.first; follow; follow = follow->next) {
        again |= follow->lost && settle_loss(lost, follow);
    }
    schedule_resume(watch, before);
    if (again) {
        lost_files_search(lost);
    }
}

static void on_listed(struct lost_files *lost) {
    if (lost->watch->stopping || !lost->running || !is_listed(lost)) {
        return;
    }
    lost->running = false;
    lost->settle_round = lost->round;
    wait_to_settle(lost, 0);
}

void lost_files_search(struct lost_files *lost) {
    if (lost->running || lost->watch->stopping) {
        return;
    }
    lost->running = true;
    lost->round++;
    for (struct folder *folder = lost->watch->folders; folder; folder = folder->next) {
        folder_list_all(folder);
    }
    on_listed(lost); // there may be no folder
}

static void look_everywhere(struct watch *watch) {
    lost_files_search(&watch->lost);
}

static void on_folder_listed(struct watch *watch) {
    on_listed(&watch->lost);
}

void lost_files_init(struct lost_files *lost, struct watch *watch) {
    lost->watch = watch;
    uv_timer_init(watch->hub->loop, &lost->settle); // cannot fail
    lost->settle.data = lost;
    watch->look_everywhere = look_everywhere;
    watch->on_listed = on_folder_listed;
}

void lost_files_close(struct lost_files *lost) {
    uv_close((uv_handle_t *)&lost->settle, NULL);
}
