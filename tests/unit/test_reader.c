// SPDX-License-Identifier: Apache-2.0
//
// Readers: which rows they read, the snapshot, names and sources. e2e/test_export.py tests the
// sentences and exports of other versions.
#include "store/read/reader.h"

#include <errno.h>

#include "store/read/reader_state.h"
#include "tests/unit/store_kit.h"

struct texts {
    char all[4096]; // of the events, a blank between
    size_t events, chunks;
};

static void read_all(struct store_reader *reader, struct texts *texts) {
    const struct store_read_event *events;
    size_t count;
    int result;
    *texts = (struct texts){0};
    while ((result = store_read_chunk(reader, &events, &count)) == STORE_DONE) {
        texts->chunks++;
        for (size_t i = 0; i < count; i++, texts->events++) {
            size_t at = strlen(texts->all);
            if (at + events[i].text.len + 2 < sizeof(texts->all)) {
                snprintf(texts->all + at, sizeof(texts->all) - at, "%s%.*s", at ? " " : "",
                         (int)events[i].text.len, events[i].text.data);
            }
        }
    }
    cr_assert_eq(result, STORE_NOT_FOUND, "%s", store_read_error(reader));
}

static struct store_reader *open_reader(struct kit *kit) {
    struct store_reader *reader;
    cr_assert_eq(store_read_open(&reader, kit->path, kit->error, sizeof(kit->error)), STORE_DONE,
                 "%s", kit->error);
    return reader;
}

static void add_batch(struct kit *kit, int64_t source, int64_t at, const char *text) {
    struct nvtxt_event range = kit_range(at, at + 50, text);
    kit_add(kit, source, &range);
    kit_commit(kit);
}

Test(reader, reads_what_was_there_when_it_was_opened) {
    struct kit kit;
    struct texts texts;
    kit_open(&kit);
    add_batch(&kit, 1, 100, "a");
    add_batch(&kit, 1, 200, "b");
    struct store_reader *reader = open_reader(&kit);
    add_batch(&kit, 1, 300, "c");
    read_all(reader, &texts);
    cr_expect_str_eq(texts.all, "a b");
    cr_expect_eq(store_read_totals(reader)->events, 2);
    cr_expect_eq(store_read_totals(reader)->first_ns, 100);
    cr_expect_eq(store_read_totals(reader)->last_ns, 250);
    cr_expect_eq(store_read_progress(reader), 1.0);
    store_read_close(reader);
    kit_close(&kit);
}

Test(reader, reads_ids_of_ranges_for_those_who_ask) {
    struct kit kit;
    const struct store_read_event *events;
    size_t count;
    kit_open(&kit);
    struct nvtxt_event range = kit_range(100, 150, "a");
    range.type = NVTXT_EVENT_START_END;
    kit_add(&kit, 1, &range);
    kit_commit(&kit);
    struct store_reader *reader = open_reader(&kit);
    cr_assert_eq(store_read_chunk(reader, &events, &count), STORE_DONE);
    cr_expect_eq(events[0].range_id, 0);
    store_read_close(reader);
    reader = open_reader(&kit);
    cr_assert_eq(store_read_range_ids(reader), STORE_DONE);
    cr_assert_eq(store_read_chunk(reader, &events, &count), STORE_DONE);
    cr_assert_eq(count, 1);
    cr_expect_eq(events[0].range_id, kit_int(&kit, "SELECT rangeId FROM NVTX_EVENTS"));
    cr_expect_gt(events[0].range_id, 0);
    store_read_close(reader);
    kit_close(&kit);
}

Test(reader, passes_over_batches_outside_of_the_window) {
    struct kit kit;
    struct texts texts;
    char text[16];
    kit_open(&kit);
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof(text), "e%d", i);
        add_batch(&kit, 1, 100 * i, text);
    }
    struct store_reader *reader = open_reader(&kit);
    struct store_read_window window = STORE_READ_ALL;
    window.since_ns = 5050;
    window.until_ns = 5300;
    cr_assert_eq(store_read_select(reader, &window), STORE_DONE);
    cr_expect_eq(reader->rows, 4, "%g rows are looked at", reader->rows);
    cr_expect_eq(reader->span_count, 1);
    read_all(reader, &texts);
    cr_expect_str_eq(texts.all, "e50 e51 e52 e53");
    cr_assert_eq(store_read_select(reader, &STORE_READ_ALL), STORE_DONE);
    read_all(reader, &texts);
    cr_expect_eq(texts.events, 100);
    store_read_close(reader);
    kit_close(&kit);
}

