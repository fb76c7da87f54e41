// SPDX-License-Identifier: Apache-2.0
//
// Loading stores and exports of Nsight Systems: what the events, their names, their sources and
// their windows are, and what is refused. e2e/test_report_load.py tests whole programs beside a
// daemon.
#include "report/load/load.h"

#include <dirent.h>
#include <inttypes.h>

#include "store/db/schema.h"
#include "tests/unit/store_kit.h"

static struct report_load_options options;
static char sentence[REPORT_SENTENCE_BYTES];
static char shown[8192];

static void show(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void show(const char *format, ...) {
    size_t len = strlen(shown);
    va_list list;
    va_start(list, format);
    vsnprintf(shown + len, sizeof(shown) - len, format, list);
    va_end(list);
}

#define TEXT(slice) (int)(slice).len, (slice).data ? (slice).data : "-"

static void show_event(const struct report_capture *capture, const struct report_event *event) {
    static const char *const kinds[] = {"mark", "push", "start"};
    const struct report_thread *thread = &capture->threads[event->thread];
    show("%s%s %" PRId64 "-%" PRId64 " %u.%u %.*s:%.*s%s%s%s", *shown ? "\n" : "",
         kinds[event->kind], event->start, event->end, capture->processes[thread->process].pid,
         report_tid(thread), TEXT(report_domain(capture, event)),
         TEXT(report_event_text(capture, event)), event->flags & REPORT_OPEN ? " open" : "",
         event->flags & REPORT_BACKWARD ? " backward" : "",
         event->flags & REPORT_UNCLOSED ? " unclosed" : "");
}

// All events as lines; the capture is the caller's.
static struct report_capture *load_paths(const char *const *paths, size_t count) {
    struct report_capture *capture;
    int result = report_load(&capture, paths, count, &options, sentence);
    cr_assert_eq(result, REPORT_LOADED, "%d: %s", result, sentence);
    *shown = '\0';
    for (size_t i = 0; i < capture->event_count; i++) {
        show_event(capture, &capture->events[i]);
    }
    return capture;
}

static struct report_capture *load_path(const char *path) {
    return load_paths(&path, 1);
}

static void expect_events(const char *path, const char *lines) {
    struct report_capture *capture = load_path(path);
    cr_expect_str_eq(shown, lines, "%s\ninstead of\n%s", shown, lines);
    report_capture_free(capture);
}

static int refusal_of(const char *path) {
    struct report_capture *capture;
    int result = report_load(&capture, &path, 1, &options, sentence);
    cr_assert_null(capture);
    cr_expect_neq(*sentence, '\0');
    return result;
}

static void set_up(void) {
    options = REPORT_LOAD_ALL;
}

TestSuite(load, .init = set_up);

static void add_range(struct kit *kit, enum nvtxt_event_type type, int64_t start, int64_t end,
                      const char *text, const char *domain) {
    struct nvtxt_event event = kit_range(start, end, text);
    event.type = type;
    event.domain = nvtxt_slice_of(domain);
    kit_add(kit, 1, &event);
}

// ---- Stores -------------------------------------------------------------------------------------

Test(load, reads_events_with_their_domains) {
    struct kit kit;
    kit_open(&kit);
    add_range(&kit, NVTXT_EVENT_PUSH_POP, 20, 30, "inner", "");
    add_range(&kit, NVTXT_EVENT_PUSH_POP, 10, 40, "outer", "net");
    add_range(&kit, NVTXT_EVENT_START_END, 5, 50, "", "net");
    struct nvtxt_event mark = kit_mark(7, "inner");
    kit_add(&kit, 1, &mark);
    kit_commit(&kit);
    struct report_capture *capture = load_path(kit.path);
    cr_expect_str_eq(shown, "push 20-30 1844.4880 :inner\npush 10-40 1844.4880 net:outer\n"
                            "start 5-50 1844.4880 net:\nmark 7-7 1844.4880 :inner");
    cr_expect_eq(capture->message_count, 3);
    cr_expect_eq(capture->name_count, 3);
    cr_expect_eq(capture->domain_count, 2);
    cr_expect_eq(capture->scope_count, 2);
    cr_expect_eq(capture->events[3].name, capture->events[0].name);
    cr_expect_eq(capture->events[0].row, 2, "after the row that names the domain");
    cr_expect_eq(capture->first_ns, 5);
    cr_expect_eq(capture->last_ns, 50);
    cr_expect(capture->stores[0].ours);
    cr_expect_eq(capture->stores[0].segment_count, 1);
    cr_expect_str_eq(capture->processes[0].name.data, "Process 1844");
    cr_expect_str_eq(capture->threads[0].name.data, "Thread 4880");
    cr_expect_str_eq(capture->stores[0].product.data, "nvtxtd");
    report_capture_free(capture);
    kit_close(&kit);
}

Test(load, knows_the_source_of_an_event) {
    struct kit kit;
    kit_open(&kit);
    for (int64_t i = 0; i < 6; i++) {
        struct nvtxt_event mark = kit_mark(i, "m");
        kit_add(&kit, 9 - i % 3, &mark);
        kit_commit(&kit);
    }
    kit_exec(&kit, "INSERT INTO NVTX_EVENTS (start, end, eventType, rangeId, text, category, "
                   "color, globalTid, domainId) VALUES (50, 60, 59, 0, 'by hand', 0, 0, 0, 0)");
    struct report_capture *capture = load_path(kit.path);
    cr_assert_eq(capture->source_count, 3);
    cr_expect_eq(capture->sources[0].id, 7);
    cr_expect_eq(capture->sources[2].id, 9);
    for (uint32_t i = 0; i < 6; i++) {
        cr_expect_eq(capture->events[i].source, 2 - i % 3, "event %u", i);
    }
    cr_expect_eq(capture->events[6].source, REPORT_NONE);
    report_capture_free(capture);
    kit_close(&kit);
}

Test(load, sorts_diagnostics_by_their_place) {
    struct kit kit;
    kit_open(&kit);
    struct nvtxt_event mark = kit_mark(1, "m");
    kit_add(&kit, 1, &mark);
    kit_commit(&kit);
    kit_exec(&kit, "INSERT INTO NVTXT_DIAGNOSTICS (sourceId, line, \"column\", severity, code, "
                   "message) VALUES (1, 7, 2, 'error', 'x', 'third'), (99, 1, 1, 'error', 'x', "
                   "'nobody'), (1, 7, 1, 'error', 'x', 'second'), (1, 3, 9, 'warning', 'y', "
                   "'first'), (1, 7, 2, 'error', 'x', 'fourth');"
                   "INSERT INTO NVTXT_LOSSES (atNs, reason, count) VALUES (5, 'refused', 3);"
                   "UPDATE NVTXT_SOURCES SET levels = 1, errors = 4");
    struct report_capture *capture = load_path(kit.path);
    const struct report_source *source = &capture->sources[0];
    static const char *const messages[] = {"first", "second", "third", "fourth"};
    cr_assert_eq(source->diagnostic_count, 4);
    for (size_t i = 0; i < 4; i++) {
        cr_expect_str_eq(source->diagnostics[i].message.data, messages[i]);
    }
    cr_expect_str_eq(source->diagnostics[0].severity.data, "warning");
    cr_expect_null(source->diagnostics[0].stage.data);
    cr_expect(source->has_levels);
    cr_expect_eq(source->errors, 4);
    cr_assert_eq(capture->loss_count, 1);
    cr_expect_eq(capture->losses[0].count, 3);
    cr_expect_not(capture->losses[0].has_source);
    report_capture_free(capture);
    kit_close(&kit);
}

Test(load, open_ranges_end_with_the_last_event) {
    struct kit kit;
    kit_open(&kit);
    struct nvtxt_event range = kit_range(10, 90, "closed");
    range.unclosed = true;
    kit_add(&kit, 1, &range);
    kit_commit(&kit);
    kit_exec(&kit, "INSERT INTO NVTXT_OPEN_RANGES (sourceId, globalTid, kind, start, text, "
                   "category, color, domainId, seq, int64Value) VALUES "
                   "(1, 5, 59, 20, 'outer', 3, 4, 0, 1, 77), (1, 5, 59, 20, 'inner', 0, 0, 0, 2, "
                   "NULL), (1, 5, 60, 95, 'late', 0, 0, 0, 3, NULL)");
    struct report_capture *capture = load_path(kit.path);
    cr_expect_str_eq(shown, "start 10-90 1844.4880 :closed unclosed\nstart 95-95 0.5 :late open\n"
                            "push 20-95 0.5 :inner open\npush 20-95 0.5 :outer open");
    const struct report_event *events = capture->events;
    cr_expect_gt(events[3].row, events[2].row, "the outer one has the larger row");
    cr_expect_eq(events[1].row, INT64_C(1) << 39);
    cr_expect_eq(events[3].payload.int64, 77);
    cr_expect_eq(events[3].category, 3);
    cr_expect_eq(events[3].source, 0);
    report_capture_free(capture);
    kit_close(&kit);
}

Test(load, payloads_keep_their_kind) {
    struct kit kit;
    kit_open(&kit);
    struct nvtxt_event mark = kit_mark(1, "m");
    mark.payload = (struct nvtxt_payload){.kind = NVTXT_PAYLOAD_DOUBLE, .real = 0.5};
    kit_add(&kit, 1, &mark);
    mark.payload = (struct nvtxt_payload){.kind = NVTXT_PAYLOAD_UINT64, .int64 = -1};
    mark.json = nvtxt_slice_of("{\"a\":1}");
    mark.ended_elsewhere = true;
    mark.end_pid = 1;
    mark.end_tid = 2;
    kit_add(&kit, 1, &mark);
    kit_commit(&kit);
    kit_exec(&kit, "UPDATE NVTXT_SOURCES SET nvtx = 1");
    struct report_capture *capture = load_path(kit.path);
    cr_expect_eq(capture->events[0].payload_kind, NVTXT_PAYLOAD_DOUBLE);
    cr_expect_eq(capture->events[0].payload.real, 0.5);
    cr_expect_eq(capture->events[0].more, REPORT_NONE);
    cr_expect_eq(capture->events[1].payload_kind, NVTXT_PAYLOAD_UINT64);
    cr_expect_eq(capture->events[1].payload.int64, -1);
    cr_assert_eq(capture->more_count, 1);
    cr_expect_str_eq(capture->more[0].json.data, "{\"a\":1}");
    cr_expect(capture->more[0].ended_elsewhere);
    cr_expect_eq(capture->more[0].end_global_tid, 1 << 24 | 2);
    report_capture_free(capture);
    kit_close(&kit);
}

Test(load, names_categories_by_process_and_domain) {
    struct kit kit;
    struct store_source source = kit_source(1);
    kit_open(&kit);
    struct nvtxt_event mark = kit_mark(1, "m");
    mark.category = 7;
    kit_add(&kit, 1, &mark);
    struct nvtxt_name name = {.kind = NVTXT_NAME_CATEGORY, .category = 7, .at_pid = PID};
    name.text = nvtxt_slice_of("io");
    kit_add_name(&kit, &source, &name);
    kit_commit(&kit);
    struct report_capture *capture = load_path(kit.path);
    uint32_t scope = capture->events[0].scope;
    cr_expect_str_eq(report_category_name(capture, scope, 7).data, "io");
    cr_expect_null(report_category_name(capture, scope, 6).data);
    cr_expect_null(report_category_name(capture, scope + 1, 7).data);
    report_capture_free(capture);
    kit_close(&kit);
}

// In version 3 a category had one name for all processes. Later columns are not there.
Test(load, reads_stores_of_older_versions) {
    for (int version = 1; version <= STORE_SCHEMA_VERSION; version++) {
        struct kit kit;
        sqlite3 *db;
        kit_folder(&kit);
        cr_assert_eq(sqlite3_open(kit.path, &db), SQLITE_OK);
        cr_assert_eq(store_schema_upgrade(db, store_schema_steps, version), SQLITE_OK);
        sqlite3_close(db);
        kit_exec(&kit, "INSERT INTO NVTX_EVENTS (rowid, start, \"end\", eventType, rangeId, text, "
                       "category, color, globalTid, domainId, int64Value) VALUES "
                       "(1, 5, 5, 33, 0, 'I/O', 7, 0, 5 << 24 | 1, 0, NULL), "
                       "(2, 5, 5, 34, 0, 'm', 7, 0, 6 << 24 | 1, 0, 42);"
                       "INSERT INTO NVTXT_NAME_ROWS VALUES (33, 0, 7, 1);"
                       "INSERT INTO NVTXT_EVENT_SOURCES VALUES (1, 2, 3);"
                       "INSERT INTO NVTXT_SOURCES (id, kind, events) VALUES (3, 'plain', 1);"
                       "INSERT INTO NVTXT_OPEN_RANGES (sourceId, globalTid, kind, start, text, "
                       "category, color, domainId, seq) VALUES (3, 6 << 24, 60, 2, 'o', 0, 0, 0, "
                       "1)");
        struct report_capture *capture = load_path(kit.path);
        cr_expect_str_eq(shown, "mark 5-5 6.1 :m\nstart 2-5 6.0 :o open", "version %d: %s", version,
                         shown);
        cr_expect_eq(capture->events[0].payload.int64, 42);
        cr_expect_eq(capture->events[0].source, 0);
        cr_expect_eq(capture->stores[0].schema_version, version);
        cr_expect_str_eq(report_category_name(capture, capture->events[0].scope, 7).data, "I/O");
        report_capture_free(capture);
        kit_close(&kit);
    }
}

// ---- Windows and segments -----------------------------------------------------------------------

Test(load, a_window_takes_what_reaches_into_it) {
    struct kit kit;
    kit_open(&kit);
    for (int i = 0; i < 100; i++) {
        struct nvtxt_event range = kit_range(100 * i, 100 * i + 50, "r");
        kit_add(&kit, 1 + i / 10, &range);
        kit_commit(&kit);
    }
    options.since_ns = 5900;
    struct report_capture *capture = load_path(kit.path);
    cr_assert_eq(capture->event_count, 41);
    for (uint32_t i = 0; i < 41; i++) {
        cr_expect_eq(capture->events[i].source, 5 + (i + 9) / 10, "event %u", i);
    }
    report_capture_free(capture);
    options.since_ns = 5050;
    options.until_ns = 5200;
    expect_events(kit.path, "start 5000-5050 1844.4880 :r\nstart 5100-5150 1844.4880 :r\n"
                            "start 5200-5250 1844.4880 :r");
    options.since_ns = 5051;
    options.until_ns = 5199;
    expect_events(kit.path, "start 5100-5150 1844.4880 :r");
    options.since_ns = 1 << 20;
    options.until_ns = INT64_MAX;
    capture = load_path(kit.path);
    cr_expect_eq(capture->event_count, 0);
    cr_expect_eq(capture->first_ns, 0);
    cr_expect_eq(capture->last_ns, 0);
    report_capture_free(capture);
    kit_close(&kit);
}

#define SEGMENT(number) "s-20261122T06240" #number "Z-" #number ".sqlite"

// What is at kit->path becomes a segment, and kit->path a link to it.
static void make_segment(struct kit *kit, const char *name) {
    char path[160];
    store_close(kit->store);
    kit->store = NULL;
    snprintf(path, sizeof(path), "%s/%s", kit->folder, name);
    cr_assert_eq(rename(kit->path, path), 0);
}

static void remove_segment(struct kit *kit, const char *name) {
    char path[160];
    snprintf(path, sizeof(path), "%s/%s", kit->folder, name);
    cr_assert_eq(unlink(path), 0);
}

static void make_two_segments(struct kit *kit) {
    kit_open(kit);
    add_range(kit, NVTXT_EVENT_PUSH_POP, 20, 30, "a", "net");
    kit_commit(kit);
    kit_exec(kit, "UPDATE NVTXT_SOURCES SET lines = 10, events = 1, name = 'f';"
                  "INSERT INTO NVTXT_DIAGNOSTICS (sourceId, line, \"column\", message) VALUES "
                  "(1, 2, 1, 'older')");
    make_segment(kit, SEGMENT(1));
    cr_assert_eq(kit_reopen(kit), STORE_DONE);
    add_range(kit, NVTXT_EVENT_PUSH_POP, 50, 60, "b", "disk");
    add_range(kit, NVTXT_EVENT_PUSH_POP, 40, 70, "a", "net");
    kit_commit(kit);
    kit_exec(kit, "UPDATE NVTXT_SOURCES SET lines = 30, events = 3, name = 'f';"
                  "INSERT INTO NVTXT_DIAGNOSTICS (sourceId, line, \"column\", message) VALUES "
                  "(1, 9, 1, 'newer')");
    make_segment(kit, SEGMENT(2));
    cr_assert_eq(symlink(SEGMENT(2), kit->path), 0);
}

Test(load, segments_are_one_store) {
    struct kit kit;
    char segment[160];
    make_two_segments(&kit);
    struct report_capture *capture = load_path(kit.path);
    cr_expect_str_eq(shown, "push 20-30 1844.4880 net:a\npush 50-60 1844.4880 disk:b\n"
                            "push 40-70 1844.4880 net:a");
    cr_expect_eq(capture->stores[0].segment_count, 2);
    cr_expect_eq(capture->events[0].row, 2, "after the row that names the domain");
    cr_expect_eq(capture->events[1].row >> 40, 1);
    cr_expect_eq(capture->events[0].name, capture->events[2].name);
    cr_expect_eq(capture->thread_count, 1);
    cr_assert_eq(capture->source_count, 1);
    cr_expect_eq(capture->sources[0].lines, 30, "the newest counts");
    cr_assert_eq(capture->sources[0].diagnostic_count, 2);
    cr_expect_str_eq(capture->sources[0].diagnostics[0].message.data, "older");
    report_capture_free(capture);
    snprintf(segment, sizeof(segment), "%s/%s", kit.folder, SEGMENT(1));
    expect_events(segment, "push 20-30 1844.4880 net:a");
    remove_segment(&kit, SEGMENT(1));
    remove_segment(&kit, SEGMENT(2));
    kit_close(&kit);
}

Test(load, threads_of_two_stores_are_not_the_same) {
    struct kit kit;
    kit_open(&kit);
    struct nvtxt_event mark = kit_mark(1, "m");
    kit_add(&kit, 1, &mark);
    kit_commit(&kit);
    const char *const paths[] = {kit.path, kit.path};
    struct report_capture *capture = load_paths(paths, 2);
    cr_expect_eq(capture->store_count, 2);
    cr_expect_eq(capture->thread_count, 2);
    cr_expect_eq(capture->process_count, 2);
    cr_expect_eq(capture->source_count, 2);
    cr_expect_eq(capture->name_count, 1);
    cr_expect_eq(capture->events[1].store, 1);
    cr_expect_eq(capture->events[1].thread, 1);
    cr_expect_eq(capture->events[1].source, 1);
    report_capture_free(capture);
    kit_close(&kit);
}

static size_t count_files(const char *path) {
    DIR *folder = opendir(path);
    size_t files = 0;
    cr_assert_not_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        files += entry->d_name[0] != '.';
    }
    closedir(folder);
    return files;
}

