// SPDX-License-Identifier: Apache-2.0
//
// The watch of a follower: what wakes it, and what does not.
#include <errno.h>
#include <poll.h>

#include "tests/unit/follow_kit.h"

static void must_watch(void) {
    int fd;
    cr_assert_eq(store_follow_watch(follow, &fd), 0);
    cr_assert_geq(fd, 0);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    cr_assert_eq(poll(&ready, 1, 0), 0, "a new watch is quiet");
    cr_assert_not(store_follow_changed(follow));
}

Test(follow_watch, wakes_for_its_store_alone) {
    char other[128];
    int fd;
    begin();
    start();
    cr_assert(store_follow_changed(follow));
    must_watch();
    must_watch(); // it lasts
    add_events(1);
    cr_assert(store_follow_changed(follow));
    cr_assert(store_follow_changed(follow), "the watch is over");
    must_watch();
    follow_all();
    cr_assert_not(store_follow_changed(follow));
    snprintf(other, sizeof(other), "%s/another", kit.folder);
    FILE *file = fopen(other, "w");
    fputs("x", file);
    fclose(file);
    cr_assert_not(store_follow_changed(follow));
    rotate();
    cr_assert(store_follow_changed(follow));
    must_watch();
    store_follow_unwatch(follow);
    add_events(1);
    must_watch(); // what it slept through does not wake it
    snprintf(other, sizeof(other), "%s.moved", kit.folder);
    store_close(kit.store);
    kit.store = NULL;
    store_follow_unwatch(follow);
    must_watch();
    cr_assert_eq(rename(kit.folder, other), 0);
    cr_assert(store_follow_changed(follow));
    cr_assert_eq(store_follow_watch(follow, &fd), -ENOENT, "there is no folder to watch");
    cr_assert(store_follow_changed(follow));
    cr_assert_eq(rename(other, kit.folder), 0);
    must_watch();
    open_store();
    add_events(1);
    cr_assert(store_follow_changed(follow));
    end();
}
