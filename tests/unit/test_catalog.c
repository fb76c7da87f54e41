// SPDX-License-Identifier: Apache-2.0
//
// Sources, names, processes, threads, domains, diagnostics, clocks, losses.
#include "tests/unit/store_kit.h"

#define NAME_ROWS(type)                                                                            \
    "SELECT start, end, text, category, globalTid, domainId, value FROM NVTX_EVENTS e JOIN "       \
    "StringIds s ON s.id = e.textId WHERE eventType = " type " ORDER BY e.rowid"

static void add_at(struct kit *kit, int64_t source_id, int64_t at, uint32_t pid, uint32_t tid,
                   const char *domain) {
    struct nvtxt_event event = kit_mark(at, "text");
    event.pid = pid;
    event.tid = tid;
    event.domain = nvtxt_slice_of(domain);
    kit_add(kit, source_id, &event);
}

static void name_it(struct kit *kit, enum nvtxt_name_kind kind, const char *text, uint32_t pid,
                    uint32_t tid) {
    struct store_source source = kit_source(1);
    struct nvtxt_name name = {.kind = kind,
                              .text = nvtxt_slice_of(text),
                              .pid = pid,
                              .tid = tid,
                              .at = 70,
                              .at_pid = PID,
                              .at_tid = TID};
    kit_add_name(kit, &source, &name);
}

static void name_category(struct kit *kit, uint32_t category, const char *text,
                          const char *domain) {
    struct store_source source = kit_source(1);
    struct nvtxt_name name = {.kind = NVTXT_NAME_CATEGORY,
                              .text = nvtxt_slice_of(text),
                              .domain = nvtxt_slice_of(domain),
                              .category = category,
                              .at = 70,
                              .at_pid = PID,
                              .at_tid = TID};
    kit_add_name(kit, &source, &name);
}

Test(catalog, keeps_a_source_row_up_to_date_and_what_never_changes) {
    struct kit kit;
    kit_open(&kit);
    struct store_source source = {.id = 1,
                                  .kind = STORE_SOURCE_SESSION,
                                  .session_id = "7f0c",
                                  .name = "build.nvtxt",
                                  .has_peer = true,
                                  .peer_pid = 10,
                                  .peer_uid = 1000,
                                  .peer_gid = 1001,
                                  .peer_comm = "nvtxt-send",
                                  .levels = true,
                                  .nvtx = true,
                                  .peer_start = 99,
                                  .opened_ns = 500};
    struct nvtxt_counters counters = {.lines = 3, .events = 1, .errors = 1};
    struct store_batch_source *share = store_batch_source(kit.batch, &source);
    cr_assert_eq(store_batch_progress(share, &counters, NVTXT_SLICE("")), 0);
    kit_commit(&kit);
    static const char all[] =
        "SELECT id, kind, sessionId, name, displayName, peerPid, peerUid, peerGid, peerComm, "
        "openedNs, closedNs, ended, lines, events, warnings, errors, firstNs, lastNs, peerStart, "
        "levels, nvtx FROM NVTXT_SOURCES";
    assert_rows(&kit, all,
                "1|session|7f0c|build.nvtxt|NULL|10|1000|1001|nvtxt-send|500|NULL|NULL|3|1|0|1|"
                "NULL|NULL|99|1|1");
    counters = (struct nvtxt_counters){.lines = 9,
                                       .events = 4,
                                       .warnings = 2,
                                       .errors = 1,
                                       .has_time = true,
                                       .first_ns = -7,
                                       .last_ns = 0};
    source.name = "another name";
    share = store_batch_source(kit.batch, &source);
    cr_assert_eq(store_batch_progress(share, &counters, NVTXT_SLICE("shown")), 0);
    cr_assert_eq(store_batch_end_source(share, "end", 900), 0);
    kit_commit(&kit);
    assert_rows(&kit, all,
                "1|session|7f0c|build.nvtxt|shown|10|1000|1001|nvtxt-send|500|900|end|9|4|2|1|"
                "-7|0|99|1|1");
    kit_close(&kit);
}