Test(load, leaves_nothing_beside_a_store) {
    struct kit kit;
    kit_open(&kit);
    struct nvtxt_event mark = kit_mark(1, "m");
    kit_add(&kit, 1, &mark);
    kit_commit(&kit);
    store_close(kit.store);
    kit.store = NULL;
    size_t before = count_files(kit.folder);
    report_capture_free(load_path(kit.path));
    cr_expect_eq(count_files(kit.folder), before);
    kit_close(&kit);
}

// ---- Exports ------------------------------------------------------------------------------------

static void make_export(struct kit *kit, const char *sql) {
    kit_folder(kit);
    kit_exec(kit, sql);
}

#define OLD_TABLE                                                                                  \
    "CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, rangeId INT, text TEXT, "        \
    "category INT, color INT, globalTid INT, domainId INT);"
#define NEW_TABLE                                                                                  \
    "CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, textId INT, "         \
    "globalTid INT, endGlobalTid INT, domainId INT, category INT, color INT, uint64Value INT, "    \
    "int64Value INT, doubleValue REAL, uint32Value INT, int32Value INT, floatValue REAL, "         \
    "jsonText TEXT);"                                                                              \
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"                                 \
    "INSERT INTO StringIds VALUES (1, 'a'), (2, 'b'), (3, 'dom'), (4, 'phase');"

