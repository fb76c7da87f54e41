// SPDX-License-Identifier: Apache-2.0
//
// The tables that readers expect, upgrades, and files that must not be changed.
#include <sys/stat.h>

#include "store/db/schema.h"
#include "store/db/sql.h"
#include "tests/unit/store_kit.h"

#define COLUMNS(table)                                                                             \
    "SELECT group_concat(name || ' ' || type || iif(\"notnull\", ' NOT NULL', '') || "             \
    "iif(pk, ' PK', ''), ', ') FROM pragma_table_info('" table "')"

struct bytes {
    char *data;
    size_t len;
};

static struct bytes read_file(const char *path) {
    struct bytes bytes = {0};
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file);
    cr_assert_eq(fseek(file, 0, SEEK_END), 0);
    bytes.len = (size_t)ftell(file);
    rewind(file);
    bytes.data = malloc(bytes.len + 1);
    cr_assert_eq(fread(bytes.data, 1, bytes.len, file), bytes.len);
    fclose(file);
    return bytes;
}

// Opening must fail with `result`, say `words`, and leave every byte of the file.
static void assert_left_alone(struct kit *kit, int result, const char *words) {
    struct bytes before = read_file(kit->path);
    cr_assert_eq(kit_reopen(kit), result, "%s", kit->error);
    cr_assert_null(kit->store);
    cr_assert_not_null(strstr(kit->error, words), "%s", kit->error);
    cr_assert_not_null(strstr(kit->error, kit->path), "%s", kit->error);
    struct bytes after = read_file(kit->path);
    cr_assert_eq(before.len, after.len);
    cr_assert_eq(memcmp(before.data, after.data, before.len), 0);
    free(before.data);
    free(after.data);
}

Test(schema, has_the_event_table_that_readers_expect) {
    struct kit kit;
    kit_open(&kit);
    assert_rows(&kit, COLUMNS("NVTX_EVENTS"),
                "start INT NOT NULL, end INT NOT NULL, eventType INT NOT NULL, "
                "rangeId INT NOT NULL, text TEXT NOT NULL, category INT NOT NULL, "
                "color INT NOT NULL, globalTid INT NOT NULL, domainId INT NOT NULL, "
                "endGlobalTid INTEGER, textId INTEGER, uint64Value INTEGER, int64Value INTEGER, "
                "doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, "
                "jsonText TEXT");
    assert_rows(&kit, COLUMNS("StringIds"), "id INTEGER PK, value TEXT NOT NULL");
    assert_rows(&kit, COLUMNS("ThreadNames"), "nameId INTEGER PK, globalTid INT NOT NULL");
    assert_rows(&kit, COLUMNS("PROCESSES"), "globalPid INTEGER, pid INTEGER, name TEXT");
    assert_rows(&kit, "SELECT count(*) FROM pragma_index_list('NVTX_EVENTS')", "0");
    kit_close(&kit);
}