Test(catalog, leaves_the_peer_empty_when_there_is_none) {
    struct kit kit;
    kit_open(&kit);
    struct store_source source = {.id = 5, .kind = STORE_SOURCE_FILE, .name = "a", .opened_ns = 2};
    store_batch_source(kit.batch, &source);
    source.id = 6;
    store_batch_nvtx(store_batch_source(kit.batch, &source)); // known after its share was made
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT kind, name, peerPid, peerUid, peerComm, lines, ended, levels, nvtx FROM "
                "NVTXT_SOURCES ORDER BY id",
                "file|a|NULL|NULL|NULL|0|NULL|NULL|NULL file|a|NULL|NULL|NULL|0|NULL|NULL|1");
    kit_close(&kit);
}

Test(catalog, has_one_row_per_thread_and_per_process_seen) {
    struct kit kit;
    kit_open(&kit);
    for (int round = 0; round < 3; round++) {
        for (uint32_t tid = 1; tid <= 3; tid++) {
            add_at(&kit, tid, 1, 7, tid, "");
            add_at(&kit, tid, 1, 8, tid, "");
        }
        kit_commit(&kit);
    }
    assert_rows(&kit,
                "SELECT value, globalTid >> 24, globalTid & 0xFFFFFF FROM ThreadNames JOIN "
                "StringIds ON id = nameId ORDER BY globalTid",
                "Thread 1|7|1 Thread 2|7|2 Thread 3|7|3 Thread 1|8|1 Thread 2|8|2 Thread 3|8|3");
    assert_rows(&kit, "SELECT globalPid >> 24, pid, name FROM PROCESSES ORDER BY pid",
                "7|7|Process 7 8|8|Process 8");
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 39", "0");
    kit_close(&kit);
}

Test(catalog, finds_threads_and_processes_again_after_it_was_opened_anew) {
    struct kit kit;
    kit_open(&kit);
    for (int round = 0; round < 3; round++) {
        add_at(&kit, 1, 5, PID, TID, "d");
        name_it(&kit, NVTXT_NAME_THREAD, round == 2 ? "last" : "first", PID, TID);
        name_category(&kit, 3, "cat", "d");
        kit_commit(&kit);
        cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    }
    assert_rows(&kit, "SELECT count(*) FROM ThreadNames", "1");
    assert_rows(&kit, "SELECT count(*) FROM PROCESSES", "1");
    assert_rows(&kit, "SELECT eventType, count(*) FROM NVTX_EVENTS GROUP BY 1",
                "33|1 34|3 39|1 75|1");
    assert_rows(&kit, "SELECT id, name FROM NVTXT_DOMAINS", "1|d");
    kit_close(&kit);
}

Test(catalog, finds_more_threads_again_than_its_cache_holds) {
    struct kit kit;
    kit_open(&kit);
    for (int round = 0; round < 2; round++) {
        for (uint32_t tid = 0; tid < 20000; tid++) {
            add_at(&kit, 1, tid, tid % 100, tid, "");
        }
        kit_commit(&kit);
    }
    assert_rows(&kit, "SELECT count(*), count(DISTINCT globalTid) FROM ThreadNames", "20000|20000");
    assert_rows(&kit, "SELECT count(*) FROM PROCESSES", "100");
    kit_close(&kit);
}

Test(catalog, names_a_process_after_its_peer_or_as_it_says_itself) {
    struct kit kit;
    kit_open(&kit);
    struct store_source source = kit_source(1);
    source.has_peer = true;
    source.peer_pid = 7;
    source.peer_comm = "bash";
    store_batch_source(kit.batch, &source);
    add_at(&kit, 1, 1, 7, 7, "");
    add_at(&kit, 1, 1, 8, 8, "");
    kit_commit(&kit);
    static const char all[] = "SELECT pid, name FROM PROCESSES ORDER BY pid";
    assert_rows(&kit, all, "7|bash 8|Process 8");
    name_it(&kit, NVTXT_NAME_PROCESS, "my program", 7, 0);
    name_it(&kit, NVTXT_NAME_PROCESS, "never seen", 9, 0);
    kit_commit(&kit);
    name_it(&kit, NVTXT_NAME_PROCESS, "renamed", 9, 0);
    add_at(&kit, 1, 1, 9, 9, "");
    kit_commit(&kit);
    assert_rows(&kit, all, "7|my program 8|Process 8 9|renamed");
    kit_close(&kit);
}

