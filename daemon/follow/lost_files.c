// SPDX-License-Identifier: Apache-2.0
#include "daemon/follow/lost_files.h"

#include "daemon/follow/folder.h"
#include "daemon/follow/follow.h"
#include "daemon/follow/schedule.h"
#include "daemon/follow/watch_state.h"

#define SETTLE_MS 20 // see on_settle()

// Its name was not found again. Returns whether that may still come.
static bool settle_loss(const struct search *search, struct follow *follow) {
    const struct folder *folder = watch_folder_of(search->watch, follow->path);
    if (folder && !folder->up && !follow_is_blank(follow)) {
        return false; // nobody can say: until its folder is there, or FileExpiry
    }
    if (follow->lost_round >= search->settle_round) {
        return true;
    }
    follow->lost = false;
    if (!follow->anew) {
        follow->ending = !folder ? follow_unwatched : follow->replaced ? "replaced" : "removed";
    }
    schedule_want(follow);
    return false;
}

static bool is_listed(const struct search *search) {
    for (const struct folder *folder = search->watch->folders; folder; folder = folder->next) {
        if (folder->round < search->round) {
            return false;
        }
    }
    return true;
}

static void on_settle(uv_timer_t *timer);

static void wait_to_settle(struct search *search, unsigned turns) {
    search->settle_turns = turns;
    uv_timer_start(&search->settle, on_settle, turns == 0 ? SETTLE_MS : 0, 0);
}

// A file that is renamed while its folder is listed may stand in the list under neither name. But
// then there is an event that says where to look: all that came until the list was made must have
// been taken, which one more turn of the loop is sure to have done, and have been looked at.
static void on_settle(uv_timer_t *timer) {
    struct search *search = timer->data;
    struct watch *watch = search->watch;
    bool looking = false, again = false;
    for (struct folder *folder = watch->folders; folder; folder = folder->next) {
        looking |= folder_is_looking(folder);
    }
    if (looking || search->settle_turns == 0) {
        wait_to_settle(search, looking ? 0 : 1);
        return;
    }
    bool before = schedule_hold(watch);
    for (struct follow *follow = watch->follows.first; follow; follow = follow->next) {
        again |= follow->lost && settle_loss(search, follow);
    }
    schedule_let_go(watch, before);
    if (again) {
        search_begin(search);
    }
}

static void on_listed(struct search *search) {
    if (search->watch->stopping || !search->running || !is_listed(search)) {
        return;
    }
    search->running = false;
    search->settle_round = search->round;
    wait_to_settle(search, 0);
}

void search_begin(struct search *search) {
    if (search->running || search->watch->stopping) {
        return;
    }
    search->running = true;
    search->round++;
    for (struct folder *folder = search->watch->folders; folder; folder = folder->next) {
        folder_list_all(folder);
    }
    on_listed(search); // there may be no folder
}

static void look_everywhere(struct watch *watch) {
    search_begin(&watch->search);
}

static void on_folder_listed(struct watch *watch) {
    on_listed(&watch->search);
}

void search_init(struct search *search, struct watch *watch) {
    search->watch = watch;
    uv_timer_init(watch->hub->loop, &search->settle); // cannot fail
    search->settle.data = search;
    watch->look_everywhere = look_everywhere;
    watch->on_listed = on_folder_listed;
}

void search_close(struct search *search) {
    uv_close((uv_handle_t *)&search->settle, NULL);
}
