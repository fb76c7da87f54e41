// SPDX-License-Identifier: Apache-2.0
//
// A follower: every row once and in order, whatever happens to the segments between two calls; what
// changed of the small tables; and places of other stores, which are found out.
#include "store/follow/follow.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>

#include "store/rotation.h"
#include "store/segment/quarantine.h"
#include "store/segment/segments.h"
#include "tests/unit/store_kit.h"

static struct kit kit;
static struct store_follow *follow;
static struct store_place place; // what a caller keeps
static int64_t missing;          // rows of gaps
static int sent;                 // events that were committed

// ---- A store that is written --------------------------------------------------------------------

static void open_store(void) {
    bool vanished;
    cr_assert_eq(store_rotation_open(&kit.store, kit.path, &kit.options, STORE_OPEN_ACTIVE,
                                     &vanished, kit.error, sizeof(kit.error)),
                 STORE_DONE, "%s", kit.error);
}

static void begin(void) {
    kit_folder(&kit);
    kit.options = (struct store_options){.name = kit.path};
    open_store();
    follow = NULL;
    place = (struct store_place){0};
    missing = 0;
    sent = 0;
}

static void end(void) {
    char command[128];
    store_follow_close(follow);
    store_batch_free(kit.batch);
    store_close(kit.store);
    snprintf(command, sizeof(command), "rm -r '%s'", kit.folder);
    cr_assert_eq(system(command), 0);
}

static void add_events(int count) {
    for (int i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof(text), "event %d", sent);
        struct nvtxt_event event = kit_mark(1000 + sent++, text);
        kit_add(&kit, 1, &event);
    }
    kit_commit(&kit);
}

static void leave(const char *segment) {
    char path[PATH_MAX];
    struct store *next = NULL;
    snprintf(path, sizeof(path), "%s", segment);
    cr_assert_eq(
        store_rotation_next(&next, kit.store, kit.path, &kit.options, kit.error, sizeof(kit.error)),
        STORE_DONE, "%s", kit.error);
    store_leave(kit.store);
    cr_assert_eq(store_rotation_leave(path), STORE_DONE);
    kit.store = next;
}

static void rotate(void) {
    leave(store_file(kit.store));
}

