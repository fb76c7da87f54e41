// SPDX-License-Identifier: Apache-2.0
//
// Sessions, open ranges, and what is left of a daemon that was killed.
#include "tests/unit/store_kit.h"

#define SESSION "7f0c1111-2222-3333-4444-555566667777"

static struct store_source session_source(int64_t id, const char *session_id) {
    struct store_source source = kit_source(id);
    source.kind = STORE_SOURCE_SESSION;
    source.session_id = session_id;
    source.name = "build.nvtxt";
    source.has_peer = true;
    source.peer_uid = 1000;
    return source;
}

static struct nvtxt_open_range open_range(uint64_t seq, int64_t start, const char *text) {
    return (struct nvtxt_open_range){.seq = seq,
                                     .type = NVTXT_EVENT_PUSH_POP,
                                     .pid = PID,
                                     .tid = TID,
                                     .start = start,
                                     .text = nvtxt_slice_of(text),
                                     .excerpt = NVTXT_SLICE("RangePush, 5"),
                                     .line = 3,
                                     .column = 1};
}

static struct store_batch_source *add_session(struct kit *kit, int64_t id, uint64_t line,
                                              const char *state) {
    struct store_source source = session_source(id, SESSION);
    struct store_batch_source *share = store_batch_source(kit->batch, &source);
    cr_assert_not_null(share);
    cr_assert_eq(store_batch_session(share, line, nvtxt_slice_of(state)), 0);
    return share;
}

static int load(struct kit *kit, struct store_session *session) {
    return store_session_load(kit->store, SESSION, 1000, false, 0, session);
}

Test(sessions, does_not_know_an_id_that_was_never_seen) {
    struct kit kit;
    struct store_session session;
    kit_open(&kit);
    cr_assert_eq(load(&kit, &session), STORE_NOT_FOUND);
    store_session_deinit(&session);
    kit_close(&kit);
}

Test(sessions, gives_back_line_state_counters_and_name) {
    struct kit kit;
    struct store_session session;
    struct nvtxt_counters counters = {.lines = 10,
                                      .events = 4,
                                      .warnings = 1,
                                      .errors = 2,
                                      .has_time = true,
                                      .first_ns = 5,
                                      .last_ns = 9};
    kit_open(&kit);
    struct store_batch_source *share = add_session(&kit, 3, 10, "{\"a\":1}");
    cr_assert_eq(store_batch_progress(share, &counters, NVTXT_SLICE("shown")), 0);
    kit_commit(&kit);
    cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    cr_assert_eq(load(&kit, &session), STORE_DONE);
    cr_assert_not(session.ended);
    cr_assert_eq(session.source_id, 3);
    cr_assert_eq(session.uid, 1000);
    cr_assert_eq(session.line, 10);
    cr_assert_eq(session.opened_ns, 500);
    cr_assert_str_eq(session.name, "build.nvtxt");
    cr_assert_str_eq(session.state, "{\"a\":1}");
    cr_assert_eq(session.counters.lines, 10);
    cr_assert_eq(session.counters.events, 4);
    cr_assert_eq(session.counters.warnings, 1);
    cr_assert_eq(session.counters.errors, 2);
    cr_assert(session.counters.has_time);
    cr_assert_eq(session.counters.first_ns, 5);
    cr_assert_eq(session.counters.last_ns, 9);
    cr_assert_eq(session.range_count, 0);
    store_session_deinit(&session);
    kit_close(&kit);
}

Test(sessions, keeps_the_last_line_and_an_unchanged_state) {
    struct kit kit;
    struct store_session session;
    kit_open(&kit);
    add_session(&kit, 3, 10, "first");
    kit_commit(&kit);
    struct store_source source = session_source(3, SESSION);
    struct store_batch_source *share = store_batch_source(kit.batch, &source);
    cr_assert_eq(store_batch_session(share, 20, (struct nvtxt_slice){0}), 0);
    kit_commit(&kit);
    cr_assert_eq(load(&kit, &session), STORE_DONE);
    cr_assert_eq(session.line, 20);
    cr_assert_str_eq(session.state, "first");
    store_session_deinit(&session);
    add_session(&kit, 3, 30, "second");
    kit_commit(&kit);
    cr_assert_eq(load(&kit, &session), STORE_DONE);
    cr_assert_eq(session.line, 30);
    cr_assert_str_eq(session.state, "second");
    store_session_deinit(&session);
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_SESSIONS", "1");
    kit_close(&kit);
}

