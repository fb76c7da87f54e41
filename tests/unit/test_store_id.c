// SPDX-License-Identifier: Apache-2.0
//
// STORE_ID: who gets one, who keeps one, and where the next segment's numbers begin when the one
// before it is lost.
#include "store/segment/store_id.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "store/copy/snapshot.h"
#include "store/rotation.h"
#include "store/segment/segments.h"
#include "tests/unit/store_kit.h"

static struct kit kit;
static char first_id[64];

#define STORE_ID "SELECT value FROM META_DATA_EXPORT WHERE name = 'STORE_ID'"

static const char *id_now(void) {
    const char *id = kit_text(&kit, STORE_ID);
    cr_assert_eq(strlen(id), 36, "%s", id);
    cr_assert_eq(id[14], '4');
    cr_assert(strchr("89ab", id[19]));
    return id;
}

static void remember(void) {
    snprintf(first_id, sizeof(first_id), "%s", id_now());
}

static bool is_same(void) {
    return strcmp(first_id, id_now()) == 0;
}

Test(store_id, each_new_store_has_another_one_and_keeps_it) {
    kit_open(&kit);
    remember();
    cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    cr_assert(is_same());
    kit_close(&kit);
    kit_open(&kit);
    cr_assert_not(is_same());
    kit_close(&kit);
}

Test(store_id, a_store_without_one_gets_one_and_a_wrong_one_counts_as_none) {
    static const char *const wrong[] = {"''", "NULL", "'x'",
                                        "'00000000-0000-4000-8000-00000000000G'",
                                        "'00000000-0000-4000-8000-0000000000000'"};
    kit_open(&kit);
    remember();
    kit_exec(&kit, "DELETE FROM META_DATA_EXPORT WHERE name = 'STORE_ID'");
    cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    cr_assert_not(is_same());
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char sql[128];
        snprintf(sql, sizeof(sql), "UPDATE META_DATA_EXPORT SET value = %s WHERE name = 'STORE_ID'",
                 wrong[i]);
        kit_exec(&kit, sql);
        cr_assert_eq(kit_reopen(&kit), STORE_DONE);
        id_now();
    }
    kit_close(&kit);
}

Test(store_id, a_store_whose_table_was_dropped_is_opened_and_rotated_without) {
    struct store *next;
    bool vanished;
    kit_folder(&kit);
    cr_assert_eq(store_rotation_open(&kit.store, kit.path, &kit.options, STORE_OPEN_ACTIVE,
                                     &vanished, kit.error, sizeof(kit.error)),
                 STORE_DONE, "%s", kit.error);
    kit_exec(&kit, "DROP TABLE META_DATA_EXPORT");
    cr_assert_eq(
        store_rotation_next(&next, kit.store, kit.path, &kit.options, kit.error, sizeof(kit.error)),
        STORE_DONE, "%s", kit.error);
    store_leave(kit.store);
    store_close(next);
    kit.store = NULL;
    id_now(); // the next segment has the table again
    char command[128];
    snprintf(command, sizeof(command), "rm -r '%s'", kit.folder);
    cr_assert_eq(system(command), 0);
    store_batch_free(kit.batch);
}

Test(store_id, what_is_to_be_another_store_gets_a_new_one) {
    kit_open(&kit);
    remember();
    kit.options.new_id = true;
    cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    cr_assert_not(is_same());
    cr_assert_eq(kit_int(&kit, "SELECT count(*) FROM META_DATA_EXPORT WHERE name = 'STORE_ID'"), 1);
    kit_close(&kit);
}

// ---- Segments -----------------------------------------------------------------------------------

static void begin(void) {
    bool vanished;
    kit_folder(&kit);
    kit.options = (struct store_options){.name = kit.path};
    cr_assert_eq(store_rotation_open(&kit.store, kit.path, &kit.options, STORE_OPEN_ACTIVE,
                                     &vanished, kit.error, sizeof(kit.error)),
                 STORE_DONE, "%s", kit.error);
    remember();
}

static void end(void) {
    char command[128];
    store_batch_free(kit.batch);
    store_close(kit.store);
    snprintf(command, sizeof(command), "rm -r '%s'", kit.folder);
    cr_assert_eq(system(command), 0);
}

static void add_events(int count) {
    for (int i = 0; i < count; i++) {
        struct nvtxt_event event = kit_mark(1000 + i, "event");
        kit_add(&kit, 1, &event);
    }
    kit_commit(&kit);
}