Test(schema, has_our_tables_with_the_columns_of_the_page_first) {
    struct kit kit;
    kit_open(&kit);
    static const char *const tables[][2] = {
        {"NVTXT_SOURCES", "id,kind,sessionId,name,displayName,peerPid,peerUid,peerGid,peerComm,"
                          "openedNs,closedNs,ended,lines,events,warnings,errors,firstNs,lastNs"},
        {"NVTXT_DIAGNOSTICS", "sourceId,line,column,severity,stage,code,message,excerpt,atNs"},
        {"NVTXT_SESSIONS", "sessionId,sourceId,uid,line,state,seenNs,openBytes"},
        {"NVTXT_STATE", "sourceId,part,state"},
        {"NVTXT_OPEN_RANGES", "sourceId,globalTid,kind,depth,rangeId,start,text,category,color,"
                              "domainId,line,seq,column,excerpt,int64Value,doubleValue,uint64Value,"
                              "uint32Value,int32Value,floatValue,jsonText"},
        {"NVTXT_RESOURCES", "globalPid,domainId,kind,handle,name,sourceId"},
        {"NVTXT_COUNTERS", "globalPid,domainId,name,description,unit,json,sourceId"},
        {"NVTXT_UNCLOSED", "eventRow"},
        {"NVTXT_EVENT_SOURCES", "firstRow,lastRow,sourceId"},
        {"NVTXT_BATCHES", "id,firstRow,lastRow,minStart,maxEnd,committedNs"},
        {"NVTXT_CLOCKS", "clock,clockNs,realtimeNs,uncertaintyNs"},
        {"NVTXT_LOSSES", "atNs,sourceId,uid,pid,reason,count"},
    };
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        char sql[128];
        snprintf(sql, sizeof(sql), "SELECT group_concat(name, ',') FROM pragma_table_info('%s')",
                 tables[i][0]);
        const char *columns = kit_text(&kit, sql);
        cr_assert_eq(strncmp(columns, tables[i][1], strlen(tables[i][1])), 0, "%s: %s",
                     tables[i][0], columns);
    }
    kit_close(&kit);
}

Test(schema, says_what_it_is_and_that_the_timeline_is_unix_time) {
    struct kit kit;
    kit_open(&kit);
    assert_rows(&kit, "SELECT id, value FROM StringIds", "0|[Unknown]");
    assert_rows(&kit, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", "0");
    assert_rows(&kit, "SELECT id, name FROM ENUM_NSYS_EVENT_TYPE ORDER BY id",
                "33|NvtxCategory 34|NvtxMark 39|NvtxThread 59|NvtxPushPopRange "
                "60|NvtxStartEndRange 75|NvtxDomainCreate");
    assert_rows(&kit, "SELECT value FROM META_DATA_EXPORT WHERE name = 'PRODUCT_NAME'", "nvtxtd");
    assert_rows(&kit,
                "SELECT e.name, e.value = o.value FROM META_DATA_EXPORT e JOIN META_DATA_EXPORT o "
                "ON e.name = 'EXPORT_' || o.name ORDER BY e.name",
                "EXPORT_PRODUCT_NAME|1 EXPORT_PRODUCT_VERSION|1 EXPORT_SCHEMA_VERSION|1");
    assert_rows(&kit, "SELECT count(*) FROM ENUM_NSYS_EVENT_TYPE WHERE label IS NOT name", "0");
    assert_rows(&kit, "SELECT count(*) FROM META_DATA_EXPORT WHERE value LIKE '%nsys%'", "0");
    assert_rows(&kit, "PRAGMA application_id", "1314280536");
    assert_rows(&kit, "PRAGMA user_version", "7");
    assert_rows(&kit, "SELECT globalVid, duration, startTime, stopTime FROM ANALYSIS_DETAILS",
                "0|0|0|0");
    kit_close(&kit);
}

Test(schema, leaves_the_compatibility_views_out_on_request_and_brings_them_back) {
    static const char sql[] = "SELECT count(*) FROM sqlite_master WHERE type = 'view' AND name "
                              "LIKE 'CUPTI_%'";
    struct kit kit;
    kit_open(&kit);
    cr_assert_eq(kit_int(&kit, sql), 2);
    kit.options.no_cupti_views = true;
    cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    cr_assert_eq(kit_int(&kit, sql), 0);
    kit.options.no_cupti_views = false;
    cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    cr_assert_eq(kit_int(&kit, sql), 2);
    kit_close(&kit);
}

Test(schema, shows_one_kernel_of_no_length_per_process_and_no_runtime_call) {
    struct kit kit;
    kit_open(&kit);
    struct nvtxt_event event = kit_range(100, 200, "a");
    kit_add(&kit, 1, &event);
    event.pid = 5;
    kit_add(&kit, 1, &event);
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT start, \"end\", globalPid >> 24 FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 3",
                "100|100|5 100|100|1844");
    assert_rows(&kit, "SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME", "");
    kit_close(&kit);
}