Test(load, the_message_of_an_export_is_its_text_or_its_string) {
    struct kit kit;
    make_export(&kit, NEW_TABLE
                "INSERT INTO NVTX_EVENTS (start, end, eventType, text, textId, globalTid) VALUES "
                "(1, 2, 59, NULL, 1, 0), (3, 4, 59, 'b', NULL, 0), (5, 6, 59, 'c', 1, 0), "
                "(7, 8, 59, NULL, 1, 0), (9, 9, 59, NULL, NULL, 0), (10, 11, 59, NULL, 99, 0), "
                "(12, 13, 59, '', 1, 0), (14, 15, 59, 'c', 1, 0)");
    expect_events(kit.path, "push 1-2 0.0 :a\npush 3-4 0.0 :b\npush 5-6 0.0 :c\npush 7-8 0.0 :a\n"
                            "push 9-9 0.0 :\npush 10-11 0.0 :\npush 12-13 0.0 :\n"
                            "push 14-15 0.0 :c");
    kit_close(&kit);
}

Test(load, an_export_of_any_version_has_the_same_events) {
    static const char lines[] = "push 10-40 7.8 :a\nstart 15-60 7.8 :b\nmark 20-20 7.8 :a";
    struct kit kit;
    make_export(&kit, OLD_TABLE "INSERT INTO NVTX_EVENTS VALUES "
                                "(10, 40, 59, 0, 'a', 0, 0, 7 << 24 | 8, 0), "
                                "(15, 60, 60, 1, 'b', 0, 0, 7 << 24 | 8, 0), "
                                "(20, 20, 34, 0, 'a', 0, 0, 7 << 24 | 8, 0)");
    expect_events(kit.path, lines);
    kit_close(&kit);
    make_export(&kit, NEW_TABLE
                "INSERT INTO NVTX_EVENTS (start, end, eventType, textId, globalTid) VALUES "
                "(10, 40, 70, 1, 0x1A000000000000 | 7 << 24 | 8), "
                "(15, 60, 71, 2, 0x1A000000000000 | 7 << 24 | 8), "
                "(20, NULL, 65, 1, -0x1000000000000 | 7 << 24 | 8)");
    expect_events(kit.path, lines);
    kit_close(&kit);
}