Test(catalog, names_a_process_whose_peer_comes_after_its_events) {
    struct kit kit;
    kit_open(&kit);
    add_at(&kit, 1, 1, 7, 7, "");
    add_at(&kit, 1, 1, 8, 8, "");
    name_it(&kit, NVTXT_NAME_PROCESS, "said", 8, 0);
    kit_commit(&kit);
    for (int64_t id = 2; id <= 3; id++) {
        struct store_source source = kit_source(id);
        source.has_peer = true;
        source.peer_pid = id + 5;
        source.peer_comm = "comm";
        store_batch_source(kit.batch, &source);
    }
    kit_commit(&kit);
    assert_rows(&kit, "SELECT pid, name FROM PROCESSES ORDER BY pid", "7|comm 8|said");
    kit_close(&kit);
}

Test(catalog, names_a_thread_and_renames_it_in_place) {
    struct kit kit;
    kit_open(&kit);
    add_at(&kit, 1, 5, PID, TID, "");
    add_at(&kit, 1, 6, PID, 99, "");
    kit_commit(&kit);
    name_it(&kit, NVTXT_NAME_THREAD, "worker", PID, 99);
    name_it(&kit, NVTXT_NAME_THREAD, "unseen", 3, 4);
    kit_commit(&kit);
    name_it(&kit, NVTXT_NAME_THREAD, "renamed", PID, 99);
    kit_commit(&kit);
    assert_rows(&kit, NAME_ROWS("39"),
                "70|70|renamed|0|30937186403|0|renamed 70|70|unseen|0|50331652|0|unseen");
    assert_rows(&kit,
                "SELECT value FROM ThreadNames JOIN StringIds ON id = nameId ORDER BY globalTid",
                "unseen renamed Thread 4880");
    kit_close(&kit);
}

Test(catalog, gives_two_threads_of_one_name_a_string_each) {
    struct kit kit;
    kit_open(&kit);
    struct nvtxt_event event = kit_mark(1, "worker"); // the same text as an event's
    kit_add(&kit, 1, &event);
    name_it(&kit, NVTXT_NAME_THREAD, "worker", PID, 1);
    name_it(&kit, NVTXT_NAME_THREAD, "worker", PID, 2);
    kit_commit(&kit);
    name_it(&kit, NVTXT_NAME_THREAD, "other", PID, 2);
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT value, globalTid & 0xFFFFFF FROM ThreadNames JOIN StringIds ON id = nameId "
                "WHERE globalTid & 0xFFFFFF < 9 ORDER BY 2",
                "worker|1 other|2");
    assert_rows(&kit,
                "SELECT value FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE eventType = 34",
                "worker");
    kit_close(&kit);
}

Test(catalog, names_a_category_once_per_domain_and_renames_it_in_place) {
    struct kit kit;
    kit_open(&kit);
    add_at(&kit, 1, 5, PID, TID, "");
    name_category(&kit, 3, "first", "");
    name_category(&kit, 3, "in d", "d");
    name_category(&kit, 4, "four", "");
    kit_commit(&kit);
    name_category(&kit, 3, "second", "");
    kit_commit(&kit);
    assert_rows(&kit, NAME_ROWS("33"),
                "70|70|second|3|30937191184|0|second 70|70|in d|3|30937191184|1|in d "
                "70|70|four|4|30937191184|0|four");
    kit_close(&kit);
}

Test(catalog, names_a_category_separately_in_each_process) {
    struct kit kit;
    kit_open(&kit);
    struct store_source source = kit_source(1);
    struct nvtxt_name name = {.kind = NVTXT_NAME_CATEGORY, .category = 5, .at = 9};
    for (uint32_t pid = 7; pid <= 9; pid++) {
        struct nvtxt_event event = kit_mark(9, "m");
        event.category = 5;
        event.pid = name.at_pid = pid;
        event.tid = name.at_tid = 1;
        kit_add(&kit, 1, &event);
        name.text = pid == 7 ? NVTXT_SLICE("seven") : NVTXT_SLICE("eight");
        if (pid < 9) {
            kit_add_name(&kit, &source, &name);
        }
    }
    name.pid = 10; // of a process that has no event yet: in its main thread
    name.own_pid = true;
    name.text = NVTXT_SLICE("ten");
    kit_add_name(&kit, &source, &name);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT pid, category FROM NVTXT_TIMELINE", "7|seven 8|eight 9|5");
    assert_rows(&kit,
                "SELECT globalTid >> 24, globalTid & 0xFFFFFF, text FROM NVTX_EVENTS "
                "WHERE eventType = 33",
                "7|1|seven 8|1|eight 10|10|ten");
    assert_rows(&kit, "SELECT count(*) FROM ThreadNames WHERE globalTid = 10 << 24 | 10", "1");
    kit_close(&kit);
}

