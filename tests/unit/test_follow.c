// SPDX-License-Identifier: Apache-2.0
//
// A follower: every row once and in order, whatever happens between two calls; where it begins and
// where it ends.
#include <time.h>

#include "tests/unit/follow_kit.h"

Test(follow, hands_out_each_event_once_over_all_segments) {
    begin();
    start();
    follow_all();
    cr_assert_eq(received, 0);
    add_events(10);
    follow_all();
    cr_assert_eq(received, 10);
    follow_all();
    add_events(5000);
    rotate();
    add_events(7);
    rotate();
    rotate();
    add_events(3);
    follow_all();
    cr_assert_eq(received, sent);
    cr_assert_eq(missing, 0);
    cr_assert_eq(place.segment, 4);
    cr_assert_eq(place.base, kit_int(&kit, "SELECT rangeBase FROM NVTXT_SEGMENT"));
    cr_assert_eq(place.event_row, kit_int(&kit, "SELECT max(rowid) FROM NVTX_EVENTS"));
    cr_assert_eq(place.batch, kit_int(&kit, "SELECT max(id) FROM NVTXT_BATCHES"));
    cr_assert_eq(place.batch_ns, kit_int(&kit, "SELECT max(committedNs) FROM NVTXT_BATCHES"));
    end();
}

static int calls, rotated_at;
static bool reads_ahead;

static void rotate_at_one_call(void) {
    if (reads_ahead) {
        read_ahead();
    }
    if (++calls == rotated_at) {
        add_events(3);
        rotate();
        add_events(2);
    }
}

static void rotate_between_any_two_calls(void) {
    for (int at = 1; at < 60; at++) {
        begin();
        add_events(4);
        rotate();
        add_events(2100);
        start();
        calls = 0;
        rotated_at = at;
        between_calls = rotate_at_one_call;
        follow_all();
        bool was_rotated = calls >= at;
        follow_all();
        cr_assert_eq(received, sent, "rotated at call %d", at);
        cr_assert_eq(missing, 0);
        end();
        if (!was_rotated) {
            cr_assert_gt(at, 10);
            return;
        }
    }
    cr_assert_fail("there are more calls");
}

Test(follow, loses_and_doubles_nothing_when_the_store_rotates_between_any_two_calls) {
    rotate_between_any_two_calls();
}

Test(follow, loses_and_doubles_nothing_when_it_reads_ahead) {
    reads_ahead = true;
    rotate_between_any_two_calls();
}

Test(follow, is_not_finished_by_what_it_read_ahead_of_the_link) {
    const struct store_follow_event *events;
    size_t count;
    begin();
    add_events(5);
    start();
    read_ahead();
    add_events(5);
    rotate();
    cr_assert_eq(store_follow_refresh(follow), STORE_DONE);
    cr_assert_eq(store_follow_events(follow, &events, &count), STORE_DONE);
    cr_assert_eq(count, 5);
    cr_assert_not(store_follow_is_finished(follow));
    received = 5;
    follow_all();
    cr_assert_eq(received, 10);
    end();
}

Test(follow, goes_on_after_its_place_in_another_life) {
    begin();
    add_events(3000);
    start();
    for (int i = 0; i < 6; i++) {
        follow_all();
        cr_assert_eq(received, sent);
        add_events(10);
        if (i % 2) {
            rotate();
            add_events(1);
        }
        open_follower();
        must_seek();
    }
    follow_all();
    cr_assert_eq(received, sent);
    end();
}

Test(follow, hands_out_the_same_again_after_a_seek_back) {
    begin();
    add_events(2500);
    start();
    struct store_place before = place;
    follow_all();
    for (int i = 0; i < 2; i++) {
        place = before;
        received = 0;
        must_seek();
        read_ahead();
    }
    follow_all();
    cr_assert_eq(received, sent);
    add_events(1);
    read_ahead();
    place = before;
    received = 0;
    must_seek();
    follow_all();
    cr_assert_eq(received, sent);
    end();
}

Test(follow, leaves_no_transaction_open) {
    begin();
    add_events(5000);
    start();
    const struct store_follow_event *events;
    size_t count;
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(store_follow_events(follow, &events, &count), STORE_DONE);
        cr_assert_gt(count, 0);
        read_ahead();
        cr_assert_str_eq(kit_text(&kit, "PRAGMA wal_checkpoint(TRUNCATE)"), "0|0|0");
        add_events(1);
    }
    end();
}

Test(follow, knows_how_many_rows_are_left) {
    int64_t rows;
    begin();
    add_events(10);
    rotate();
    add_events(20);
    start();
    cr_assert_eq(store_follow_behind(follow, &rows), STORE_DONE);
    cr_assert_eq(rows, 30);
    follow_all();
    cr_assert_eq(store_follow_behind(follow, &rows), STORE_DONE);
    cr_assert_eq(rows, 0);
    add_events(5);
    cr_assert_eq(store_follow_refresh(follow), STORE_DONE);
    cr_assert_eq(store_follow_behind(follow, &rows), STORE_DONE);
    cr_assert_eq(rows, 5);
    end();
}

// ---- Where to begin and to end ------------------------------------------------------------------

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

Test(follow, finds_the_place_of_a_time) {
    begin();
    add_events(10);
    int64_t between = now_ns();
    add_events(10);
    rotate();
    add_events(10);
    start();
    cr_assert_eq(store_follow_find(follow, between, &place), STORE_DONE);
    must_seek();
    received = 10;
    follow_all();
    cr_assert_eq(received, sent);
    cr_assert_eq(store_follow_find(follow, INT64_MAX, &place), STORE_DONE);
    must_seek();
    add_events(3);
    follow_all();
    cr_assert_eq(received, sent);
    cr_assert_eq(store_follow_find(follow, 0, &place), STORE_DONE);
    must_seek();
    received = 0;
    follow_all();
    cr_assert_eq(received, sent);
    cr_assert_eq(missing, 0);
    end();
}

Test(follow, ends_at_what_was_there_when_it_was_told_to) {
    begin();
    add_events(10);
    rotate();
    add_events(3000);
    start();
    cr_assert_eq(store_follow_until_now(follow), STORE_DONE);
    add_events(5);
    rotate();
    add_events(5);
    follow_all();
    cr_assert_eq(received, 3010);
    cr_assert_not(store_follow_is_finished(follow)); // five rows are left in it
    must_seek();
    follow_all();
    cr_assert_eq(received, 3010);
    end();
}