Test(load, a_range_of_an_export_without_end_is_open) {
    struct kit kit;
    make_export(&kit, NEW_TABLE
                "INSERT INTO NVTX_EVENTS (start, end, eventType, textId, globalTid) VALUES "
                "(10, NULL, 59, 1, 0), (20, 80, 60, 2, 0), (30, NULL, 34, 1, 0), (50, 45, 59, 2, "
                "0)");
    expect_events(kit.path, "push 10-80 0.0 :a open\nstart 20-80 0.0 :b\nmark 30-30 0.0 :a\n"
                            "push 50-50 0.0 :b backward");
    kit_close(&kit);
}

Test(load, a_domain_of_an_export_belongs_to_its_process) {
    struct kit kit;
    make_export(&kit, NEW_TABLE
                "INSERT INTO NVTX_EVENTS (start, eventType, text, textId, globalTid, domainId, "
                "category) VALUES "
                "(1, 34, 'm', NULL, 1 << 24, 1, 5), (2, 34, 'm', NULL, 2 << 24, 1, 5), "
                "(3, 34, 'm', NULL, 3 << 24, 1, 5), (4, 34, 'm', NULL, 1 << 24, 9, 0), "
                "(5, 34, 'm', NULL, 1 << 24, NULL, NULL), (0, 75, NULL, 3, 1 << 24 | 4, 1, NULL), "
                "(0, 75, 'other', NULL, 2 << 24, 1, NULL), (0, 33, NULL, 4, 1 << 24 | 6, 1, 5), "
                "(0, 39, 'main', NULL, 1 << 24, 0, 0)");
    struct report_capture *capture = load_path(kit.path);
    cr_expect_str_eq(shown, "mark 1-1 1.0 dom:m\nmark 2-2 2.0 other:m\nmark 3-3 3.0 dom:m\n"
                            "mark 4-4 1.0 Domain 9:m\nmark 5-5 1.0 :m");
    cr_expect_str_eq(report_category_name(capture, capture->events[0].scope, 5).data, "phase");
    cr_expect_null(report_category_name(capture, capture->events[1].scope, 5).data);
    cr_expect_str_eq(capture->threads[0].name.data, "main");
    cr_expect_eq(capture->events[0].category, 5);
    cr_expect_eq(capture->source_count, 0);
    cr_expect_not(capture->stores[0].ours);
    report_capture_free(capture);
    kit_close(&kit);
}