Test(sessions, gives_back_open_ranges_in_order_with_all_they_have) {
    struct kit kit;
    struct store_session session;
    kit_open(&kit);
    struct store_batch_source *share = add_session(&kit, 3, 10, "{}");
    struct nvtxt_open_range range = open_range(2, 50, "inner");
    range.depth = 1;
    range.domain = NVTXT_SLICE("a domain");
    range.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_DOUBLE, {.real = 0.5}};
    cr_assert_eq(store_batch_open_range(share, &range), 0);
    range = open_range(1, 40, "");
    range.type = NVTXT_EVENT_START_END;
    range.range_id = -77;
    range.category = 0xFFFFFFFF;
    range.color = 0xFF00FF00;
    range.column = 12;
    range.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_INT64, {.int64 = -1}};
    cr_assert_eq(store_batch_open_range(share, &range), 0);
    kit_commit(&kit);
    cr_assert_eq(load(&kit, &session), STORE_DONE);
    cr_assert_eq(session.range_count, 2);
    const struct nvtxt_open_range *first = &session.ranges[0];
    const struct nvtxt_open_range *second = &session.ranges[1];
    cr_assert_eq(first->seq, 1);
    cr_assert_eq(first->type, NVTXT_EVENT_START_END);
    cr_assert_eq(first->range_id, -77);
    cr_assert_eq(first->category, 0xFFFFFFFF);
    cr_assert_eq(first->color, 0xFF00FF00);
    cr_assert_eq(first->column, 12);
    cr_assert_eq(first->text.len, 0);
    cr_assert_eq(first->domain.len, 0);
    cr_assert_eq(first->payload.kind, NVTXT_PAYLOAD_INT64);
    cr_assert_eq(first->payload.int64, -1);
    cr_assert_eq(second->seq, 2);
    cr_assert_eq(second->type, NVTXT_EVENT_PUSH_POP);
    cr_assert_eq(second->pid, PID);
    cr_assert_eq(second->tid, TID);
    cr_assert_eq(second->depth, 1);
    cr_assert_eq(second->start, 50);
    cr_assert_eq(second->line, 3);
    cr_assert(nvtxt_slice_equal(second->text, NVTXT_SLICE("inner")));
    cr_assert(nvtxt_slice_equal(second->domain, NVTXT_SLICE("a domain")));
    cr_assert(nvtxt_slice_equal(second->excerpt, NVTXT_SLICE("RangePush, 5")));
    cr_assert_eq(second->payload.kind, NVTXT_PAYLOAD_DOUBLE);
    cr_assert_eq(second->payload.real, 0.5);
    store_session_deinit(&session);
    assert_rows(&kit,
                "SELECT kind, depth, rangeId, start, text, domainId FROM NVTXT_OPEN_RANGES "
                "ORDER BY start",
                "60|NULL|-77|40||0 59|1|NULL|50|inner|1");
    kit_close(&kit);
}