static void remove_segment(size_t index) {
    struct store_segments list;
    cr_assert_eq(store_segments_list(kit.path, &list), 0);
    cr_assert_lt(index, list.count);
    cr_assert_eq(store_segments_remove(list.rows[index].path), 0);
    store_segments_deinit(&list);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// ---- A caller that follows ----------------------------------------------------------------------

static void open_follower(void) {
    char error[PATH_MAX + 256];
    store_follow_close(follow);
    cr_assert_eq(store_follow_open(&follow, kit.path, error, sizeof(error)), STORE_DONE, "%s",
                 error);
}

static int seek(void) {
    struct store_gap gap;
    int result = store_follow_seek(follow, &place, &gap);
    missing += gap.count;
    return result;
}

static void must_seek(void) {
    int result = seek();
    cr_assert_eq(result, STORE_DONE, "%d: %s", result, store_follow_error(follow));
}

// What happens between two calls.
static void (*interrupt)(void);
static int calls, interrupted_at;
static bool reads_ahead; // between any two calls, before what happens there

static void read_ahead(void) {
    struct store_place before, after;
    store_follow_place(follow, &before);
    store_follow_read_ahead(follow);
    store_follow_place(follow, &after);
    cr_assert_eq(memcmp(&before, &after, sizeof(before)), 0);
}

static void step(void) {
    if (reads_ahead) {
        read_ahead();
    }
    if (interrupt && ++calls == interrupted_at) {
        interrupt();
    }
}

static int received; // events, which must be in order

static void check_event(const struct store_follow_event *event) {
    char text[32];
    snprintf(text, sizeof(text), "event %d", received);
    cr_assert_eq(nvtxt_slice_equal(event->event.text, nvtxt_slice_of(text)), 1, "%.*s, not %s",
                 (int)event->event.text.len, event->event.text.data, text);
    cr_assert_eq(event->event.start, 1000 + received);
    cr_assert_eq(event->source_id, 1);
    cr_assert_gt(event->batch, 0);
    cr_assert_gt(event->committed_ns, 1000000000);
    received++;
}

static void read_events(void) {
    const struct store_follow_event *events;
    size_t count;
    int result;
    step();
    while ((result = store_follow_events(follow, &events, &count)) == STORE_DONE) {
        cr_assert_leq(count, STORE_FOLLOW_ROWS);
        for (size_t i = 0; i < count; i++) {
            check_event(&events[i]);
        }
        step();
    }
    cr_assert_eq(result, STORE_NOT_FOUND, "%s", store_follow_error(follow));
}

// A round as nvtxt-ship makes it. True when there may be more at once.
static bool round_of(void) {
    struct store_gap gap;
    step();
    cr_assert_eq(store_follow_refresh(follow), STORE_DONE, "%s", store_follow_error(follow));
    read_events();
    store_follow_place(follow, &place);
    step();
    if (!store_follow_is_finished(follow)) {
        return false;
    }
    step();
    int result = store_follow_next(follow, &gap);
    cr_assert(result == STORE_DONE || result == STORE_NOT_FOUND, "%s", store_follow_error(follow));
    missing += gap.count;
    store_follow_place(follow, &place);
    return result == STORE_DONE;
}

static void follow_all(void) {
    while (round_of()) {
    }
}

static void start(void) {
    received = 0;
    calls = interrupted_at = 0;
    interrupt = NULL;
    open_follower();
    must_seek();
}

// ---- Order --------------------------------------------------------------------------------------

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

static void write_and_rotate(void) {
    add_events(3);
    rotate();
    add_events(2);
}

static void rotate_between_any_two_calls(void) {
    for (int at = 1; at < 60; at++) {
        begin();
        add_events(4);
        rotate();
        add_events(2100);
        start();
        interrupt = write_and_rotate;
        interrupted_at = at;
        follow_all();
        bool was_interrupted = calls >= at;
        follow_all();
        cr_assert_eq(received, sent, "interrupted at call %d", at);
        cr_assert_eq(missing, 0);
        end();
        if (!was_interrupted) {
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

// ---- Segments that go ---------------------------------------------------------------------------

Test(follow, reads_a_segment_that_is_removed_to_its_end) {
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

Test(follow, counts_the_rows_of_segments_that_went) {
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

Test(follow, counts_the_rest_of_its_own_segment_in_another_life) {
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

Test(follow, that_is_new_begins_with_the_oldest_segment_there_is) {
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

Test(follow, waits_for_a_store_that_is_not_there) {
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

// ---- Whose place it is --------------------------------------------------------------------------

Test(follow, finds_out_a_store_that_has_another_batch) {
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

Test(follow, finds_out_a_store_that_began_its_next_segment_too_early) {
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

Test(follow, goes_on_in_the_segment_that_takes_the_place_of_a_broken_one) {
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

// ---- Plain files --------------------------------------------------------------------------------

static void begin_plain(void) {
    kit_open(&kit);
    follow = NULL;
    place = (struct store_place){0};
    missing = 0;
    sent = 0;
}

Test(follow, reads_a_plain_file_as_segment_0_and_goes_on_when_it_becomes_the_first) {
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

Test(follow, notices_that_a_plain_file_was_replaced) {
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

Test(follow, notices_that_another_store_has_segments_with_the_same_numbers) {
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

Test(follow, goes_on_when_a_store_that_nobody_had_open_is_written) {
    begin();
    add_events(10);
    char wal[PATH_MAX + 8], shm[PATH_MAX + 8];
    snprintf(wal, sizeof(wal), "%s-wal", store_file(kit.store));
    snprintf(shm, sizeof(shm), "%s-shm", store_file(kit.store));
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

Test(follow, says_what_it_cannot_read) {
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

// ---- All columns --------------------------------------------------------------------------------

Test(follow, hands_out_every_column_of_an_event) {
    const struct store_follow_event *events;
    size_t count;
    begin();
    struct nvtxt_event event = kit_range(5, 9, "range \t\\N \xff");
    event.payload = (struct nvtxt_payload){.kind = NVTXT_PAYLOAD_UINT64, .int64 = -1};
    event.json = nvtxt_slice_of("{\"a\":1}");
    event.category = 7;
    event.color = 0xFF00FF00;
    event.unclosed = true;
    struct store_source source = kit_source(4);
    struct nvtxt_sink sink = kit_sink(&kit, &source);
    cr_assert_eq(sink.on_event(sink.context, &event), 0);
    event = kit_mark(6, "mark");
    kit_add(&kit, 3, &event);
    kit_commit(&kit);
    rotate();
    event = kit_range(10, 11, "second");
    kit_add(&kit, 5, &event);
    kit_commit(&kit);
    start();
    cr_assert_eq(store_follow_events(follow, &events, &count), STORE_DONE);
    cr_assert_eq(count, 2);
    cr_assert_eq(events[0].event.type, NVTXT_EVENT_START_END);
    cr_assert_eq(events[0].event.payload.kind, NVTXT_PAYLOAD_UINT64);
    cr_assert_eq(events[0].event.payload.int64, -1);
    cr_assert_eq(nvtxt_slice_equal(events[0].event.json, nvtxt_slice_of("{\"a\":1}")), 1);
    cr_assert_eq(nvtxt_slice_equal(events[0].event.text, nvtxt_slice_of("range \t\\N \xff")), 1);
    cr_assert_eq(events[0].event.category, 7);
    cr_assert_eq(events[0].event.color, 0xFF00FF00);
    cr_assert_eq(events[0].event.row, 1);
    cr_assert_eq(events[0].range_id, 1);
    cr_assert_eq(events[0].source_id, 4);
    cr_assert(events[0].unclosed);
    cr_assert_eq(events[0].committed_ns, events[1].committed_ns);
    cr_assert_eq(events[1].source_id, 3);
    cr_assert_eq(events[1].range_id, 0);
    cr_assert_null(events[1].event.json.data);
    cr_assert_not(events[1].unclosed);
    cr_assert_eq(store_follow_refresh(follow), STORE_DONE);
    cr_assert_eq(store_follow_events(follow, &events, &count), STORE_NOT_FOUND);
    struct store_gap gap;
    cr_assert_eq(store_follow_next(follow, &gap), STORE_DONE);
    cr_assert_eq(store_follow_events(follow, &events, &count), STORE_DONE);
    cr_assert_eq(events[0].range_id, kit_int(&kit, "SELECT rangeId FROM NVTX_EVENTS WHERE "
                                                   "eventType = 60"));
    cr_assert_gt(events[0].range_id, 2);
    end();
}

Test(follow, hands_out_diagnostics_and_losses_once) {
    const struct store_follow_diagnostic *diagnostics;
    const struct store_follow_loss *losses;
    size_t count;
    begin();
    kit_exec(&kit, "INSERT INTO NVTXT_DIAGNOSTICS VALUES (1, 2, 3, 'error', 'parse', 'code', "
                   "'message', 'exc' || char(0) || 'erpt', 4), (NULL, NULL, NULL, NULL, NULL, "
                   "NULL, NULL, NULL, NULL)");
    kit_exec(&kit, "INSERT INTO NVTXT_LOSSES VALUES (5, 1, 1000, 77, 'quota', 9)");
    start();
    cr_assert_eq(store_follow_diagnostics(follow, &diagnostics, &count), STORE_DONE);
    cr_assert_eq(count, 2);
    cr_assert_eq(diagnostics[0].line.value, 2);
    cr_assert_eq(diagnostics[0].column.value, 3);
    cr_assert_eq(diagnostics[0].at_ns.value, 4);
    cr_assert_eq(diagnostics[0].excerpt.len, 8);
    cr_assert_eq(nvtxt_slice_equal(diagnostics[0].code, nvtxt_slice_of("code")), 1);
    cr_assert_eq(diagnostics[1].row, 2);
    cr_assert_not(diagnostics[1].source_id.is_set);
    cr_assert_null(diagnostics[1].message.data);
    cr_assert_eq(store_follow_diagnostics(follow, &diagnostics, &count), STORE_NOT_FOUND);
    cr_assert_eq(store_follow_losses(follow, &losses, &count), STORE_DONE);
    cr_assert_eq(count, 1);
    cr_assert_eq(losses[0].count, 9);
    cr_assert_eq(losses[0].uid.value, 1000);
    cr_assert_eq(nvtxt_slice_equal(losses[0].reason, nvtxt_slice_of("quota")), 1);
    cr_assert_eq(store_follow_losses(follow, &losses, &count), STORE_NOT_FOUND);
    store_follow_place(follow, &place);
    cr_assert_eq(place.diagnostic_row, 2);
    cr_assert_eq(place.loss_row, 1);
    kit_exec(&kit, "INSERT INTO NVTXT_LOSSES SELECT * FROM NVTXT_LOSSES");
    must_seek();
    cr_assert_eq(store_follow_losses(follow, &losses, &count), STORE_DONE);
    cr_assert_eq(count, 1);
    cr_assert_eq(losses[0].row, 2);
    end();
}

// ---- Rows that change ---------------------------------------------------------------------------

static size_t count_sources(enum store_follow_what what) {
    const struct store_follow_source *rows;
    size_t count, all = 0;
    int result;
    while ((result = store_follow_sources(follow, what, &rows, &count)) == STORE_DONE) {
        all += count;
    }
    cr_assert_eq(result, STORE_NOT_FOUND, "%s", store_follow_error(follow));
    return all;
}

Test(follow, hands_out_sources_that_are_new_or_changed) {
    begin();
    kit_exec(&kit, "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
                   "INSERT INTO NVTXT_SOURCES (id, kind, name) SELECT i, 'plain', 'n' || i FROM n");
    start();
    cr_assert_eq(count_sources(STORE_FOLLOW_ADDED), 5000);
    cr_assert_eq(count_sources(STORE_FOLLOW_ADDED), 0);
    cr_assert_eq(count_sources(STORE_FOLLOW_CHANGED), 0);
    kit_exec(&kit, "UPDATE NVTXT_SOURCES SET lines = 7 WHERE id % 100 = 0");
    kit_exec(&kit, "INSERT INTO NVTXT_SOURCES (id) VALUES (5001)");
    cr_assert_eq(count_sources(STORE_FOLLOW_ADDED), 1);
    cr_assert_eq(count_sources(STORE_FOLLOW_CHANGED), 50);
    cr_assert_eq(count_sources(STORE_FOLLOW_CHANGED), 0);
    must_seek();
    cr_assert_eq(count_sources(STORE_FOLLOW_CHANGED), 5001);
    end();
}

static struct store_follow_category category;

static size_t count_categories(enum store_follow_what what) {
    const struct store_follow_category *rows;
    static char text[64];
    size_t count, all = 0;
    int result;
    while ((result = store_follow_categories(follow, what, &rows, &count)) == STORE_DONE) {
        all += count;
        if (count > 0) {
            category = rows[count - 1];
            snprintf(text, sizeof(text), "%.*s", (int)category.name.len, category.name.data);
            category.name = nvtxt_slice_of(text);
        }
    }
    cr_assert_eq(result, STORE_NOT_FOUND, "%s", store_follow_error(follow));
    return all;
}

static size_t count_names(int (*next)(struct store_follow *follow, enum store_follow_what what,
                                      const struct store_follow_name **rows, size_t *count)) {
    const struct store_follow_name *rows;
    size_t count, all = 0;
    while (next(follow, STORE_FOLLOW_CHANGED, &rows, &count) == STORE_DONE) {
        all += count;
    }
    return all;
}

static void name_category(uint32_t id, const char *text) {
    struct store_source source = kit_source(1);
    struct nvtxt_name name = {.kind = NVTXT_NAME_CATEGORY,
                              .category = id,
                              .at_pid = PID,
                              .at_tid = TID,
                              .at = 1,
                              .text = nvtxt_slice_of(text)};
    kit_add_name(&kit, &source, &name);
    kit_commit(&kit);
}

Test(follow, hands_out_names_again_when_they_change) {
    begin();
    add_events(1);
    name_category(7, "one");
    start();
    cr_assert_eq(count_categories(STORE_FOLLOW_ADDED), 1);
    cr_assert_eq(category.category, 7);
    cr_assert_eq(category.pid, PID);
    cr_assert_eq(nvtxt_slice_equal(category.name, nvtxt_slice_of("one")), 1);
    cr_assert_eq(count_names(store_follow_processes), 1);
    cr_assert_eq(count_names(store_follow_threads), 1);
    name_category(7, "two");
    cr_assert_eq(count_categories(STORE_FOLLOW_ADDED), 0);
    cr_assert_eq(count_categories(STORE_FOLLOW_CHANGED), 1);
    cr_assert_eq(nvtxt_slice_equal(category.name, nvtxt_slice_of("two")), 1);
    name_category(7, "one");
    cr_assert_eq(count_categories(STORE_FOLLOW_CHANGED), 1);
    follow_all();
    name_category(8, "new");
    add_events(1);
    follow_all();
    cr_assert_eq(count_categories(STORE_FOLLOW_ADDED), 1);
    cr_assert_eq(category.category, 8);
    cr_assert_eq(count_names(store_follow_processes), 0);
    kit_exec(&kit, "UPDATE PROCESSES SET name = 'x'");
    cr_assert_eq(count_names(store_follow_processes), 1);
    rotate();
    follow_all();
    cr_assert_eq(count_names(store_follow_processes), 1); // of the next segment
    end();
}

// "came went" of one look at the open ranges; "all" before it when all came anew.
static const char *look_at_open(void) {
    static char text[64];
    struct store_follow_open open;
    size_t came = 0, went = 0;
    bool all = false;
    int result;
    while ((result = store_follow_open_ranges(follow, &open)) == STORE_DONE) {
        came += open.came_count;
        went += open.went_count;
        all = all || open.all;
    }
    cr_assert_eq(result, STORE_NOT_FOUND, "%s", store_follow_error(follow));
    snprintf(text, sizeof(text), "%s%zu %zu", all ? "all " : "", came, went);
    return text;
}

#define OPEN "INSERT INTO NVTXT_OPEN_RANGES (sourceId, seq, start, text) "

Test(follow, says_which_open_ranges_came_and_went) {
    begin();
    kit_exec(&kit, OPEN "VALUES (1, 1, 10, 'a'), (1, 2, 20, 'b'), (2, 1, 5, 'c')");
    start();
    cr_assert_str_eq(look_at_open(), "all 3 0");
    cr_assert_str_eq(look_at_open(), "0 0");
    kit_exec(&kit, "DELETE FROM NVTXT_OPEN_RANGES WHERE text = 'a'");
    kit_exec(&kit, OPEN "VALUES (1, 3, 30, 'd'), (0, 1, 30, 'e')");
    cr_assert_str_eq(look_at_open(), "2 1");
    kit_exec(&kit, "DELETE FROM NVTXT_OPEN_RANGES");
    cr_assert_str_eq(look_at_open(), "0 4");
    must_seek();
    cr_assert_str_eq(look_at_open(), "all 0 0");
    kit_exec(&kit, "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) " OPEN
                   "SELECT 1, i, i, 't' FROM n");
    cr_assert_str_eq(look_at_open(), "10000 0");
    kit_exec(&kit, "DELETE FROM NVTXT_OPEN_RANGES WHERE seq <= 10");
    cr_assert_str_eq(look_at_open(), "10 10");
    end();
}

// ---- Where to begin and to end ------------------------------------------------------------------

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

// ---- Waiting ------------------------------------------------------------------------------------

static void must_watch(void) {
    int fd;
    cr_assert_eq(store_follow_watch(follow, &fd), 0);
    cr_assert_geq(fd, 0);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    cr_assert_eq(poll(&ready, 1, 0), 0, "a new watch is quiet");
    cr_assert_not(store_follow_changed(follow));
}

Test(follow, wakes_for_its_store_alone) {
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