static void name_resource(struct kit *kit, uint32_t pid, const char *kind, uint64_t handle,
                          const char *text, const char *domain) {
    struct store_source source = kit_source(1);
    struct nvtxt_name name = {.kind = NVTXT_NAME_RESOURCE,
                              .text = nvtxt_slice_of(text),
                              .domain = nvtxt_slice_of(domain),
                              .resource_kind = nvtxt_slice_of(kind),
                              .handle = handle,
                              .pid = pid};
    kit_add_name(kit, &source, &name);
}

static void name_counter(struct kit *kit, int64_t source_id, uint32_t pid, const char *text,
                         const char *json, const char *domain) {
    struct store_source source = kit_source(source_id);
    struct nvtxt_name name = {.kind = NVTXT_NAME_COUNTER,
                              .text = nvtxt_slice_of(text),
                              .domain = nvtxt_slice_of(domain),
                              .json = nvtxt_slice_of(json),
                              .pid = pid};
    kit_add_name(kit, &source, &name);
}

Test(catalog, names_a_resource_once_per_process_domain_kind_and_handle) {
    struct kit kit;
    kit_open(&kit);
    name_resource(&kit, 5, "cuStream", 1, "first", "");
    name_resource(&kit, 5, "cuStream", UINT64_MAX, "largest", "");
    name_resource(&kit, 5, "cuEvent", 1, "of another kind", "");
    name_resource(&kit, 6, "cuStream", 1, "of another process", "");
    name_resource(&kit, 5, "cuStream", 1, "in d", "d");
    kit_commit(&kit);
    name_resource(&kit, 5, "cuStream", 1, "again", "");
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT globalPid >> 24, domainId, kind, handle, name, sourceId "
                "FROM NVTXT_RESOURCES ORDER BY rowid",
                "5|0|cuStream|1|again|1 5|0|cuStream|-1|largest|1 5|0|cuEvent|1|of another kind|1 "
                "6|0|cuStream|1|of another process|1 5|1|cuStream|1|in d|1");
    assert_rows(&kit, "SELECT id, name FROM NVTXT_DOMAINS", "1|d");
    assert_rows(&kit, "SELECT pid FROM PROCESSES", "5 6");
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "0");
    kit_close(&kit);
}

Test(catalog, keeps_one_row_for_a_counter_with_what_was_said_last) {
    struct kit kit;
    kit_open(&kit);
    name_counter(&kit, 1, 5, "loss", "{\"unit\":\"1\",\"description\":\"of the model\"}", "");
    name_counter(&kit, 1, 5, "loss", "{\"unit\":\"ms\"}", "d");
    name_counter(&kit, 1, 6, "loss", "", "");
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT globalPid >> 24, domainId, name, description, unit, json FROM "
                "NVTXT_COUNTERS ORDER BY rowid",
                "5|0|loss|of the model|1|{\"unit\":\"1\",\"description\":\"of the model\"} "
                "5|1|loss|NULL|ms|{\"unit\":\"ms\"} 6|0|loss|NULL|NULL|NULL");
    name_counter(&kit, 2, 5, "loss", "[{\"unit\":\"no member of an object\"}]", "");
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT description, unit, json, sourceId FROM NVTXT_COUNTERS WHERE "
                "globalPid = 5 << 24 AND domainId = 0",
                "NULL|NULL|[{\"unit\":\"no member of an object\"}]|2");
    kit_close(&kit);
}

