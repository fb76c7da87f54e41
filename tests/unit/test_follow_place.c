// SPDX-License-Identifier: Apache-2.0
//
// Whose place it is: a follower finds out a store that is not the one of its place, and another
// file under the same name. It goes on in a plain file that becomes a segment, and in a file that
// nobody had open.
#include "tests/unit/follow_kit.h"

Test(follow_place, finds_out_a_store_that_has_another_batch) {
    begin();
    add_events(10);
    start();
    follow_all();
    must_seek();
    place.batch_ns++;
    cr_assert_eq(seek(), STORE_FOLLOW_OTHER);
    place.batch_ns--;
    must_seek();
    place.batch++; // not there: a store that was put back
    cr_assert_eq(seek(), STORE_FOLLOW_OTHER);
    place.batch--;
    place.segment++;
    cr_assert_eq(seek(), STORE_FOLLOW_OTHER);
    end();
}

Test(follow_place, finds_out_a_store_that_began_its_next_segment_too_early) {
    begin();
    add_events(10);
    start();
    follow_all();
    rotate();
    add_events(1);
    remove_segment(0);
    struct store_place right = place;
    place.batch_ns = INT64_MAX;
    cr_assert_eq(seek(), STORE_FOLLOW_OTHER);
    place = right;
    place.event_row = 11; // more than the segment had
    cr_assert_eq(seek(), STORE_FOLLOW_OTHER);
    place = right;
    must_seek();
    end();
}

Test(follow_place, reads_a_plain_file_as_segment_0_and_goes_on_when_it_becomes_the_first) {
    struct store_gap gap;
    begin_plain();
    add_events(10);
    start();
    follow_all();
    cr_assert_eq(received, 10);
    cr_assert_eq(place.segment, 0);
    cr_assert_eq(place.event_row, kit_int(&kit, "SELECT max(rowid) FROM NVTX_EVENTS"));
    store_close(kit.store);
    kit.options.name = kit.path;
    open_store();
    add_events(5);
    cr_assert_eq(store_follow_refresh(follow), STORE_DONE);
    read_events();
    store_follow_place(follow, &place);
    cr_assert(store_follow_is_finished(follow));
    cr_assert_eq(store_follow_next(follow, &gap), STORE_FOLLOW_NEW_ID);
    open_follower();
    cr_assert_eq(store_follow_seek(follow, &place, &gap), STORE_DONE, "%s",
                 store_follow_error(follow));
    cr_assert_eq(gap.count, 0);
    follow_all();
    cr_assert_eq(received, sent);
    cr_assert_eq(place.segment, 1);
    end();
}

// What is left of the old one is read first.
static void is_replaced(void) {
    struct store_gap gap;
    cr_assert_eq(store_follow_refresh(follow), STORE_DONE);
    cr_assert_not(store_follow_is_finished(follow));
    read_events();
    cr_assert(store_follow_is_finished(follow));
    cr_assert_eq(store_follow_next(follow, &gap), STORE_FOLLOW_NEW_ID);
}

Test(follow_place, notices_that_a_plain_file_was_replaced) {
    char other[128];
    begin_plain();
    add_events(10);
    start();
    follow_all();
    store_close(kit.store);
    snprintf(other, sizeof(other), "%s/other", kit.folder);
    cr_assert_eq(store_open(&kit.store, other, &kit.options, kit.error, sizeof(kit.error)),
                 STORE_DONE);
    cr_assert_eq(rename(other, kit.path), 0);
    is_replaced();
    end();
}

Test(follow_place, notices_that_another_store_has_segments_with_the_same_numbers) {
    char command[128];
    begin();
    add_events(10);
    start();
    follow_all();
    add_events(10); // is read although the file is gone
    store_close(kit.store);
    snprintf(command, sizeof(command), "rm '%s'/*", kit.folder);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(store_follow_refresh(follow), STORE_NOT_FOUND);
    open_store();
    is_replaced();
    cr_assert_eq(received, 20);
    end();
}

Test(follow_place, goes_on_when_a_store_that_nobody_had_open_is_written) {
    begin();
    add_events(10);
    char wal[PATH_MAX + 8], shm[PATH_MAX + 8];
    snprintf(wal, sizeof(wal), "%s-wal", store_file_path(kit.store));
    snprintf(shm, sizeof(shm), "%s-shm", store_file_path(kit.store));
    store_close(kit.store);
    unlink(wal);
    unlink(shm);
    start();
    follow_all();
    cr_assert_eq(received, 10);
    open_store();
    add_events(10);
    follow_all();
    cr_assert_eq(received, sent);
    end();
}

Test(follow_place, says_what_it_cannot_read) {
    char error[PATH_MAX + 256];
    struct store_follow *none;
    begin();
    cr_assert_lt(store_follow_open(&none, "/nonexistent/store", error, sizeof(error)), 0);
    cr_assert_null(none);
    cr_assert(strstr(error, "/nonexistent/store"));
    kit_exec(&kit, "DELETE FROM META_DATA_EXPORT WHERE name = 'STORE_ID'");
    cr_assert_eq(store_follow_open(&follow, kit.path, error, sizeof(error)), STORE_FOLLOW_NO_ID);
    cr_assert_not_null(follow);
    cr_assert_str_eq(store_follow_id(follow), "");
    end();
}
