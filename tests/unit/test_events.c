// SPDX-License-Identifier: Apache-2.0
//
// Events read back after and before a cursor, with filters, over segments.
#include "store/read/older_segments.h"

#include "store/segment/segments.h"
#include "tests/unit/store_kit.h"

static struct kit kit;
static struct store_events events;
static char shown[4096]; // messages of the last answer

static struct store_event_query any(uint64_t segment, int64_t row) {
    return (struct store_event_query){
        .cursor = {segment, row}, .limit = 100, .pid = -1, .category = -1};
}

static const char *ask_at(const char *path, struct store_event_query query) {
    size_t len = 0;
    store_events_deinit(&events);
    cr_assert_eq(store_events_load(kit.store, path, &query, &events), STORE_DONE, "%s",
                 store_error(kit.store));
    shown[0] = '\0';
    for (size_t i = 0; i < events.count && len < sizeof(shown) - 64; i++) {
        len += (size_t)snprintf(shown + len, sizeof(shown) - len, "%s%.*s", i ? " " : "",
                                (int)events.rows[i].message.len, events.rows[i].message.data);
    }
    return shown;
}

static const char *ask(struct store_event_query query) {
    return ask_at(kit.path, query);
}

static void add_marks(int count, const char *prefix) {
    for (int i = 1; i <= count; i++) {
        char text[32];
        snprintf(text, sizeof(text), "%s%d", prefix, i);
        struct nvtxt_event event = kit_mark(1000 + i, text);
        kit_add(&kit, 1, &event);
    }
    kit_commit(&kit);
}

static void end(void) {
    store_events_deinit(&events);
    kit_close(&kit);
}

Test(events, are_read_after_a_cursor_and_before_it) {
    kit_open(&kit);
    add_marks(5, "m");
    cr_assert_str_eq(ask(any(0, 2)), "m3 m4 m5");
    cr_assert(events.next.row == 5 && events.end.row == 5 && !events.more && !events.gone);
    struct store_event_query query = any(0, 0);
    query.limit = 2;
    cr_assert_str_eq(ask(query), "m1 m2");
    cr_assert(events.next.row == 2 && events.more);
    query.cursor = STORE_CURSOR_END;
    cr_assert_str_eq(ask(query), "");
    cr_assert_eq(events.next.row, 5);
    query.backward = true;
    cr_assert_str_eq(ask(query), "m5 m4");
    query.cursor = events.next;
    cr_assert(events.more);
    cr_assert_str_eq(ask(query), "m3 m2");
    query.cursor = events.next;
    cr_assert_str_eq(ask(query), "m1");
    cr_assert(!events.more);
    end();
}

Test(events, of_an_open_transaction_are_not_seen) {
    kit_open(&kit);
    add_marks(2, "m");
    struct nvtxt_event event = kit_mark(9, "later");
    kit_add(&kit, 1, &event);
    cr_assert_eq(store_begin(kit.store), STORE_DONE);
    cr_assert_eq(store_write(kit.store, kit.batch), STORE_DONE);
    cr_assert_str_eq(ask(any(0, 0)), "m1 m2");
    cr_assert_eq(store_commit(kit.store), STORE_DONE);
    cr_assert_str_eq(ask(any(0, 2)), "later");
    end();
}