Test(schema, shows_events_as_people_read_them) {
    struct kit kit;
    kit_open(&kit);
    struct store_source source = kit_source(1);
    source.name = "build.nvtxt";
    struct nvtxt_sink sink = kit_sink(&kit, &source);
    struct nvtxt_event event = kit_range(1700000000000000007, 1700000000000000107, "compile");
    event.category = 3;
    event.color = 0xFF00AA11;
    cr_assert_eq(sink.on_event(sink.context, &event), 0);
    event = kit_mark(-1, "before the epoch");
    cr_assert_eq(sink.on_event(sink.context, &event), 0);
    struct nvtxt_name name = {.kind = NVTXT_NAME_CATEGORY,
                              .text = NVTXT_SLICE("I/O"),
                              .category = 3,
                              .at = 7,
                              .at_pid = PID,
                              .at_tid = TID};
    kit_add_name(&kit, &source, &name);
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT utcTime, duration, kind, message, category, color, process, thread, source "
                "FROM NVTXT_TIMELINE",
                "2023-11-14T22:13:20.000000007Z|100|start/end|compile|I/O|#FF00AA11|Process 1844|"
                "Thread 4880|build.nvtxt 1969-12-31T23:59:59.999999999Z|0|mark|before the epoch|"
                "NULL|NULL|Process 1844|Thread 4880|build.nvtxt");
    kit_close(&kit);
}

Test(schema, shows_the_payload_of_whatever_type_or_the_json) {
    static const struct {
        struct nvtxt_payload payload;
        const char *json;
    } events[] = {
        {{NVTXT_PAYLOAD_NONE, {0}}, ""},
        {{NVTXT_PAYLOAD_INT64, {.int64 = -1}}, ""},
        {{NVTXT_PAYLOAD_DOUBLE, {.real = 0.5}}, "[1]"},
        {{NVTXT_PAYLOAD_UINT64, {.int64 = -1}}, ""},
        {{NVTXT_PAYLOAD_UINT64, {.int64 = 7}}, ""},
        {{NVTXT_PAYLOAD_UINT32, {.int64 = UINT32_MAX}}, ""},
        {{NVTXT_PAYLOAD_INT32, {.int64 = INT32_MIN}}, ""},
        {{NVTXT_PAYLOAD_FLOAT, {.real = 1.5}}, ""},
        {{NVTXT_PAYLOAD_NONE, {0}}, "{\"a\":1}"},
    };
    struct kit kit;
    kit_open(&kit);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct nvtxt_event event = kit_mark(1, "m");
        event.payload = events[i].payload;
        event.json = nvtxt_slice_of(events[i].json);
        kit_add(&kit, 1, &event);
    }
    kit_commit(&kit);
    assert_rows(&kit, "SELECT payload FROM NVTXT_TIMELINE",
                "NULL -1 0.5 18446744073709551615 7 4294967295 -2147483648 1.5 {\"a\":1}");
    kit_close(&kit);
}

Test(schema, sums_ranges_up_by_message_and_category) {
    struct kit kit;
    kit_open(&kit);
    for (int i = 1; i <= 3; i++) {
        struct nvtxt_event event = kit_range(1000, 1000 + i * 10, "a");
        kit_add(&kit, 1, &event);
    }
    struct nvtxt_event event = kit_range(1000, 1005, "a");
    event.category = 9;
    kit_add(&kit, 1, &event);
    event = kit_mark(1, "a");
    kit_add(&kit, 1, &event);
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT message, category, \"count\", total, mean, \"min\", \"max\" "
                "FROM NVTXT_RANGE_SUMMARY ORDER BY categoryId",
                "a|NULL|3|60|20.0|10|30 a|9|1|5|5.0|5|5");
    kit_close(&kit);
}