Test(sessions, gives_back_payloads_of_every_kind_and_the_json_of_an_open_range) {
    struct kit kit;
    struct store_session session;
    kit_open(&kit);
    struct store_batch_source *share = add_session(&kit, 3, 10, "{}");
    for (int kind = NVTXT_PAYLOAD_NONE; kind <= NVTXT_PAYLOAD_FLOAT; kind++) {
        struct nvtxt_open_range range = open_range((uint64_t)kind + 1, 50, "r");
        bool is_real = kind == NVTXT_PAYLOAD_DOUBLE || kind == NVTXT_PAYLOAD_FLOAT;
        range.payload.kind = (enum nvtxt_payload_kind)kind;
        range.payload.int64 = -7;
        if (is_real) {
            range.payload.real = 0.5;
        }
        range.json = kind % 2 ? NVTXT_SLICE("{\"a\":[1]}") : (struct nvtxt_slice){0};
        cr_assert_eq(store_batch_open_range(share, &range), 0);
    }
    kit_commit(&kit);
    cr_assert_eq(load(&kit, &session), STORE_DONE);
    cr_assert_eq(session.range_count, NVTXT_PAYLOAD_FLOAT + 1);
    for (int kind = NVTXT_PAYLOAD_NONE; kind <= NVTXT_PAYLOAD_FLOAT; kind++) {
        const struct nvtxt_open_range *range = &session.ranges[kind];
        cr_assert_eq(range->payload.kind, (enum nvtxt_payload_kind)kind);
        if (kind == NVTXT_PAYLOAD_DOUBLE || kind == NVTXT_PAYLOAD_FLOAT) {
            cr_assert_eq(range->payload.real, 0.5);
        } else if (kind != NVTXT_PAYLOAD_NONE) {
            cr_assert_eq(range->payload.int64, -7);
        }
        cr_assert(nvtxt_slice_equal(range->json, kind % 2 ? NVTXT_SLICE("{\"a\":[1]}")
                                                          : (struct nvtxt_slice){"", 0}));
    }
    store_session_deinit(&session);
    assert_rows(&kit,
                "SELECT int64Value, doubleValue, uint64Value, uint32Value, int32Value, floatValue, "
                "count(jsonText) FROM NVTXT_OPEN_RANGES WHERE seq = 4",
                "NULL|NULL|-7|NULL|NULL|NULL|1");
    kit_close(&kit);
}

Test(sessions, forgets_an_open_range_when_its_event_comes) {
    struct kit kit;
    kit_open(&kit);
    struct store_batch_source *share = add_session(&kit, 3, 10, "{}");
    for (uint64_t seq = 1; seq <= 3; seq++) {
        struct nvtxt_open_range range = open_range(seq, 5, "r");
        cr_assert_eq(store_batch_open_range(share, &range), 0);
    }
    kit_commit(&kit);
    share = add_session(&kit, 3, 11, "{}");
    struct nvtxt_sink sink;
    store_batch_sink(share, &sink);
    struct nvtxt_event event = kit_range(5, 9, "r");
    event.open_seq = 2;
    cr_assert_eq(sink.on_event(sink.context, &event), 0);
    struct nvtxt_open_range range = open_range(4, 6, "opened and closed in one batch");
    cr_assert_eq(store_batch_open_range(share, &range), 0);
    event.open_seq = 4;
    cr_assert_eq(sink.on_event(sink.context, &event), 0);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT seq FROM NVTXT_OPEN_RANGES", "1 3");
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "2");
    kit_close(&kit);
}

Test(sessions, touches_only_the_open_ranges_of_its_own_source) {
    struct kit kit;
    kit_open(&kit);
    for (int64_t id = 1; id <= 2; id++) {
        struct store_source source = kit_source(id);
        struct nvtxt_open_range range = open_range(1, 5, "r");
        cr_assert_eq(store_batch_open_range(store_batch_source(kit.batch, &source), &range), 0);
    }
    kit_commit(&kit);
    struct nvtxt_event event = kit_range(5, 9, "r");
    event.open_seq = 1;
    kit_add(&kit, 2, &event);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT sourceId, seq FROM NVTXT_OPEN_RANGES", "1|1");
    kit_close(&kit);
}