Test(catalog, takes_only_texts_in_utf8_out_of_the_json_of_a_counter) {
    static const char *const cases[][2] = {
        {"{\"unit\":5,\"description\":[1]}", "NULL|NULL"},
        {"{\"unit\":null,\"description\":\"\"}", "|NULL"},
        {"{\"unit\":\"\\ud800\",\"description\":\"a\\ud83d\\ude00\"}",
         "a\xF0\x9F\x98\x80|\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {" {\"unit\" : \"x\" } ", "NULL|x"},
        {"\"unit\"", "NULL|NULL"},
    };
    struct kit kit;
    kit_open(&kit);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        name_counter(&kit, 1, 5, "c", cases[i][0], "");
        kit_commit(&kit);
        const char *found = kit_text(&kit, "SELECT description, unit FROM NVTXT_COUNTERS");
        cr_assert_str_eq(found, cases[i][1], "%s", cases[i][0]);
    }
    kit_close(&kit);
}

Test(catalog, drops_resources_and_counters_when_another_user_takes_the_process_over) {
    struct kit kit;
    kit_open(&kit);
    for (uint32_t pid = 4; pid <= 6; pid++) {
        name_resource(&kit, pid, "cuStream", 1, "r", "");
        name_counter(&kit, 1, pid, "c", "", "d");
    }
    kit_commit(&kit);
    cr_assert_eq(store_batch_owner(kit.batch, &(struct store_owner_change){.pid = 4, .uid = 1000}),
                 0);
    cr_assert_eq(store_batch_owner(
                     kit.batch, &(struct store_owner_change){.pid = 5, .uid = 1000, .taken = true}),
                 0);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT globalPid >> 24 FROM NVTXT_RESOURCES", "4 6");
    assert_rows(&kit, "SELECT globalPid >> 24 FROM NVTXT_COUNTERS", "4 6");
    kit_close(&kit);
}

Test(catalog, names_a_domain_once_in_each_process_that_uses_it) {
    struct kit kit;
    kit_open(&kit);
    struct store_source source = kit_source(1);
    struct nvtxt_name name = {.kind = NVTXT_NAME_DOMAIN,
                              .text = NVTXT_SLICE("d"),
                              .domain = NVTXT_SLICE("d"),
                              .at = 40,
                              .at_pid = 7,
                              .at_tid = 70};
    add_at(&kit, 1, 40, 7, 70, "");
    kit_add_name(&kit, &source, &name);
    add_at(&kit, 1, 50, 7, 71, "d");
    add_at(&kit, 1, 60, 8, 80, "d");
    add_at(&kit, 1, 61, 8, 81, "d");
    add_at(&kit, 2, 62, 8, 82, "e");
    kit_commit(&kit);
    kit_add_name(&kit, &source, &name);
    add_at(&kit, 2, 63, 9, 90, "d");
    kit_commit(&kit);
    assert_rows(&kit, "SELECT id, name FROM NVTXT_DOMAINS", "1|d 2|e");
    assert_rows(&kit,
                "SELECT start, globalTid >> 24, globalTid & 0xFFFFFF, domainId, text FROM "
                "NVTX_EVENTS WHERE eventType = 75 ORDER BY start",
                "40|7|70|1|d 60|8|80|1|d 62|8|82|2|e 63|9|90|1|d");
    assert_rows(&kit, "SELECT domainId FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY start",
                "0 1 1 1 2 1");
    kit_close(&kit);
}

Test(catalog, names_domains_that_take_turns_on_one_thread) {
    struct kit kit;
    kit_open(&kit);
    for (int64_t i = 0; i < 6; i++) {
        add_at(&kit, 1, i, 7, 70, i % 3 == 0 ? "" : i % 3 == 1 ? "d" : "e");
    }
    kit_commit(&kit);
    assert_rows(&kit, "SELECT start, domainId, text FROM NVTX_EVENTS WHERE eventType = 75",
                "1|1|d 2|2|e");
    kit_close(&kit);
}

Test(catalog, distinguishes_more_domains_than_its_cache_holds) {
    struct kit kit;
    kit_open(&kit);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 10000; i++) {
            char name[16];
            snprintf(name, sizeof(name), "d%d", i);
            add_at(&kit, 1, i, 7, 70, name);
        }
        kit_commit(&kit);
    }
    assert_rows(&kit,
                "SELECT count(*), count(DISTINCT domainId), count(DISTINCT text) FROM NVTX_EVENTS "
                "WHERE eventType = 75",
                "10000|10000|10000");
    kit_close(&kit);
}

