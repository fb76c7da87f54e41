// SPDX-License-Identifier: Apache-2.0
//
// A follower and its segments: those that are removed before they were read, and one that takes the
// place of a broken one; and a store that is not there for a while.
#include "store/segment/quarantine.h"
#include "tests/unit/follow_kit.h"

Test(follow_segments, reads_a_segment_that_is_removed_to_its_end) {
    const struct store_follow_event *events;
    size_t count;
    begin();
    add_events(5000);
    start();
    cr_assert_eq(store_follow_events(follow, &events, &count), STORE_DONE);
    received = (int)count;
    rotate();
    add_events(10);
    remove_segment(0);
    follow_all();
    cr_assert_eq(received, sent);
    cr_assert_eq(missing, 0);
    end();
}

Test(follow_segments, counts_the_rows_of_segments_that_went) {
    begin();
    add_events(10);
    start();
    follow_all();
    rotate();
    add_events(20);
    rotate();
    add_events(30);
    rotate();
    remove_segment(1);
    remove_segment(1);
    cr_assert_eq(store_follow_refresh(follow), STORE_DONE);
    read_events();
    cr_assert(store_follow_is_finished(follow));
    received = sent;
    add_events(5);
    follow_all();
    cr_assert_eq(missing, 50);
    cr_assert_eq(received, sent);
    end();
}

Test(follow_segments, counts_the_rest_of_its_own_segment_in_another_life) {
    begin();
    add_events(10);
    start();
    follow_all();
    add_events(20);
    rotate();
    remove_segment(0);
    received = sent;
    add_events(5);
    open_follower();
    must_seek();
    cr_assert_eq(missing, 20);
    cr_assert_eq(place.segment, 1);
    follow_all();
    cr_assert_eq(received, sent);
    end();
}

Test(follow_segments, that_is_new_begins_with_the_oldest_segment_there_is) {
    begin();
    add_events(10);
    rotate();
    remove_segment(0);
    add_events(20);
    start();
    received = 10;
    follow_all();
    cr_assert_eq(received, sent);
    cr_assert_eq(missing, 0);
    end();
}

Test(follow_segments, waits_for_a_store_that_is_not_there) {
    begin();
    add_events(10);
    start();
    follow_all();
    char link[PATH_MAX], target[PATH_MAX] = "";
    snprintf(link, sizeof(link), "%s", kit.path);
    cr_assert_gt(readlink(link, target, sizeof(target) - 1), 0);
    cr_assert_eq(unlink(link), 0);
    cr_assert_eq(store_follow_refresh(follow), STORE_NOT_FOUND);
    cr_assert_eq(symlink(target, link), 0);
    add_events(10);
    follow_all();
    cr_assert_eq(received, sent);
    end();
}

Test(follow_segments, goes_on_in_the_segment_that_takes_the_place_of_a_broken_one) {
    static char garbage[4096];
    char segment[PATH_MAX], aside[PATH_MAX];
    bool vanished;
    begin();
    add_events(10);
    rotate();
    add_events(10);
    start();
    follow_all();
    snprintf(segment, sizeof(segment), "%s", store_file(kit.store));
    store_close(kit.store);
    FILE *file = fopen(segment, "r+");
    cr_assert_eq(fwrite(garbage, 1, sizeof(garbage), file), sizeof(garbage));
    fclose(file);
    cr_assert_eq(store_quarantine(segment, kit.path, 1000000000, aside, sizeof(aside)), 0);
    kit.options.aside = aside;
    cr_assert_eq(store_rotation_open(&kit.store, kit.path, &kit.options, STORE_OPEN_FRESH,
                                     &vanished, kit.error, sizeof(kit.error)),
                 STORE_DONE, "%s", kit.error);
    kit.options.aside = NULL;
    add_events(5);
    open_follower();
    must_seek();
    cr_assert_eq(missing, 0);
    follow_all();
    cr_assert_eq(received, sent);
    end();
}