Test(schema, sums_up_ranges_whose_total_is_no_integer) {
    struct kit kit;
    kit_open(&kit);
    const int64_t now = 1700000000000000003; // what a range of a forgotten time base takes
    for (int i = 0; i < 6; i++) {
        struct nvtxt_event event = kit_range(0, now, i < 3 ? "three" : "six");
        kit_add(&kit, 1, &event);
        event = kit_range(0, now, "six");
        kit_add(&kit, 1, &event);
    }
    struct nvtxt_event event = kit_range(INT64_MIN, INT64_MAX, "all of time");
    kit_add(&kit, 1, &event);
    event = kit_range(100, 90, "backwards");
    kit_add(&kit, 1, &event);
    event = kit_range(now, 0, "backwards");
    kit_add(&kit, 1, &event);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT message, \"count\", total FROM NVTXT_RANGE_SUMMARY ORDER BY message",
                "all of time|1|1.84467440737096e+19 backwards|2|-1700000000000000013 "
                "six|9|1.53e+19 three|3|5100000000000000009");
    kit_close(&kit);
}

Test(schema, shows_the_last_hour_without_a_scan_of_the_events) {
    struct kit kit;
    kit_open(&kit);
    int64_t now = kit_int(&kit, "SELECT strftime('%s', 'now') * 1000000000");
    struct nvtxt_event event = kit_mark(now - 7200000000000, "old");
    kit_add(&kit, 1, &event);
    kit_commit(&kit);
    event = kit_mark(now - 60000000000, "new");
    kit_add(&kit, 1, &event);
    event = kit_mark(now - 7200000000000, "old in a new batch");
    kit_add(&kit, 1, &event);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT message FROM NVTXT_RECENT", "new");
    const char *plan =
        kit_text(&kit, "EXPLAIN QUERY PLAN SELECT utcTime, message FROM NVTXT_RECENT");
    cr_assert_not_null(strstr(plan, "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
                       "%s", plan);
    cr_assert_null(strstr(plan, "SCAN"), "%s", plan);
    // Less than the hour: batches that end before are not entered.
    plan = kit_text(&kit, "EXPLAIN QUERY PLAN SELECT message FROM NVTXT_RECENT "
                          "WHERE batchEnd >= 5 AND \"end\" >= 5");
    cr_assert_not_null(strstr(plan, "(maxEnd>?)"), "%s", plan);
    char sql[160];
    snprintf(sql, sizeof(sql), "SELECT message FROM NVTXT_RECENT WHERE batchEnd >= %lld",
             (long long)now);
    assert_rows(&kit, sql, "");
    kit_close(&kit);
}

// ---- Upgrades ---------------------------------------------------------------------------------

static int make_first(sqlite3 *db) {
    return sqlite3_exec(db, "CREATE TABLE t (a); INSERT INTO t VALUES (1)", NULL, NULL, NULL);
}

static int make_second(sqlite3 *db) {
    return sqlite3_exec(db, "ALTER TABLE t ADD COLUMN b; UPDATE t SET b = a + 1", NULL, NULL, NULL);
}

static int fail_halfway(sqlite3 *db) {
    int rc = sqlite3_exec(db, "UPDATE t SET b = 99", NULL, NULL, NULL);
    return rc != SQLITE_OK ? rc : SQLITE_FULL;
}

static int64_t ask(sqlite3 *db, const char *sql) {
    int64_t value;
    cr_assert_eq(store_sql_int(db, sql, &value), SQLITE_OK, "%s", sqlite3_errmsg(db));
    return value;
}

Test(schema, upgrades_an_older_version_step_by_step) {
    static const struct store_schema_step steps[] = {{make_first}, {make_second}};
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    cr_assert_eq(store_schema_upgrade(db, steps, 1), SQLITE_OK);
    cr_assert_eq(ask(db, "PRAGMA user_version"), 1);
    cr_assert_eq(store_schema_upgrade(db, steps, 2), SQLITE_OK);
    cr_assert_eq(ask(db, "PRAGMA user_version"), 2);
    cr_assert_eq(ask(db, "SELECT b FROM t"), 2);
    cr_assert_eq(ask(db, "SELECT count(*) FROM t"), 1);
    cr_assert_eq(store_schema_upgrade(db, steps, 2), SQLITE_OK); // nothing left to do
    cr_assert_eq(ask(db, "SELECT b FROM t"), 2);
    sqlite3_close(db);
}

Test(schema, leaves_the_last_whole_step_when_one_fails) {
    static const struct store_schema_step steps[] = {{make_first}, {make_second}, {fail_halfway}};
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    cr_assert_eq(store_schema_upgrade(db, steps, 3), SQLITE_FULL);
    cr_assert_eq(sqlite3_get_autocommit(db), 1);
    cr_assert_eq(ask(db, "PRAGMA user_version"), 2);
    cr_assert_eq(ask(db, "SELECT b FROM t"), 2);
    sqlite3_close(db);
}

// In place of another process that finishes the same upgrade while this one waits for its lock.
static int commit_other(void *other, int times) {
    return times == 0 && sqlite3_exec(other, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

Test(schema, leaves_out_a_step_that_another_process_took_meanwhile) {
    static const struct store_schema_step steps[] = {{make_first}};
    struct kit kit;
    sqlite3 *db;
    sqlite3 *other;
    kit_folder(&kit);
    cr_assert_eq(sqlite3_open(kit.path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_open(kit.path, &other), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(make_first(other), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(other, "PRAGMA user_version = 1", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_busy_handler(db, commit_other, other);
    cr_assert_eq(store_schema_upgrade(db, steps, 1), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_eq(ask(db, "SELECT count(*) FROM t"), 1);
    sqlite3_close(db);
    sqlite3_close(other);
    kit_close(&kit);
}

Test(schema, brings_a_store_of_the_first_version_up_to_date) {
    struct kit kit;
    sqlite3 *db;
    kit_folder(&kit);
    cr_assert_eq(sqlite3_open(kit.path, &db), SQLITE_OK);
    cr_assert_eq(store_schema_upgrade(db, store_schema_steps, 1), SQLITE_OK);
    cr_assert_eq(ask(db, "PRAGMA user_version"), 1);
    sqlite3_close(db);
    kit_exec(&kit, "INSERT INTO NVTXT_SOURCES (id, events) VALUES (7, 3)");
    cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
    assert_rows(&kit, "PRAGMA user_version", "7");
    assert_rows(&kit, "SELECT id, events, priorEvents IS NULL FROM NVTXT_SOURCES", "7|3|1");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_SEGMENT", "0");
    assert_rows(&kit, "SELECT value FROM META_DATA_EXPORT WHERE name = 'SCHEMA_VERSION'", "7");
    cr_assert_eq(store_next_source_id(kit.store), 8);
    kit_close(&kit);
}

// A store of version 3: a category that one process named for all of them, and the views of that
// version.
static const char third_version[] =
    "INSERT INTO NVTX_EVENTS (rowid, start, \"end\", eventType, rangeId, text, category, color, "
    "globalTid, domainId) VALUES (1, 5, 5, 33, 0, 'I/O', 7, 0, 5 << 24 | 1, 0), "
    "(2, 5, 5, 34, 0, 'of 5', 7, 0, 5 << 24 | 1, 0), (3, 6, 6, 34, 0, 'of 6', 7, 0, 6 << 24, 0), "
    "(4, 7, 7, 34, 0, 'none', 8, 0, 6 << 24, 0);"
    "INSERT INTO NVTXT_NAME_ROWS VALUES (33, 0, 7, 1);"
    "INSERT INTO NVTXT_SOURCES (id, kind, events) VALUES (7, 'plain', 3);"
    "UPDATE ENUM_NSYS_EVENT_TYPE SET label = 'NVTX mark';"
    "CREATE VIEW NVTXT_TIMELINE AS SELECT text FROM NVTX_EVENTS;"
    "CREATE VIEW ANALYSIS_DETAILS AS SELECT 7 AS startTime";

Test(schema, brings_a_store_of_the_third_version_up_to_date) {
    struct kit kit;
    sqlite3 *db;
    kit_folder(&kit);
    cr_assert_eq(sqlite3_open(kit.path, &db), SQLITE_OK);
    cr_assert_eq(store_schema_upgrade(db, store_schema_steps, 3), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, third_version, NULL, NULL, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(db));
    sqlite3_close(db);
    cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
    assert_rows(&kit, "PRAGMA user_version", "7");
    assert_rows(&kit, "SELECT id, events, levels FROM NVTXT_SOURCES", "7|3|NULL");
    assert_rows(&kit, "SELECT message, category, level FROM NVTXT_TIMELINE",
                "of 5|I/O|NULL of 6|I/O|NULL none|8|NULL");
    assert_rows(&kit,
                "SELECT kind, domainId, key - (5 << 32), row FROM NVTXT_NAME_ROWS "
                "WHERE kind = 3",
                "3|0|7|1");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_RECENT", "0");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_RANGE_SUMMARY", "0");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_OWNERS", "0");
    assert_rows(&kit, "SELECT name, label FROM ENUM_NSYS_EVENT_TYPE WHERE id = 34",
                "NvtxMark|NvtxMark");
    assert_rows(&kit, "SELECT value FROM META_DATA_EXPORT WHERE name LIKE '%SCHEMA_VERSION'",
                "7 7");
    kit_close(&kit);
}

// A store of version 4, as its daemon was killed: an open range, and the views of that version.
static const char fourth_version[] =
    "INSERT INTO NVTXT_SOURCES (id, kind, sessionId, lines, events) VALUES (7, 'session', 's', 3, "
    "0);"
    "INSERT INTO NVTXT_SESSIONS (sessionId, sourceId, line, state, seenNs) VALUES ('s', 7, 3, '', "
    "1);"
    "INSERT INTO NVTXT_OPEN_RANGES (sourceId, globalTid, kind, depth, start, text, category, "
    "color, "
    "domainId, line, seq, \"column\", excerpt, int64Value) VALUES (7, 5 << 24 | 1, 59, 0, 5, "
    "'open', "
    "0, 0, 0, 3, 1, 1, 'x', -4);"
    "CREATE VIEW NVTXT_TIMELINE AS SELECT text FROM NVTX_EVENTS;"
    "CREATE VIEW NVTXT_RECENT AS SELECT 1; CREATE VIEW NVTXT_RANGE_SUMMARY AS SELECT 1;"
    "CREATE VIEW ANALYSIS_DETAILS AS SELECT 7 AS startTime";

Test(schema, brings_a_store_of_the_fourth_version_up_to_date) {
    struct kit kit;
    struct store_session session;
    sqlite3 *db;
    kit_folder(&kit);
    cr_assert_eq(sqlite3_open(kit.path, &db), SQLITE_OK);
    cr_assert_eq(store_schema_upgrade(db, store_schema_steps, 4), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, fourth_version, NULL, NULL, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(db));
    cr_assert_eq(store_schema_cupti(db, true), SQLITE_OK);
    sqlite3_close(db);
    cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
    assert_rows(&kit, "PRAGMA user_version", "7");
    assert_rows(&kit, "SELECT value FROM META_DATA_EXPORT WHERE name LIKE '%SCHEMA_VERSION'",
                "7 7");
    cr_assert_eq(store_session_load(kit.store, "s", -1, false, 0, &session), STORE_DONE);
    cr_assert_eq(session.range_count, 1);
    cr_assert_eq(session.ranges[0].payload.kind, NVTXT_PAYLOAD_INT64);
    cr_assert_eq(session.ranges[0].payload.int64, -4);
    cr_assert_eq(session.ranges[0].json.len, 0);
    store_session_deinit(&session);
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_RESOURCES", "0");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_COUNTERS", "0");
    assert_rows(&kit, "SELECT count(*) FROM sqlite_master WHERE type = 'view'", "7");
    struct nvtxt_event event = kit_mark(5, "m");
    event.json = NVTXT_SLICE("[1]");
    kit_add(&kit, 8, &event);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT message, payload FROM NVTXT_TIMELINE", "m|[1]");
    kit_close(&kit);
}

// A store of version 5: sessions had their id alone as key.
static const char fifth_version[] =
    "INSERT INTO NVTXT_SOURCES (id, kind, sessionId, lines, events, peerUid) VALUES "
    "(7, 'session', 's', 3, 0, 1000), (8, 'session', 't', 4, 0, NULL);"
    "INSERT INTO NVTXT_SESSIONS (sessionId, sourceId, uid, line, state, seenNs, openBytes) VALUES "
    "('s', 7, NULL, 3, '{}', 1, 9), ('t', 8, 2000, 4, '[]', 2, 0)";

Test(schema, brings_a_store_of_the_fifth_version_up_to_date) {
    struct kit kit;
    sqlite3 *db;
    kit_folder(&kit);
    cr_assert_eq(sqlite3_open(kit.path, &db), SQLITE_OK);
    cr_assert_eq(store_schema_upgrade(db, store_schema_steps, 5), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, fifth_version, NULL, NULL, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(db));
    sqlite3_close(db);
    cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
    assert_rows(&kit, "PRAGMA user_version", "7");
    assert_rows(&kit,
                "SELECT sessionId, sourceId, uid, line, state, seenNs, openBytes FROM "
                "NVTXT_SESSIONS ORDER BY sourceId",
                "s|7|1000|3|{}|1|9 t|8|2000|4|[]|2|0");
    assert_rows(&kit, "SELECT name FROM pragma_table_info('NVTXT_SESSIONS') WHERE pk ORDER BY pk",
                "uid sessionId");
    assert_rows(&kit, "SELECT count(*) FROM sqlite_master WHERE name = 'sessionsBefore'", "0");
    kit_exec(&kit, "INSERT INTO NVTXT_SESSIONS (sessionId, sourceId, uid) VALUES ('s', 9, 2000)");
    kit_close(&kit);
}

// A store of version 6: no source had a parent. Its views are dropped and made again.
Test(schema, brings_a_store_of_the_sixth_version_up_to_date) {
    struct kit kit;
    sqlite3 *db;
    kit_folder(&kit);
    cr_assert_eq(sqlite3_open(kit.path, &db), SQLITE_OK);
    cr_assert_eq(store_schema_upgrade(db, store_schema_steps, 6), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db,
                              "INSERT INTO NVTXT_SOURCES (id, kind, events) VALUES (7, 'plain', 0);"
                              "CREATE VIEW NVTXT_TIMELINE AS SELECT 1",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    sqlite3_close(db);
    cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
    assert_rows(&kit, "PRAGMA user_version", "7");
    assert_rows(&kit, "SELECT id, parent FROM NVTXT_SOURCES", "7|NULL");
    struct nvtxt_event event = kit_range(5, 6, "r");
    event.key = NVTXT_SLICE("k");
    kit_add(&kit, 8, &event);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT eventRow, sourceId, key, parent FROM NVTXT_RANGE_KEYS", "1|8|k|NULL");
    assert_rows(&kit, "SELECT message FROM NVTXT_TIMELINE", "r");
    kit_close(&kit);
}

// ---- Files that are not ours ------------------------------------------------------------------

Test(schema, refuses_a_newer_store_and_leaves_it_alone) {
    struct kit kit;
    kit_open(&kit);
    store_close(kit.store);
    kit.store = NULL;
    kit_exec(&kit, "PRAGMA journal_mode = DELETE; PRAGMA user_version = 99");
    assert_left_alone(&kit, STORE_NEWER, "newer version");
    kit_close(&kit);
}

Test(schema, refuses_a_newer_store_whose_version_is_still_in_its_wal) {
    struct kit kit;
    kit_open(&kit);
    store_close(kit.store);
    kit.store = NULL;
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(kit.path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    cr_assert_eq(sqlite3_exec(db, "PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 99", NULL,
                              NULL, NULL),
                 SQLITE_OK);
    sqlite3_close(db);
    assert_left_alone(&kit, STORE_NEWER, "newer version");
    kit_close(&kit);
}

Test(schema, refuses_a_database_with_another_application_id) {
    struct kit kit;
    kit_folder(&kit);
    kit_exec(&kit, "PRAGMA application_id = 77; CREATE TABLE mine (a)");
    assert_left_alone(&kit, STORE_FOREIGN, "another application");
    kit_close(&kit);
}

Test(schema, refuses_a_database_with_foreign_tables) {
    struct kit kit;
    kit_folder(&kit);
    kit_exec(&kit, "CREATE TABLE NVTX_EVENTS (start INT); CREATE TABLE mine (a)");
    assert_left_alone(&kit, STORE_FOREIGN, "another application");
    kit_close(&kit);
}

Test(schema, refuses_foreign_tables_that_are_still_in_a_wal) {
    struct kit kit;
    kit_folder(&kit);
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(kit.path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    cr_assert_eq(
        sqlite3_exec(db, "PRAGMA journal_mode = WAL; CREATE TABLE mine (a)", NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    assert_left_alone(&kit, STORE_FOREIGN, "another application");
    kit_close(&kit);
}

Test(schema, refuses_what_is_no_database) {
    static const char *const contents[] = {"short", "This text is long enough to be taken for the "
                                                    "first hundred and eight bytes of a database "
                                                    "by somebody who does not look at it closely."};
    for (size_t i = 0; i < 2; i++) {
        struct kit kit;
        kit_folder(&kit);
        FILE *file = fopen(kit.path, "wb");
        fputs(contents[i], file);
        fclose(file);
        assert_left_alone(&kit, STORE_CORRUPT, "not a database");
        kit_close(&kit);
    }
}

Test(schema, refuses_a_store_that_lacks_a_part_of_a_page) {
    struct kit kit;
    struct stat status;
    kit_open(&kit);
    store_close(kit.store);
    kit.store = NULL;
    cr_assert_eq(stat(kit.path, &status), 0);
    cr_assert_eq(truncate(kit.path, status.st_size - 1), 0);
    assert_left_alone(&kit, STORE_CORRUPT, "a broken one");
    kit_close(&kit);
}

Test(schema, takes_a_short_store_whose_log_has_the_rest) {
    struct kit kit;
    struct stat status;
    kit_open(&kit);
    for (int i = 0; i < 3000; i++) {
        struct nvtxt_event event = kit_mark(1000 + i, "text");
        kit_add(&kit, 1, &event);
    }
    kit_commit(&kit);
    store_abandon(kit.store);
    kit.store = NULL;
    cr_assert_eq(stat(kit.path, &status), 0);
    FILE *file =
        fopen(kit.path, "r+b"); // as if a checkpoint had come as far as the number of pages
    cr_assert_eq(fseek(file, 28, SEEK_SET), 0);
    fwrite("\0\0\1\0", 1, 4, file);
    fclose(file);
    cr_assert_lt(status.st_size, 256 * 4096);
    cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "3000");
    assert_rows(&kit, "PRAGMA integrity_check", "ok");
    kit_close(&kit);
}

Test(schema, takes_an_empty_file_and_an_empty_database) {
    struct kit kit;
    kit_folder(&kit);
    fclose(fopen(kit.path, "wb"));
    cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
    kit_close(&kit);
    kit_folder(&kit);
    kit_exec(&kit, "PRAGMA journal_mode = WAL; CREATE TABLE a (b); DROP TABLE a; VACUUM");
    cr_assert_eq(kit_reopen(&kit), STORE_DONE, "%s", kit.error);
    cr_assert_eq(kit_int(&kit, "SELECT count(*) FROM NVTX_EVENTS"), 0);
    kit_close(&kit);
}