Test(sessions, knows_an_ended_session_with_its_figures) {
    struct kit kit;
    struct store_session session;
    struct nvtxt_counters counters = {.lines = 12, .events = 4};
    kit_open(&kit);
    struct store_batch_source *share = add_session(&kit, 3, 10, "{}");
    struct nvtxt_open_range range = open_range(1, 5, "r");
    cr_assert_eq(store_batch_open_range(share, &range), 0);
    kit_commit(&kit);
    share = add_session(&kit, 3, 12, "{}");
    cr_assert_eq(store_batch_progress(share, &counters, NVTXT_SLICE("")), 0);
    cr_assert_eq(store_batch_end_source(share, "end", 800), 0);
    kit_commit(&kit);
    cr_assert_eq(load(&kit, &session), STORE_DONE);
    cr_assert(session.ended);
    cr_assert_eq(session.line, 12);
    cr_assert_eq(session.counters.events, 4);
    cr_assert_eq(session.uid, 1000);
    cr_assert_null(session.state);
    cr_assert_eq(session.range_count, 0);
    store_session_deinit(&session);
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_SESSIONS", "0");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_OPEN_RANGES", "0");
    assert_rows(&kit, "SELECT ended, closedNs FROM NVTXT_SOURCES", "end|800");
    kit_close(&kit);
}

Test(sessions, gives_the_diagnostics_of_lines_that_were_not_acked) {
    struct kit kit;
    struct store_session session;
    kit_open(&kit);
    struct nvtxt_sink sink;
    store_batch_sink(add_session(&kit, 3, 40, "{}"), &sink);
    for (uint64_t line = 40; line >= 10; line -= 10) { // stored in another order than asked for
        struct nvtxt_diag diag = {.code = NVTXT_DIAG_BAD_COLOR, .line = line, .column = 2};
        snprintf(diag.message, sizeof(diag.message), "line %d", (int)line);
        cr_assert_eq(sink.on_diag(sink.context, &diag), 0);
    }
    kit_commit(&kit);
    cr_assert_eq(store_session_load(kit.store, SESSION, 1000, true, 20, &session), STORE_DONE);
    cr_assert_eq(session.diag_count, 2);
    cr_assert_eq(session.diags[0].line, 30);
    cr_assert_eq(session.diags[0].column, 2);
    cr_assert_str_eq(session.diags[0].severity, "warning");
    cr_assert_str_eq(session.diags[0].stage, "loading");
    cr_assert_str_eq(session.diags[0].code, "bad-color");
    cr_assert_str_eq(session.diags[0].message, "line 30");
    cr_assert_eq(session.diags[1].line, 40);
    store_session_deinit(&session);
    cr_assert_eq(load(&kit, &session), STORE_DONE);
    cr_assert_eq(session.diag_count, 0);
    store_session_deinit(&session);
    kit_close(&kit);
}

Test(sessions, stores_a_loss_with_its_share_or_not_at_all) {
    struct kit kit;
    kit_open(&kit);
    for (int turn = 0; turn < 2; turn++) {
        struct store_batch_source *share = add_session(&kit, 3, 10, "{}");
        cr_assert_eq(store_batch_source_loss(share, 5, "full", 7), 0);
        if (turn == 0) {
            store_batch_discard(share); // its client sends the line again
        }
    }
    kit_commit(&kit);
    assert_rows(&kit, "SELECT sourceId, uid, reason, count FROM NVTXT_LOSSES", "3|1000|full|7");
    cr_assert_eq(store_loss_count(kit.store), 1);
    kit_close(&kit);
}