Test(events, are_chosen_by_what_they_are) {
    kit_open(&kit);
    struct nvtxt_event mark = kit_mark(1, "open door"), range = kit_range(2, 9, "close window"),
                       other = kit_range(3, 4, "other");
    mark.category = 7;
    other.pid = 77;
    kit_add(&kit, 1, &mark);
    kit_add(&kit, 1, &range);
    kit_add(&kit, 1, &other);
    struct store_source source = kit_source(1);
    struct nvtxt_name name = {.kind = NVTXT_NAME_CATEGORY,
                              .category = 7,
                              .text = NVTXT_SLICE("house"),
                              .at = 1,
                              .at_pid = PID,
                              .at_tid = TID};
    kit_add_name(&kit, &source, &name);
    kit_commit(&kit);
    struct store_event_query query = any(0, 0);
    query.pid = 77;
    cr_assert_str_eq(ask(query), "other");
    query = any(0, 0);
    query.category = 7;
    cr_assert_str_eq(ask(query), "open door");
    query = any(0, 0);
    query.category_name = "house";
    cr_assert_str_eq(ask(query), "open door");
    cr_assert_eq(events.rows[0].category_name.len, 5);
    query.category_name = "hous";
    cr_assert_str_eq(ask(query), "");
    query = any(0, 0);
    query.message = "o";
    cr_assert_str_eq(ask(query), "open door close window other");
    query.message = "e w";
    cr_assert_str_eq(ask(query), "close window");
    query.message = "%";
    cr_assert_str_eq(ask(query), "");
    query = any(0, 0);
    query.kind = "range";
    cr_assert_str_eq(ask(query), "close window other");
    query.kind = "mark";
    cr_assert_str_eq(ask(query), "open door");
    query.kind = "start/end";
    query.message = "close";
    cr_assert_str_eq(ask(query), "close window");
    cr_assert(events.rows[0].start_ns == 2 && events.rows[0].duration_ns == 7 &&
              events.rows[0].pid == PID && events.rows[0].tid == TID &&
              events.rows[0].source_id == 1);
    end();
}

static const char *payload_of_first(void) {
    const struct store_event_row *row = &events.rows[0];
    snprintf(shown, sizeof(shown), "%.*s|%.*s|%.*s|%.*s", (int)row->payload.len, row->payload.data,
             (int)row->payload_type.len, row->payload_type.data, (int)row->json.len, row->json.data,
             (int)row->level.len, row->level.data);
    return shown;
}

Test(events, have_payloads_with_their_types_and_json) {
    kit_open(&kit);
    struct nvtxt_event mark = kit_mark(1, "m");
    mark.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_UINT64, {.int64 = -1}};
    mark.json = NVTXT_SLICE("[1]");
    kit_add(&kit, 1, &mark);
    kit_commit(&kit);
    (void)ask(any(0, 0));
    cr_assert_str_eq(payload_of_first(), "18446744073709551615|u64|[1]|");
    kit_exec(&kit, "UPDATE NVTX_EVENTS SET uint64Value = NULL");
    (void)ask(any(0, 0));
    cr_assert_str_eq(payload_of_first(), "[1]||[1]|");
    kit_exec(&kit, "UPDATE NVTX_EVENTS SET int64Value = 3, jsonText = NULL;"
                   "UPDATE NVTXT_SOURCES SET levels = 1");
    (void)ask(any(0, 0));
    cr_assert_str_eq(payload_of_first(), "3|i64||err");
    end();
}

// A segment that was left keeps the view of its version.
Test(events, of_a_segment_of_an_older_version_are_read) {
    kit_open(&kit);
    add_marks(2, "old");
    kit_exec(&kit, "CREATE TABLE rows AS SELECT * FROM NVTXT_TIMELINE; DROP VIEW NVTXT_TIMELINE;"
                   "ALTER TABLE rows DROP COLUMN level; CREATE VIEW NVTXT_TIMELINE AS SELECT * "
                   "FROM rows");
    cr_assert_str_eq(ask(any(0, 0)), "old1 old2");
    cr_assert_str_eq(payload_of_first(), "|||");
    struct store_event_query query = any(0, 2);
    query.backward = true;
    cr_assert_str_eq(ask(query), "old2 old1");
    end();
}

Test(events, are_searched_in_bounded_steps) {
    kit_open(&kit);
    add_marks(STORE_EVENTS_SCANNED + 100, "m");
    struct store_event_query query = any(0, 0);
    query.message = "m10050";
    cr_assert_str_eq(ask(query), "");
    cr_assert(events.more && events.next.row == STORE_EVENTS_SCANNED);
    query.cursor = events.next;
    cr_assert_str_eq(ask(query), "m10050");
    cr_assert(!events.more && events.skipped == 0);
    query = any(0, STORE_EVENTS_SCANNED + 100);
    query.backward = true;
    query.message = "m7";
    query.limit = 1;
    ask(query);
    cr_assert(events.more && events.count == 1);
    end();
}