Test(load, an_export_without_ranges_is_fine) {
    struct kit kit;
    make_export(&kit, NEW_TABLE);
    struct report_capture *capture = load_path(kit.path);
    cr_expect_eq(capture->event_count, 0);
    cr_expect_not(capture->stores[0].has_kernels);
    report_capture_free(capture);
    kit_close(&kit);
}

#define KERNEL_TABLES                                                                              \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, correlationId INT, "             \
    "globalPid INT, demangledName INT, shortName INT);"                                            \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, "                \
    "correlationId INT);"

Test(load, a_kernel_belongs_to_the_call_of_its_process) {
    struct kit kit;
    make_export(&kit, NEW_TABLE KERNEL_TABLES
                "INSERT INTO NVTX_EVENTS (start, end, eventType, textId, globalTid) VALUES "
                "(10, 40, 59, 1, 7 << 24 | 8);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (12, 13, 6 << 24 | 8, 1), "
                "(15, 16, 7 << 24 | 8, 1), (17, 18, 7 << 24 | 9, 2);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 60, 1, 7 << 24, 2, 1), "
                "(60, 70, 2, 7 << 24, 2, 1), (70, 80, 3, 7 << 24, 2, 1)");
    struct report_capture *capture = load_path(kit.path);
    cr_expect(capture->stores[0].has_kernels);
    cr_assert_eq(capture->kernel_count, 3);
    cr_expect_eq(capture->kernels[0].thread, 0);
    cr_expect_eq(capture->kernels[0].call_start, 15);
    cr_expect_str_eq(capture->messages[capture->kernels[0].name].data, "b");
    cr_expect_eq(capture->kernels[1].thread, REPORT_NONE, "no event is of that thread");
    cr_expect_eq(capture->kernels[2].thread, REPORT_NONE);
    report_capture_free(capture);
    kit_close(&kit);
}