static void rotate(void) {
    struct store *next = NULL;
    cr_assert_eq(
        store_rotation_next(&next, kit.store, kit.path, &kit.options, kit.error, sizeof(kit.error)),
        STORE_DONE, "%s", kit.error);
    store_leave(kit.store);
    kit.store = next;
}

// Writes over `bytes` bytes of the active segment from `at` on, as a broken disk would.
static void damage(off_t at, size_t bytes, char *segment) {
    static char garbage[1 << 16];
    memset(garbage, 0xA5, sizeof(garbage));
    snprintf(segment, PATH_MAX, "%s", store_file_path(kit.store));
    store_close(kit.store);
    kit.store = NULL;
    int fd = open(segment, O_WRONLY);
    cr_assert_geq(fd, 0);
    cr_assert_eq(pwrite(fd, garbage, bytes, at), (ssize_t)bytes);
    close(fd);
}

// What the daemon does with a store that is broken.
static void put_aside(const char *segment) {
    char aside[PATH_MAX];
    bool vanished;
    cr_assert_eq(store_quarantine(segment, kit.path, 1000000000, aside, sizeof(aside)), 0);
    struct store_options options = kit.options;
    options.aside = aside;
    cr_assert_eq(store_rotation_open(&kit.store, kit.path, &options, STORE_OPEN_FRESH, &vanished,
                                     kit.error, sizeof(kit.error)),
                 STORE_DONE, "%s", kit.error);
}

static uint64_t number_now(void) {
    uint64_t number = store_segments_number(store_file_path(kit.store));
    cr_assert_eq(number, (uint64_t)kit_int(&kit, "SELECT number FROM NVTXT_SEGMENT"));
    return number;
}

Test(store_id, goes_from_segment_to_segment_and_into_snapshots) {
    char snapshot[128];
    int64_t bytes;
    begin();
    add_events(10);
    rotate();
    cr_assert(is_same());
    rotate();
    cr_assert(is_same());
    snprintf(snapshot, sizeof(snapshot), "%s/snapshot", kit.folder);
    cr_assert_eq(store_snapshot(store_file_path(kit.store), snapshot, NULL, &bytes, kit.error,
                                sizeof(kit.error)),
                 STORE_DONE, "%s", kit.error);
    strcpy(kit.path, snapshot);
    cr_assert(is_same());
    end();
}

Test(store_id, a_segment_that_was_put_aside_hands_on_its_own_when_it_can_be_read) {
    char segment[PATH_MAX];
    begin();
    add_events(10);
    rotate();
    add_events(5000);
    int64_t rows = kit_int(&kit, "SELECT max(rowid) FROM NVTX_EVENTS");
    damage(4096 * 60, 4096, segment); // one page of rows, far beyond the schema
    put_aside(segment);
    cr_assert(is_same());
    cr_assert_eq(number_now(), 3);
    cr_assert_eq(kit_int(&kit, "SELECT rangeBase FROM NVTXT_SEGMENT"), 10 + rows);
    end();
}

Test(store_id, else_it_is_that_of_the_newest_segment_that_can_be_read) {
    char segment[PATH_MAX];
    begin();
    add_events(10);
    rotate();
    add_events(20);
    rotate();
    add_events(30);
    damage(0, 4096, segment);
    put_aside(segment);
    cr_assert(is_same());
    cr_assert_eq(number_now(), 4); // no place in segment 3 leads into it
    cr_assert_eq(kit_int(&kit, "SELECT rangeBase FROM NVTXT_SEGMENT"), 30);
    cr_assert_eq(store_segments_number(kit_text(&kit, "SELECT previous FROM NVTXT_SEGMENT")), 2);
    damage(0, 4096, segment);
    struct store_segments list;
    cr_assert_eq(store_segments_scan(kit.path, &list), 0);
    cr_assert_eq(list.count, 3);
    cr_assert_eq(truncate(list.rows[1].path, 0), 0); // the newest of the rest is broken, too
    store_segments_deinit(&list);
    put_aside(segment);
    cr_assert(is_same());
    cr_assert_eq(kit_int(&kit, "SELECT rangeBase FROM NVTXT_SEGMENT"), 10);
    end();
}

Test(store_id, when_none_can_be_read_it_is_a_new_store) {
    char segment[PATH_MAX];
    begin();
    add_events(10);
    damage(0, 4096, segment);
    put_aside(segment);
    cr_assert_not(is_same());
    cr_assert_eq(kit_int(&kit, "SELECT rangeBase FROM NVTXT_SEGMENT"), 0);
    end();
}