Test(reader, finds_rows_that_no_batch_lists) {
    struct kit kit;
    struct texts texts;
    kit_open(&kit);
    add_batch(&kit, 1, 100, "a");
    kit_exec(&kit,
             "INSERT INTO NVTX_EVENTS (start, end, eventType, rangeId, text, category, color, "
             "globalTid, domainId) VALUES (50, 60, 59, 0, 'by hand', 0, 0, 0, 0)");
    struct store_reader *reader = open_reader(&kit);
    struct store_read_window window = STORE_READ_ALL;
    window.until_ns = 70;
    cr_assert_eq(store_read_select(reader, &window), STORE_DONE);
    read_all(reader, &texts);
    cr_expect_str_eq(texts.all, "by hand");
    cr_expect_eq(store_read_totals(reader)->first_ns, 50);
    store_read_close(reader);
    kit_close(&kit);
}

Test(reader, cuts_out_the_rows_of_sources) {
    struct kit kit;
    struct texts texts;
    kit_open(&kit);
    for (int64_t i = 0; i < 12; i++) {
        add_batch(&kit, 1 + i % 3, 100 * i, i % 3 == 0 ? "x" : i % 3 == 1 ? "y" : "z");
    }
    struct store_reader *reader = open_reader(&kit);
    const int64_t ids[] = {3, 1};
    struct store_read_window window = STORE_READ_ALL;
    window.sources = ids;
    window.source_count = 2;
    cr_assert_eq(store_read_select(reader, &window), STORE_DONE);
    read_all(reader, &texts);
    cr_expect_str_eq(texts.all, "x z x z x z x z");
    window.since_ns = 600;
    window.source_count = 1;
    cr_assert_eq(store_read_select(reader, &window), STORE_DONE);
    cr_expect_eq(reader->rows, 2);
    read_all(reader, &texts);
    cr_expect_str_eq(texts.all, "z z");
    window.source_count = 0;
    cr_assert_eq(store_read_select(reader, &window), STORE_DONE);
    read_all(reader, &texts);
    cr_expect_eq(texts.events, 0);
    store_read_close(reader);
    kit_close(&kit);
}

Test(reader, names_what_events_have) {
    struct kit kit;
    struct nvtxt_slice name;
    kit_open(&kit);
    struct store_source source = kit_source(1);
    source.name = "a.nvtxt";
    struct nvtxt_name thread = {.kind = NVTXT_NAME_THREAD,
                                .text = NVTXT_SLICE("worker"),
                                .pid = PID,
                                .tid = TID,
                                .at = 100,
                                .at_pid = PID,
                                .at_tid = TID};
    kit_add_name(&kit, &source, &thread);
    struct nvtxt_event mark = kit_mark(100, "m");
    mark.domain = NVTXT_SLICE("shop");
    kit_add(&kit, 1, &mark);
    kit_commit(&kit);
    struct store_reader *reader = open_reader(&kit);
    uint64_t tid = GLOBAL_TID(PID, TID);
    cr_expect(nvtxt_slice_equal(store_read_thread(reader, tid), NVTXT_SLICE("worker")));
    cr_expect(nvtxt_slice_equal(store_read_process(reader, tid), NVTXT_SLICE("Process 1844")));
    cr_expect(nvtxt_slice_equal(store_read_domain(reader, tid, 1), NVTXT_SLICE("shop")));
    cr_expect_null(store_read_domain(reader, tid, 0).data);
    cr_expect_null(store_read_category(reader, tid, 1, 5).data);
    cr_expect_null(store_read_thread(reader, 7).data);
    cr_expect_null(store_read_thread(reader, 7).data, "asked for again");
    int64_t row = kit_int(&kit, "SELECT rowid FROM NVTX_EVENTS WHERE eventType = 34");
    cr_expect_eq(store_read_source(reader, row, &name), 1);
    cr_expect(nvtxt_slice_equal(name, NVTXT_SLICE("a.nvtxt")));
    cr_expect_eq(store_read_source(reader, row + 100, &name), 0);
    cr_expect_null(name.data);
    store_read_close(reader);
    kit_close(&kit);
}