Test(load, kernels_without_a_column_are_no_fault_of_the_export) {
    struct kit kit;
    make_export(&kit, NEW_TABLE
                "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT);"
                "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT);"
                "INSERT INTO NVTX_EVENTS (start, end, eventType, textId, globalTid) VALUES "
                "(10, 40, 59, 1, 7 << 24 | 8);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (12, 13);"
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 60)");
    struct report_capture *capture = load_path(kit.path);
    cr_expect_str_eq(shown, "push 10-40 7.8 :a");
    cr_expect(!capture->stores[0].has_kernels);
    cr_expect_str_eq(capture->stores[0].kernels_lack,
                     "CUPTI_ACTIVITY_KIND_KERNEL lacks column correlationId");
    report_capture_free(capture);
    kit_close(&kit);
}

Test(load, an_export_names_its_product) {
    struct kit kit;
    make_export(&kit, NEW_TABLE "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                                "INSERT INTO META_DATA_EXPORT VALUES "
                                "('EXPORT_PRODUCT_NAME', 'Systems'), ('EXPORT_SCHEMA_VERSION', "
                                "'3.11.0'), ('EXPORT_PRODUCT_VERSION', '2024.1')");
    struct report_capture *capture = load_path(kit.path);
    cr_expect(nvtxt_slice_equal(capture->stores[0].product, NVTXT_SLICE("Systems")));
    cr_expect(nvtxt_slice_equal(capture->stores[0].version, NVTXT_SLICE("2024.1")));
    report_capture_free(capture);
    kit_close(&kit);
}