Test(events, far_back_are_skipped_and_counted) {
    kit_open(&kit);
    add_marks(STORE_EVENTS_LAG + 1, "m");
    struct store_event_query query = any(0, 1);
    query.limit = 1;
    cr_assert_str_eq(ask(query), "m2");
    cr_assert_eq(events.skipped, 0);
    query.cursor.row = 0;
    cr_assert_str_eq(ask(query), "m90002");
    cr_assert_eq(events.skipped, STORE_EVENTS_LAG + 1 - STORE_EVENTS_SCANNED);
    end();
}

Test(events, of_much_text_come_in_parts) {
    static char text[200001];
    memset(text, 'x', sizeof(text) - 1);
    kit_open(&kit);
    for (int i = 0; i < 10; i++) {
        struct nvtxt_event event = kit_mark(i, text);
        kit_add(&kit, 1, &event);
    }
    kit_commit(&kit);
    ask(any(0, 0));
    cr_assert(events.count == 6 && events.more && events.next.row == 6, "%zu", events.count);
    ask(any(0, 6));
    cr_assert(events.count == 4 && !events.more);
    end();
}

Test(events, of_a_store_that_began_anew_are_read_from_its_start) {
    kit_open(&kit);
    add_marks(2, "m");
    cr_assert_str_eq(ask(any(0, 50)), "m1 m2");
    cr_assert(events.gone);
    cr_assert_str_eq(ask(any(9, 1)), "m1 m2");
    cr_assert(events.gone && events.next.segment == 0 && events.next.row == 2);
    end();
}

// Three segments with two events each; the last one is open.
static void make_segments(char *configured, size_t size) {
    kit_folder(&kit);
    snprintf(configured, size, "%s/s.sqlite", kit.folder);
    for (uint64_t number = 1; number <= 3; number++) {
        char prefix[] = {(char)('a' + number - 1), '\0'};
        cr_assert_eq(store_segments_name(configured, INT64_C(1795242240000000000), number, kit.path,
                                         sizeof(kit.path)),
                     0);
        cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
        add_marks(2, prefix);
        cr_assert_eq(store_segments_set_link(configured, kit.path), 0);
    }
}

static void remove_segments(void) {
    char command[128];
    store_events_deinit(&events);
    store_batch_free(kit.batch);
    store_close(kit.store);
    snprintf(command, sizeof(command), "rm -r '%s'", kit.folder);
    cr_assert_eq(system(command), 0);
}

Test(events, go_on_in_the_next_segment) {
    char path[128];
    make_segments(path, sizeof(path));
    cr_assert_str_eq(ask_at(path, any(2, 1)), "b2 c1 c2");
    cr_assert(events.next.segment == 3 && events.next.row == 2 && !events.more && !events.gone);
    cr_assert_str_eq(ask_at(path, any(1, 1)), "a2 b1 b2");
    cr_assert(events.next.segment == 3 && events.next.row == 0 && events.more);
    struct store_event_query query = any(0, 0);
    query.cursor = STORE_CURSOR_END;
    query.backward = true;
    query.limit = 3;
    cr_assert_str_eq(ask_at(path, query), "c2 c1 b2");
    query.cursor = events.next;
    cr_assert_str_eq(ask_at(path, query), "b1 a2 a1");
    cr_assert(!events.more && !events.gone);
    remove_segments();
}

Test(events, of_a_segment_that_was_removed_are_reported_as_gone) {
    char path[128], second[128];
    make_segments(path, sizeof(path));
    store_segments_name(path, INT64_C(1795242240000000000), 2, second, sizeof(second));
    cr_assert_eq(store_segments_remove(second), 0);
    cr_assert_str_eq(ask_at(path, any(2, 1)), "c1 c2");
    cr_assert(events.gone);
    struct store_event_query query = any(2, 1);
    query.backward = true;
    cr_assert_str_eq(ask_at(path, query), "a2 a1");
    remove_segments();
}

Test(events, of_a_segment_that_is_broken_are_passed_over) {
    char path[128], second[128];
    make_segments(path, sizeof(path));
    store_segments_name(path, INT64_C(1795242240000000000), 2, second, sizeof(second));
    cr_assert_eq(truncate(second, 5000), 0);
    cr_assert_str_eq(ask_at(path, any(2, 0)), "c1 c2");
    cr_assert(events.gone);
    remove_segments();
}
