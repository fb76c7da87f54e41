// SPDX-License-Identifier: Apache-2.0
//
// What a follower hands out: every column of a row, what changed of the small tables, and which
// open ranges came and went.
#include "tests/unit/follow_kit.h"

// ---- All columns --------------------------------------------------------------------------------

Test(follow_rows, hands_out_every_column_of_an_event) {
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

static int next_rows(enum store_follow_table table, const void *rows, size_t *count) {
    return store_follow_rows(follow, table, STORE_FOLLOW_ADDED, (const void **)rows, count);
}

Test(follow_rows, hands_out_diagnostics_and_losses_once) {
    const struct store_follow_diagnostic *diagnostics;
    const struct store_follow_loss *losses;
    size_t count;
    begin();
    kit_exec(&kit, "INSERT INTO NVTXT_DIAGNOSTICS VALUES (1, 2, 3, 'error', 'parse', 'code', "
                   "'message', 'exc' || char(0) || 'erpt', 4), (NULL, NULL, NULL, NULL, NULL, "
                   "NULL, NULL, NULL, NULL)");
    kit_exec(&kit, "INSERT INTO NVTXT_LOSSES VALUES (5, 1, 1000, 77, 'quota', 9)");
    start();
    cr_assert_eq(next_rows(STORE_FOLLOW_DIAGNOSTICS, &diagnostics, &count), STORE_DONE);
    cr_assert_eq(count, 2);
    cr_assert_eq(diagnostics[0].line.value, 2);
    cr_assert_eq(diagnostics[0].column.value, 3);
    cr_assert_eq(diagnostics[0].at_ns.value, 4);
    cr_assert_eq(diagnostics[0].excerpt.len, 8);
    cr_assert_eq(nvtxt_slice_equal(diagnostics[0].code, nvtxt_slice_of("code")), 1);
    cr_assert_eq(diagnostics[1].row, 2);
    cr_assert_not(diagnostics[1].source_id.is_set);
    cr_assert_null(diagnostics[1].message.data);
    cr_assert_eq(next_rows(STORE_FOLLOW_DIAGNOSTICS, &diagnostics, &count), STORE_NOT_FOUND);
    cr_assert_eq(next_rows(STORE_FOLLOW_LOSSES, &losses, &count), STORE_DONE);
    cr_assert_eq(count, 1);
    cr_assert_eq(losses[0].count, 9);
    cr_assert_eq(losses[0].uid.value, 1000);
    cr_assert_eq(nvtxt_slice_equal(losses[0].reason, nvtxt_slice_of("quota")), 1);
    cr_assert_eq(next_rows(STORE_FOLLOW_LOSSES, &losses, &count), STORE_NOT_FOUND);
    store_follow_place(follow, &place);
    cr_assert_eq(place.diagnostic_row, 2);
    cr_assert_eq(place.loss_row, 1);
    kit_exec(&kit, "INSERT INTO NVTXT_LOSSES SELECT * FROM NVTXT_LOSSES");
    must_seek();
    cr_assert_eq(next_rows(STORE_FOLLOW_LOSSES, &losses, &count), STORE_DONE);
    cr_assert_eq(count, 1);
    cr_assert_eq(losses[0].row, 2);
    end();
}

// ---- Rows that change ---------------------------------------------------------------------------

static struct store_follow_category category; // the last one

static void keep_category(const struct store_follow_category *row) {
    static char text[64];
    category = *row;
    snprintf(text, sizeof(text), "%.*s", (int)row->name.len, row->name.data);
    category.name = nvtxt_slice_of(text);
}

static size_t count_rows(enum store_follow_table table, enum store_follow_what what) {
    const void *rows;
    size_t count, all = 0;
    int r;
    while ((r = store_follow_rows(follow, table, what, &rows, &count)) == STORE_DONE) {
        all += count;
        if (table == STORE_FOLLOW_CATEGORIES && count > 0) {
            keep_category((const struct store_follow_category *)rows + count - 1);
        }
    }
    cr_assert_eq(r, STORE_NOT_FOUND, "%s", store_follow_error(follow));
    return all;
}

Test(follow_rows, hands_out_sources_that_are_new_or_changed) {
    begin();
    kit_exec(&kit, "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
                   "INSERT INTO NVTXT_SOURCES (id, kind, name) SELECT i, 'plain', 'n' || i FROM n");
    start();
    cr_assert_eq(count_rows(STORE_FOLLOW_SOURCES, STORE_FOLLOW_ADDED), 5000);
    cr_assert_eq(count_rows(STORE_FOLLOW_SOURCES, STORE_FOLLOW_ADDED), 0);
    cr_assert_eq(count_rows(STORE_FOLLOW_SOURCES, STORE_FOLLOW_CHANGED), 0);
    kit_exec(&kit, "UPDATE NVTXT_SOURCES SET lines = 7 WHERE id % 100 = 0");
    kit_exec(&kit, "INSERT INTO NVTXT_SOURCES (id) VALUES (5001)");
    cr_assert_eq(count_rows(STORE_FOLLOW_SOURCES, STORE_FOLLOW_ADDED), 1);
    cr_assert_eq(count_rows(STORE_FOLLOW_SOURCES, STORE_FOLLOW_CHANGED), 50);
    cr_assert_eq(count_rows(STORE_FOLLOW_SOURCES, STORE_FOLLOW_CHANGED), 0);
    must_seek();
    cr_assert_eq(count_rows(STORE_FOLLOW_SOURCES, STORE_FOLLOW_CHANGED), 5001);
    end();
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

Test(follow_rows, hands_out_names_again_when_they_change) {
    begin();
    add_events(1);
    name_category(7, "one");
    start();
    cr_assert_eq(count_rows(STORE_FOLLOW_CATEGORIES, STORE_FOLLOW_ADDED), 1);
    cr_assert_eq(category.category, 7);
    cr_assert_eq(category.pid, PID);
    cr_assert_eq(nvtxt_slice_equal(category.name, nvtxt_slice_of("one")), 1);
    cr_assert_eq(count_rows(STORE_FOLLOW_PROCESSES, STORE_FOLLOW_CHANGED), 1);
    cr_assert_eq(count_rows(STORE_FOLLOW_THREADS, STORE_FOLLOW_CHANGED), 1);
    name_category(7, "two");
    cr_assert_eq(count_rows(STORE_FOLLOW_CATEGORIES, STORE_FOLLOW_ADDED), 0);
    cr_assert_eq(count_rows(STORE_FOLLOW_CATEGORIES, STORE_FOLLOW_CHANGED), 1);
    cr_assert_eq(nvtxt_slice_equal(category.name, nvtxt_slice_of("two")), 1);
    name_category(7, "one");
    cr_assert_eq(count_rows(STORE_FOLLOW_CATEGORIES, STORE_FOLLOW_CHANGED), 1);
    follow_all();
    name_category(8, "new");
    add_events(1);
    follow_all();
    cr_assert_eq(count_rows(STORE_FOLLOW_CATEGORIES, STORE_FOLLOW_ADDED), 1);
    cr_assert_eq(category.category, 8);
    cr_assert_eq(count_rows(STORE_FOLLOW_PROCESSES, STORE_FOLLOW_CHANGED), 0);
    kit_exec(&kit, "UPDATE PROCESSES SET name = 'x'");
    cr_assert_eq(count_rows(STORE_FOLLOW_PROCESSES, STORE_FOLLOW_CHANGED), 1);
    rotate();
    follow_all();
    cr_assert_eq(count_rows(STORE_FOLLOW_PROCESSES, STORE_FOLLOW_CHANGED),
                 1); // of the next segment
    end();
}

Test(follow_rows, names_after_the_last_event_are_passed) {
    begin();
    add_events(10);
    start();
    cr_assert_not(store_follow_pass_names(follow), "there are events");
    name_category(7, "one");
    follow_all();
    cr_assert_eq(place.event_row, 10);
    cr_assert(store_follow_pass_names(follow));
    cr_assert_not(store_follow_pass_names(follow));
    store_follow_place(follow, &place);
    cr_assert_eq(place.event_row, 11);
    must_seek();
    rotate();
    add_events(1);
    remove_segment(0);
    must_seek();
    cr_assert_eq(missing, 0);
    follow_all();
    cr_assert_eq(received, sent);
    end();
}

// "came went" of one look at the open ranges; "all" before it when all came anew.
static const char *look_at_open(void) {
    static char text[64];
    struct store_follow_opens open;
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

Test(follow_rows, says_which_open_ranges_came_and_went) {
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