static bool has_table(const struct report_store *store, const char *name) {
    for (size_t i = 0; i < store->table_count; i++) {
        if (nvtxt_slice_equal(store->tables[i], nvtxt_slice_of(name))) {
            return true;
        }
    }
    return false;
}

Test(load, a_view_is_no_table) {
    struct kit kit;
    kit_open(&kit);
    struct report_capture *capture = load_path(kit.path);
    cr_expect(has_table(&capture->stores[0], "NVTX_EVENTS"));
    cr_expect(!has_table(&capture->stores[0], "CUPTI_ACTIVITY_KIND_KERNEL"));
    report_capture_free(capture);
    kit_close(&kit);
}

Test(load, a_window_of_an_export_is_in_unix_time) {
    struct kit kit;
    make_export(&kit, NEW_TABLE
                "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT);"
                "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1000000);"
                "INSERT INTO NVTX_EVENTS (start, end, eventType, textId, globalTid) VALUES "
                "(10, 20, 59, 1, 0), (30, 40, 59, 1, 0), (35, NULL, 59, 2, 0)");
    options.since_ns = 1000030;
    expect_events(kit.path, "push 30-40 0.0 :a\npush 35-40 0.0 :b open");
    options.since_ns = INT64_MIN;
    options.until_ns = 1000029;
    struct report_capture *capture = load_path(kit.path);
    cr_expect_str_eq(shown, "push 10-20 0.0 :a");
    cr_expect_eq(capture->stores[0].utc_base_ns, 1000000);
    report_capture_free(capture);
    kit_close(&kit);
}

