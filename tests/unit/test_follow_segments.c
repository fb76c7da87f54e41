// SPDX-License-Identifier: Apache-2.0
//
// A follower and its segments: those that are removed before they were read, and one that takes the
// place of a broken one; and a store that is not there for a while.
#include "store/segment/segments.h"
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
    snprintf(segment, sizeof(segment), "%s", store_file_path(kit.store));
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

// ---- Segments of two stores ---------------------------------------------------------------------

#define OTHER_ID "00000000-0000-4000-8000-000000000000"

static struct store_segments segments;

// Three segments, the last with an identity of its own.
static void begin_two_stores(void) {
    begin();
    for (int i = 0; i < 3; i++) {
        add_events(10);
        if (i < 2) {
            rotate();
        }
    }
    store_close(kit.store);
    kit.store = NULL;
    kit_exec(&kit, "UPDATE META_DATA_EXPORT SET value = '" OTHER_ID "' WHERE name = 'STORE_ID'");
    cr_assert_eq(store_segments_list(kit.path, &segments), 0);
    cr_assert_eq(segments.count, 3);
    open_follower();
    cr_assert_str_eq(store_follow_id(follow), OTHER_ID);
}

static void end_two_stores(void) {
    store_segments_deinit(&segments);
    end();
}

static sqlite3 *lock(size_t index) {
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(segments.rows[index].path, &db), SQLITE_OK);
    cr_assert_eq(
        sqlite3_exec(db, "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE", NULL, NULL, NULL),
        SQLITE_OK, "%s", sqlite3_errmsg(db));
    return db;
}

static void must_find_first(uint64_t segment) {
    struct store_place first;
    char other[STORE_ID_SIZE];
    cr_assert_eq(store_follow_first(follow, 0, &first, other), STORE_DONE, "%s",
                 store_follow_error(follow));
    cr_assert_eq(first.segment, segment);
    cr_assert_eq(*other != '\0', segment > 0);
}

Test(follow_segments, wait_for_one_that_is_locked_before_they_say_whose_they_are) {
    struct store_place first;
    char other[STORE_ID_SIZE];
    begin_two_stores();
    must_find_first(3);
    for (size_t i = 1; i < 3; i++) {
        sqlite3 *db = lock(i);
        cr_assert_eq(store_follow_first(follow, 0, &first, other), STORE_BUSY);
        cr_assert_eq(*other, '\0');
        cr_assert_eq(first.segment, 0);
        cr_assert_not_null(strstr(store_follow_error(follow), "is locked by another process"));
        sqlite3_close(db);
        must_find_first(3);
    }
    end_two_stores();
}

Test(follow_segments, do_not_wait_for_one_that_is_broken) {
    begin_two_stores();
    cr_assert_eq(truncate(segments.rows[1].path, 0), 0);
    must_find_first(3);
    cr_assert_eq(store_segments_remove(segments.rows[1].path), 0);
    must_find_first(3);
    end_two_stores();
}

Test(follow_segments, say_how_often_their_identity_changed) {
    static const char middle[] = "22222222-2222-4222-8222-222222222222";
    static const struct {
        uint64_t first;
        const char *other; // NULL: that of the first segment
    } changes[] = {{3, middle}, {2, NULL}, {0, ""}};
    char newest[sizeof(kit.path)], id[STORE_ID_SIZE], other[STORE_ID_SIZE];
    struct store_place first;
    begin_two_stores();
    strcpy(newest, kit.path);
    snprintf(kit.path, sizeof(kit.path), "%s", segments.rows[0].path);
    snprintf(id, sizeof(id), "%s",
             kit_text(&kit, "SELECT value FROM META_DATA_EXPORT WHERE name "
                            "= 'STORE_ID'"));
    snprintf(kit.path, sizeof(kit.path), "%s", segments.rows[1].path);
    kit_exec(&kit, "UPDATE META_DATA_EXPORT SET value = '22222222-2222-4222-8222-222222222222' "
                   "WHERE name = 'STORE_ID'");
    strcpy(kit.path, newest);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(store_follow_first(follow, i, &first, other), STORE_DONE);
        cr_assert_eq(first.segment, changes[i].first);
        cr_assert_str_eq(other, changes[i].other ? changes[i].other : id);
    }
    end_two_stores();
}

// The one that was followed has gone, and what is left is of another store.
Test(follow_segments, wait_for_one_that_is_locked_before_they_say_that_the_store_is_new) {
    begin_two_stores();
    store_follow_take(follow, "11111111-1111-4111-8111-111111111111");
    place = (struct store_place){.segment = 1, .batch = 1, .batch_ns = 1, .event_row = 10};
    cr_assert_eq(store_segments_remove(segments.rows[0].path), 0);
    sqlite3 *db = lock(2);
    cr_assert_eq(seek(), STORE_BUSY);
    sqlite3_close(db);
    cr_assert_eq(seek(), STORE_FOLLOW_NEW_ID);
    end_two_stores();
}