Test(reader, keeps_chunks_small) {
    struct kit kit;
    struct texts texts;
    char *long_text = malloc(300001);
    cr_assert_not_null(long_text);
    memset(long_text, 'x', 300000);
    long_text[300000] = '\0';
    kit_open(&kit);
    for (int i = 0; i < 10000; i++) {
        struct nvtxt_event mark = kit_mark(i, "m");
        kit_add(&kit, 1, &mark);
    }
    kit_commit(&kit);
    struct store_reader *reader = open_reader(&kit);
    read_all(reader, &texts);
    cr_expect_eq(texts.events, 10000);
    cr_expect_geq(texts.chunks, 4);
    store_read_close(reader);
    for (int i = 0; i < 10; i++) {
        struct nvtxt_event mark = kit_mark(i, long_text);
        kit_add(&kit, 1, &mark);
    }
    kit_commit(&kit);
    reader = open_reader(&kit);
    read_all(reader, &texts);
    cr_expect_eq(texts.events, 10010);
    cr_expect_geq(texts.chunks, 9, "two long texts a chunk");
    store_read_close(reader);
    kit_close(&kit);
    free(long_text);
}

#define ADD_RANGE(row, text)                                                                       \
    "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, text, globalTid) VALUES (" row         \
    ", 1, 2, 59, '" text "', 16777217);"

Test(reader, reads_exports_with_any_numbers_of_rows) {
    struct kit kit;
    struct texts texts;
    kit_folder(&kit);
    kit_exec(&kit, "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                   "CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, "
                   "globalTid INT);" ADD_RANGE("-9223372036854775807 - 1", "first")
                       ADD_RANGE("7", "usual") ADD_RANGE("5000000000000000", "far")
                           ADD_RANGE("9223372036854775807", "last"));
    struct store_reader *reader = open_reader(&kit);
    read_all(reader, &texts);
    cr_expect_str_eq(texts.all, "first usual far last");
    cr_expect_eq(store_read_progress(reader), 1.0);
    store_read_close(reader);
    kit_close(&kit);
}

// The columns of the first event: kind and number of the payload, JSON.
static const char *first_payload(struct kit *kit) {
    static char text[64];
    const struct store_read_event *events;
    size_t count = 0;
    struct store_reader *reader = open_reader(kit);
    cr_assert_eq(store_read_chunk(reader, &events, &count), STORE_DONE);
    cr_assert_eq(count, 1);
    const struct nvtxt_payload *payload = &events[0].payload;
    bool real = payload->kind == NVTXT_PAYLOAD_DOUBLE || payload->kind == NVTXT_PAYLOAD_FLOAT;
    snprintf(text, sizeof(text), "%d %g %.*s", (int)payload->kind,
             payload->kind == NVTXT_PAYLOAD_NONE ? 0
             : real                              ? payload->real
                                                 : (double)payload->int64,
             (int)events[0].json.len, events[0].json.data ? events[0].json.data : "");
    store_read_close(reader);
    return text;
}