Test(sessions, finds_the_session_that_was_not_seen_for_the_longest_time) {
    struct kit kit;
    char id[64];
    int64_t uid;
    kit_open(&kit);
    add_session(&kit, 1, 1, "{}");
    struct store_source source = session_source(2, "other");
    cr_assert_eq(store_batch_session(store_batch_source(kit.batch, &source), 1, NVTXT_SLICE("{}")),
                 0);
    kit_commit(&kit);
    kit_exec(&kit, "UPDATE NVTXT_SESSIONS SET seenNs = iif(sessionId = 'other', 100, 200)");
    // A row without an open session is in nobody's way.
    kit_exec(&kit, "INSERT INTO NVTXT_SESSIONS (sessionId, sourceId, seenNs) VALUES ('x', 99, 1)");
    struct store_session_place at = {0};
    cr_assert_eq(store_session_expired(kit.store, 100, &at, id, sizeof(id), &uid), STORE_NOT_FOUND);
    cr_assert_eq(at.row, 0);
    cr_assert_eq(store_session_expired(kit.store, 150, &at, id, sizeof(id), &uid), STORE_DONE);
    cr_assert_str_eq(id, "other");
    cr_assert_eq(store_session_expired(kit.store, 150, &at, id, sizeof(id), &uid), STORE_NOT_FOUND);
    cr_assert_eq(store_session_expired(kit.store, 300, &at, id, sizeof(id), &uid), STORE_DONE);
    cr_assert_str_eq(id, SESSION);
    // Those that were seen at the same time have an order, too.
    kit_exec(&kit, "UPDATE NVTXT_SESSIONS SET seenNs = 100 WHERE sourceId IN (1, 2)");
    at = (struct store_session_place){0};
    cr_assert_eq(store_session_expired(kit.store, 300, &at, id, sizeof(id), &uid), STORE_DONE);
    cr_assert_str_eq(id, SESSION);
    cr_assert_eq(store_session_expired(kit.store, 300, &at, id, sizeof(id), &uid), STORE_DONE);
    cr_assert_str_eq(id, "other");
    cr_assert_eq(store_session_expired(kit.store, 300, &at, id, sizeof(id), &uid), STORE_NOT_FOUND);
    kit_close(&kit);
}

static uint64_t line_of(struct kit *kit, int64_t uid) {
    struct store_session session;
    int r = store_session_load(kit->store, SESSION, uid, false, 0, &session);
    cr_assert(r == STORE_DONE || r == STORE_NOT_FOUND);
    uint64_t line = r == STORE_DONE ? session.line : 0;
    store_session_deinit(&session);
    return line;
}

Test(sessions, of_two_users_are_two_under_one_id) {
    struct kit kit;
    char id[64];
    int64_t uid;
    kit_open(&kit);
    add_session(&kit, 1, 10, "{}");
    struct store_source source = session_source(2, SESSION);
    source.peer_uid = 2000;
    struct store_batch_source *share = store_batch_source(kit.batch, &source);
    cr_assert_eq(store_batch_session(share, 20, NVTXT_SLICE("{}")), 0);
    kit_commit(&kit);
    cr_assert_eq(line_of(&kit, 1000), 10);
    cr_assert_eq(line_of(&kit, 2000), 20);
    cr_assert_eq(line_of(&kit, 3000), 0);
    kit_exec(&kit, "UPDATE NVTXT_SESSIONS SET seenNs = iif(uid = 2000, 100, 200)");
    struct store_session_place at = {0};
    cr_assert_eq(store_session_expired(kit.store, 150, &at, id, sizeof(id), &uid), STORE_DONE);
    cr_assert_eq(uid, 2000);
    share = store_batch_source(kit.batch, &source);
    cr_assert_eq(store_batch_end_source(share, "end", 1000), 0);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT uid, line FROM NVTXT_SESSIONS", "1000|10");
    kit_close(&kit);
}

Test(sessions, without_a_user_are_those_of_their_source) {
    struct kit kit;
    kit_open(&kit);
    add_session(&kit, 1, 10, "{}");
    kit_commit(&kit);
    kit_exec(&kit, "UPDATE NVTXT_SESSIONS SET uid = NULL");
    cr_assert_eq(line_of(&kit, 1000), 10);
    cr_assert_eq(line_of(&kit, 2000), 0);
    add_session(&kit, 1, 11, "{}"); // it goes on
    kit_commit(&kit);
    assert_rows(&kit, "SELECT uid, line FROM NVTXT_SESSIONS", "1000|11");
    kit_exec(&kit, "UPDATE NVTXT_SESSIONS SET uid = NULL; UPDATE NVTXT_SOURCES SET peerUid = NULL");
    cr_assert_eq(line_of(&kit, 2000), 11, "nobody knows whose it is");
    kit_close(&kit);
}