Test(catalog, counts_name_rows_nowhere) {
    struct kit kit;
    kit_open(&kit);
    struct store_source source = kit_source(1);
    struct nvtxt_name name = {.kind = NVTXT_NAME_CATEGORY,
                              .text = NVTXT_SLICE("c"),
                              .category = 1,
                              .at = 1,
                              .at_pid = PID,
                              .at_tid = TID};
    kit_add_name(&kit, &source, &name);
    add_at(&kit, 1, 100, PID, TID, "d");
    add_at(&kit, 1, 200, PID, TID, "d");
    kit_commit(&kit);
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "4");
    assert_rows(&kit, "SELECT lastRow - firstRow + 1, minStart, maxEnd, events FROM NVTXT_BATCHES",
                "2|100|200|2");
    assert_rows(&kit, "SELECT startTime, stopTime FROM ANALYSIS_DETAILS", "100|200");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_TIMELINE", "2");
    assert_rows(&kit,
                "SELECT eventType FROM NVTX_EVENTS e JOIN NVTXT_EVENT_SOURCES s ON e.rowid "
                "BETWEEN s.firstRow AND s.lastRow",
                "34 34");
    kit_close(&kit);
}

Test(catalog, writes_names_of_a_source_without_an_event) {
    struct kit kit;
    kit_open(&kit);
    name_category(&kit, 3, "alone", "");
    kit_commit(&kit);
    assert_rows(&kit, NAME_ROWS("33"), "70|70|alone|3|30937191184|0|alone");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_BATCHES", "0");
    kit_close(&kit);
}

Test(catalog, stores_diagnostics_with_their_words) {
    struct kit kit;
    kit_open(&kit);
    struct store_source source = kit_source(4);
    struct nvtxt_sink sink = kit_sink(&kit, &source);
    struct nvtxt_diag diag = {.code = NVTXT_DIAG_UNDEFINED_VARIABLE, .column = 9, .line = 12};
    snprintf(diag.message, sizeof(diag.message), "undefined variable '$Pid'");
    snprintf(diag.excerpt, sizeof(diag.excerpt), "Marker, $Pid");
    cr_assert_eq(sink.on_diag(sink.context, &diag), 0);
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT sourceId, line, \"column\", severity, stage, code, message, excerpt, "
                "atNs > 1600000000000000000 FROM NVTXT_DIAGNOSTICS",
                "4|12|9|error|lexing|undefined-variable|undefined variable '$Pid'|Marker, $Pid|1");
    kit_close(&kit);
}

Test(catalog, stores_clocks_and_losses) {
    struct kit kit;
    kit_open(&kit);
    cr_assert_eq(store_batch_clock(kit.batch, "ClockMonotonic", 1, 2, 3), 0);
    cr_assert_eq(store_batch_clock(kit.batch, "ClockBoottime", 4, 5, 6), 0);
    cr_assert_eq(store_batch_loss(kit.batch, 1, 0, 2, 3, "spool-full", 5), 0);
    cr_assert_eq(store_batch_loss(kit.batch, 1, 8, 2, 3, "spool-full", 6), 0);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT * FROM NVTXT_CLOCKS", "ClockMonotonic|1|2|3 ClockBoottime|4|5|6");
    assert_rows(&kit, "SELECT * FROM NVTXT_LOSSES", "1|NULL|2|3|spool-full|5 1|8|2|3|spool-full|6");
    kit_close(&kit);
}

Test(catalog, finds_names_again_after_a_rollback) {
    struct kit kit;
    kit_open(&kit);
    add_at(&kit, 1, 5, PID, TID, "d");
    name_category(&kit, 3, "cat", "d");
    name_it(&kit, NVTXT_NAME_THREAD, "worker", PID, TID);
    for (int attempt = 0; attempt < 3; attempt++) {
        cr_assert_eq(store_begin(kit.store), STORE_DONE);
        cr_assert_eq(store_write(kit.store, kit.batch), STORE_DONE);
        store_rollback(kit.store);
    }
    kit_commit(&kit);
    assert_rows(&kit, "SELECT eventType, count(*) FROM NVTX_EVENTS GROUP BY 1",
                "33|1 34|1 39|1 75|1");
    assert_rows(&kit, "SELECT count(*), max(rowid) FROM NVTX_EVENTS", "4|4");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_NAME_ROWS", "5");
    assert_rows(&kit, "SELECT id, name FROM NVTXT_DOMAINS", "1|d");
    kit_close(&kit);
}