Test(reader, reads_payloads_of_every_type) {
    static const struct {
        const char *column, *value, *wanted;
    } cases[] = {
        {"int64Value", "-5", "1 -5 [1]"},       {"doubleValue", "0.5", "2 0.5 [1]"},
        {"uint64Value", "-1", "3 -1 [1]"},      {"uint32Value", "4294967295", "4 4.29497e+09 [1]"},
        {"int32Value", "-7", "5 -7 [1]"},       {"floatValue", "0.25", "6 0.25 [1]"},
        {"uint32Value", "-1", "1 -1 [1]"},      {"int32Value", "2147483648", "1 2.14748e+09 [1]"},
        {"floatValue", "0.1", "2 0.1 [1]"},     {"floatValue", "1e300", "2 1e+300 [1]"},
        {"floatValue", "-9e999", "6 -inf [1]"}, {"category", "0", "0 0 [1]"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct kit kit;
        char sql[256];
        kit_open(&kit);
        add_batch(&kit, 1, 10, "a");
        snprintf(sql, sizeof(sql), "UPDATE NVTX_EVENTS SET jsonText = '[1]', %s = %s",
                 cases[i].column, cases[i].value);
        kit_exec(&kit, sql);
        // Without a source with the extension nobody looks at these columns.
        if (cases[i].wanted[0] > '2') {
            cr_expect_str_eq(first_payload(&kit), "0 0 ");
        }
        kit_exec(&kit, "UPDATE NVTXT_SOURCES SET nvtx = 1");
        cr_expect_str_eq(first_payload(&kit), cases[i].wanted, "%s: %s", cases[i].column,
                         first_payload(&kit));
        kit_close(&kit);
    }
}

static int add_name(void *context, const struct store_read_name *name) {
    char *text = context;
    size_t len = strlen(text);
    snprintf(text + len, 256 - len, "%d %llu %.*s|%.*s|%.*s|%.*s %llX; ", (int)name->kind,
             (unsigned long long)name->global_tid, (int)name->domain.len, name->domain.data,
             (int)name->text.len, name->text.data, (int)name->resource_kind.len,
             name->resource_kind.data, (int)name->json.len, name->json.data,
             (unsigned long long)name->handle);
    return 0;
}

Test(reader, reads_names_of_resources_and_counters) {
    struct kit kit;
    char all[256] = "", counters[256] = "";
    kit_open(&kit);
    kit_exec(&kit, "INSERT INTO NVTXT_DOMAINS VALUES (3, 'gpu');"
                   "INSERT INTO NVTXT_RESOURCES VALUES (16777216, 3, 'cuStream', -1, 'main', 1);"
                   "INSERT INTO NVTXT_COUNTERS VALUES (33554432, 0, 'loss', NULL, NULL, '{}', 1)");
    struct store_reader *reader = open_reader(&kit);
    cr_expect_eq(store_read_names(reader, add_name, all), STORE_DONE);
    cr_expect_eq(store_read_counters(reader, add_name, counters), STORE_DONE);
    cr_expect_str_eq(all, "4 16777216 gpu|main|cuStream| FFFFFFFFFFFFFFFF; "
                          "5 33554432 |loss||{} 0; ");
    cr_expect_str_eq(counters, "5 33554432 |loss||{} 0; ");
    store_read_close(reader);
    kit_close(&kit);
}

static int note_time(void *context, const struct store_read_name *name) {
    *(int64_t *)context = name->at;
    return 0;
}

Test(reader, reads_names_at_any_time) {
    struct kit kit;
    int64_t at = 0;
    kit_folder(&kit);
    kit_exec(&kit, "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT);"
                   "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1000);"
                   "CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, "
                   "globalTid INT, category INT);"
                   "INSERT INTO NVTX_EVENTS VALUES (9223372036854775807, NULL, 33, 'late', 1, 4)");
    struct store_reader *reader = open_reader(&kit);
    cr_expect_eq(store_read_names(reader, note_time, &at), STORE_DONE);
    cr_expect_eq(at, INT64_MAX);
    store_read_close(reader);
    kit_close(&kit);
}

Test(reader, says_what_is_wrong) {
    struct kit kit;
    struct store_reader *reader;
    kit_folder(&kit);
    cr_expect_eq(store_read_open(&reader, kit.path, kit.error, sizeof(kit.error)), -ENOENT);
    cr_expect_null(reader);
    cr_expect_not_null(strstr(kit.error, kit.path));
    cr_expect_eq(store_read_open(&reader, kit.folder, kit.error, sizeof(kit.error)), -EISDIR);
    kit_exec(&kit, "CREATE TABLE other (x)");
    cr_expect_eq(store_read_open(&reader, kit.path, kit.error, sizeof(kit.error)), STORE_FOREIGN);
    store_read_close(NULL);
    kit_close(&kit);
}