Test(load, times_may_lie_at_both_ends_of_int64) {
    struct kit kit;
    make_export(&kit, NEW_TABLE
                "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT);"
                "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (9223372036854775807);"
                "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, textId, globalTid, "
                "domainId) VALUES (-9223372036854775808, -9223372036854775808, "
                "9223372036854775807, 59, 1, -1, -9223372036854775808), "
                "(9223372036854775807, 9223372036854775807, -9223372036854775808, 60, 2, -1, "
                "9223372036854775807)");
    options.until_ns = INT64_MAX - 1;
    expect_events(kit.path, "push -9223372036854775808-9223372036854775807 16777215.16777215 "
                            "Domain -9223372036854775808:a");
    options = REPORT_LOAD_ALL;
    struct report_capture *capture = load_path(kit.path);
    cr_assert_eq(capture->event_count, 2);
    cr_expect(capture->events[1].flags & REPORT_BACKWARD);
    cr_expect_eq(capture->first_ns, INT64_MIN);
    cr_expect_eq(capture->last_ns, INT64_MAX);
    report_capture_free(capture);
    kit_close(&kit);
}

// ---- What is refused ----------------------------------------------------------------------------

Test(load, refuses_what_is_no_store) {
    struct kit kit;
    kit_folder(&kit);
    cr_expect_eq(refusal_of(kit.path), REPORT_NO_INPUT);
    cr_expect_eq(refusal_of(kit.folder), REPORT_NO_INPUT);
    FILE *file = fopen(kit.path, "w");
    fclose(file);
    cr_expect_eq(refusal_of(kit.path), REPORT_BAD_DATA);
    file = fopen(kit.path, "w");
    fputs("RangePush, 1\n", file);
    fclose(file);
    cr_expect_eq(refusal_of(kit.path), REPORT_BAD_DATA);
    cr_expect(strstr(sentence, kit.path));
    unlink(kit.path);
    kit_exec(&kit, "CREATE TABLE t (a)");
    cr_expect_eq(refusal_of(kit.path), REPORT_BAD_DATA);
    unlink(kit.path);
    cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    kit_exec(&kit, "PRAGMA user_version = 99");
    cr_expect_eq(refusal_of(kit.path), REPORT_BAD_DATA);
    cr_expect(strstr(sentence, "newer version"), "%s", sentence);
    kit_close(&kit);
}

Test(load, refuses_more_than_it_may_take) {
    struct kit kit;
    kit_open(&kit);
    for (int i = 0; i < 1000; i++) {
        struct nvtxt_event mark = kit_mark(i, "m");
        kit_add(&kit, 1, &mark);
    }
    kit_commit(&kit);
    options.max_memory = 64 * 1024;
    cr_expect_eq(refusal_of(kit.path), REPORT_TOO_LARGE);
    const char *needs = strstr(sentence, "needs ");
    unsigned kib = 0;
    cr_assert(needs && sscanf(needs, "needs %u KiB", &kib) == 1, "%s", sentence);
    cr_expect(kib >= 87 && kib < 128, "%u", kib); // 1,000 events of 88 bytes
    options.max_memory = (uint64_t)kib * 1024;
    report_capture_free(load_path(kit.path));
    kit_close(&kit);
}

static int asked;

static bool stop_later(void) {
    return ++asked > 2;
}

Test(load, stops_when_it_is_told_to) {
    struct kit kit;
    kit_open(&kit);
    for (int i = 0; i < 20000; i++) {
        struct nvtxt_event mark = kit_mark(i, "m");
        kit_add(&kit, 1, &mark);
    }
    kit_commit(&kit);
    asked = 0;
    options.interrupted = stop_later;
    cr_expect_eq(refusal_of(kit.path), REPORT_INTERRUPTED);
    kit_close(&kit);
}