static void add_part(struct kit *kit, uint64_t line, uint64_t part, const char *state) {
    struct store_batch_source *share = add_session(kit, 1, line, "head");
    cr_assert_eq(store_batch_state(share, part, nvtxt_slice_of(state)), 0);
}

static const char *parts_of(struct kit *kit) {
    static char text[256];
    struct store_session session;
    cr_assert_eq(load(kit, &session), STORE_DONE);
    text[0] = '\0';
    for (size_t i = 0; i < session.part_count; i++) {
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", session.parts[i].data);
    }
    store_session_deinit(&session);
    return text;
}

Test(sessions, keep_parts_until_a_whole_one_takes_their_place) {
    struct kit kit;
    kit_open(&kit);
    add_part(&kit, 1, 1, "whole");
    kit_commit(&kit);
    for (uint64_t i = 2; i <= 11; i++) {
        add_part(&kit, i, i, i == 11 ? "last" : "change");
        kit_commit(&kit);
    }
    cr_assert_str_eq(parts_of(&kit), "whole change change change change change change change "
                                     "change change last ");
    add_session(&kit, 1, 12, "head"); // nothing has changed
    kit_commit(&kit);
    assert_rows(&kit, "SELECT count(*), max(part) FROM NVTXT_STATE", "11|11");
    add_part(&kit, 13, 1, "folded");
    add_part(&kit, 13, 2, "and more"); // both in one batch
    kit_commit(&kit);
    cr_assert_str_eq(parts_of(&kit), "folded and more ");
    add_part(&kit, 14, 1, "never");
    store_batch_discard(add_session(&kit, 1, 14, "head"));
    kit_commit(&kit);
    cr_assert_str_eq(parts_of(&kit), "folded and more ");
    cr_assert_eq(store_batch_end_source(add_session(&kit, 1, 15, "head"), "end", 5), 0);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_STATE", "0");
    kit_close(&kit);
}

Test(sessions, writes_state_and_events_together_or_not_at_all) {
    struct kit kit;
    struct store_session session;
    kit_open(&kit);
    add_session(&kit, 3, 10, "before");
    kit_commit(&kit);
    struct store_batch_source *share = add_session(&kit, 3, 20, "after");
    struct nvtxt_open_range range = open_range(1, 5, "r");
    cr_assert_eq(store_batch_open_range(share, &range), 0);
    cr_assert_eq(store_begin(kit.store), STORE_DONE);
    cr_assert_eq(store_write(kit.store, kit.batch), STORE_DONE);
    store_rollback(kit.store);
    cr_assert_eq(load(&kit, &session), STORE_DONE);
    cr_assert_eq(session.line, 10);
    cr_assert_str_eq(session.state, "before");
    cr_assert_eq(session.range_count, 0);
    store_session_deinit(&session);
    kit_close(&kit);
}

// ---- After a killed daemon --------------------------------------------------------------------

Test(sessions, closes_plain_sources_of_a_killed_daemon_and_stores_their_open_ranges) {
    struct kit kit;
    struct nvtxt_counters counters = {
        .lines = 9, .events = 1, .has_time = true, .first_ns = 10, .last_ns = 60};
    kit_open(&kit);
    struct store_source source = kit_source(1);
    struct store_batch_source *share = store_batch_source(kit.batch, &source);
    cr_assert_eq(store_batch_progress(share, &counters, NVTXT_SLICE("shown")), 0);
    for (uint64_t seq = 1; seq <= 2; seq++) {
        struct nvtxt_open_range range = open_range(seq, 40 + (int64_t)seq * 20, "open");
        range.domain = NVTXT_SLICE("shown");
        range.json = NVTXT_SLICE("{}");
        range.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_INT32, {.int64 = -1}};
        range.line = seq;
        cr_assert_eq(store_batch_open_range(share, &range), 0);
    }
    add_session(&kit, 2, 5, "{}");
    source = kit_source(3);
    share = store_batch_source(kit.batch, &source);
    cr_assert_eq(store_batch_end_source(share, "closed", 7), 0);
    kit_commit(&kit);

    cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    cr_assert_eq(store_recover(kit.store, 1000), STORE_DONE, "%s", store_error(kit.store));
    assert_rows(&kit,
                "SELECT id, ended, closedNs, displayName, lines, events, warnings, firstNs, lastNs "
                "FROM NVTXT_SOURCES",
                "1|lost|1000|shown|9|3|2|10|80 2|NULL|NULL|NULL|0|0|0|NULL|NULL "
                "3|closed|7|NULL|0|0|0|NULL|NULL");
    assert_rows(&kit,
                "SELECT start, end, text, globalTid, domainId, int32Value, jsonText FROM "
                "NVTX_EVENTS JOIN NVTXT_UNCLOSED ON eventRow = NVTX_EVENTS.rowid",
                "60|80|open|30937191184|1|-1|{} 80|80|open|30937191184|1|-1|{}");
    assert_rows(&kit,
                "SELECT sourceId, line, \"column\", severity, code, excerpt FROM NVTXT_DIAGNOSTICS",
                "1|1|1|warning|never-closed|RangePush, 5 1|2|1|warning|never-closed|RangePush, 5");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_OPEN_RANGES", "0");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_SESSIONS", "1");

    cr_assert_eq(store_recover(kit.store, 2000), STORE_DONE); // nothing is left to do
    assert_rows(&kit, "SELECT closedNs FROM NVTXT_SOURCES WHERE id = 1", "1000");
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59", "2");
    kit_close(&kit);
}

Test(sessions, closes_any_number_of_lost_sources) {
    struct kit kit;
    kit_open(&kit);
    for (int64_t id = 1; id <= 350; id++) {
        struct store_source source = kit_source(id);
        struct nvtxt_open_range range = open_range(1, id, "r");
        cr_assert_eq(store_batch_open_range(store_batch_source(kit.batch, &source), &range), 0);
    }
    kit_commit(&kit);
    cr_assert_eq(store_recover(kit.store, 1000), STORE_DONE);
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_SOURCES WHERE ended = 'lost'", "350");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_UNCLOSED", "350");
    kit_close(&kit);
}

Test(sessions, closes_a_session_that_has_no_state_to_resume) {
    struct kit kit;
    kit_open(&kit);
    struct store_source source = session_source(1, SESSION);
    store_batch_source(kit.batch, &source);
    kit_commit(&kit);
    cr_assert_eq(store_recover(kit.store, 1000), STORE_DONE);
    assert_rows(&kit, "SELECT ended FROM NVTXT_SOURCES", "lost");
    kit_close(&kit);
}

Test(sessions, answers_no_question_by_a_scan) {
    struct kit kit;
    kit_open(&kit);
    static const char *const queries[] = {
        "SELECT id FROM NVTXT_SOURCES WHERE sessionId = 'x'",
        "SELECT sessionId FROM NVTXT_SESSIONS WHERE seenNs < 5 ORDER BY seenNs LIMIT 1",
        "SELECT line FROM NVTXT_DIAGNOSTICS WHERE sourceId = 1 AND line > 5",
        "SELECT seq FROM NVTXT_OPEN_RANGES WHERE sourceId = 1 ORDER BY seq",
    };
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        char sql[256];
        snprintf(sql, sizeof(sql), "EXPLAIN QUERY PLAN %s", queries[i]);
        const char *plan = kit_text(&kit, sql);
        cr_assert_null(strstr(plan, "SCAN"), "%s", plan);
        cr_assert_null(strstr(plan, "TEMP B-TREE"), "%s", plan);
    }
    const char *plan = kit_text(
        &kit, "EXPLAIN QUERY PLAN SELECT id FROM NVTXT_SOURCES s WHERE closedNs IS NULL AND "
              "(kind <> 'session' OR NOT EXISTS (SELECT 1 FROM NVTXT_SESSIONS n WHERE n.sourceId "
              "= s.id)) LIMIT 5");
    cr_assert_not_null(strstr(plan, "NVTXT_SOURCES_OPEN"), "%s", plan);
    kit_close(&kit);
}
