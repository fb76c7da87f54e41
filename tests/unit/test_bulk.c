// SPDX-License-Identifier: Apache-2.0
//
// The rows of NVTX_EVENTS and StringIds that a batch becomes.
#include "store/value/record.h"
#include "tests/unit/store_kit.h"

Test(bulk, writes_every_column_of_an_event) {
    struct kit kit;
    kit_open(&kit);
    struct nvtxt_event event = kit_range(100, 250, "My Message");
    event.category = 0xFFFFFFFF;
    event.color = 0xFF0000FF;
    event.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_INT64, {.int64 = INT64_MIN}};
    kit_add(&kit, 1, &event);
    event = kit_mark(INT64_MIN, "");
    event.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_DOUBLE, {.real = -0.25}};
    kit_add(&kit, 1, &event);
    event = kit_range(INT64_MAX, 3, "long after");
    event.type = NVTXT_EVENT_PUSH_POP;
    event.ended_elsewhere = true;
    event.end_pid = 0xFFFFFF;
    event.end_tid = 0xFFFFFF;
    kit_add(&kit, 1, &event);
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT start, end, eventType, rangeId = iif(eventType = 60, rowid, 0), text, "
                "category, color, globalTid, domainId, endGlobalTid, uint64Value, int64Value, "
                "doubleValue, uint32Value, int32Value, floatValue, jsonText FROM NVTX_EVENTS",
                "100|250|60|1|My Message|4294967295|4278190335|30937191184|0|NULL|NULL|"
                "-9223372036854775808|NULL|NULL|NULL|NULL|NULL "
                "-9223372036854775808|-9223372036854775808|34|1||0|0|30937191184|0|NULL|NULL|NULL|"
                "-0.25|NULL|NULL|NULL|NULL "
                "9223372036854775807|3|59|1|long after|0|0|30937191184|0|281474976710655|NULL|NULL|"
                "NULL|NULL|NULL|NULL|NULL");
    assert_rows(&kit,
                "SELECT DISTINCT globalTid / 0x1000000 % 0x1000000, globalTid % 0x1000000 "
                "FROM NVTX_EVENTS",
                "1844|4880");
    assert_rows(&kit,
                "SELECT DISTINCT typeof(start) || typeof(text) || typeof(textId) FROM "
                "NVTX_EVENTS",
                "integertextinteger");
    kit_close(&kit);
}

Test(bulk, keeps_a_payload_with_another_ending_thread) {
    struct kit kit;
    kit_open(&kit);
    struct nvtxt_event event = kit_range(1, 2, "a");
    event.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_INT64, {.int64 = 7}};
    event.ended_elsewhere = true;
    event.end_pid = 1;
    event.end_tid = 2;
    kit_add(&kit, 1, &event);
    event.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_DOUBLE, {.real = 7.5}};
    kit_add(&kit, 1, &event);
    event = kit_mark(3, "plain");
    kit_add(&kit, 1, &event);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT endGlobalTid, int64Value, doubleValue FROM NVTX_EVENTS",
                "16777218|7|NULL 16777218|NULL|7.5 NULL|NULL|NULL");
    assert_rows(&kit, "SELECT globalTid FROM ThreadNames ORDER BY 1", "16777218 30937191184");
    kit_close(&kit);
}

static const char *const columns[] = {"endGlobalTid", "int64Value", "doubleValue", "uint64Value",
                                      "uint32Value",  "int32Value", "floatValue",  "jsonText"};
#define COLUMNS ((int)(sizeof(columns) / sizeof(columns[0])))

// An event that fills the column with this number, or only the usual ones.
static struct nvtxt_event event_with(int column) {
    struct nvtxt_event event = kit_mark(column, "x");
    if (column == 0) {
        event.ended_elsewhere = true;
        event.end_tid = 9;
    } else if (column == COLUMNS - 1) {
        event.json = NVTXT_SLICE("{\"a\":1}");
    } else if (column > 0) {
        event.payload.kind = (enum nvtxt_payload_kind)column;
        event.payload.int64 = -3;
        if (event.payload.kind == NVTXT_PAYLOAD_DOUBLE ||
            event.payload.kind == NVTXT_PAYLOAD_FLOAT) {
            event.payload.real = -3.5;
        }
    }
    return event;
}

Test(bulk, writes_each_payload_into_the_column_of_its_kind) {
    struct kit kit;
    kit_open(&kit);
    for (int column = -1; column < COLUMNS; column++) {
        struct nvtxt_event event = event_with(column);
        kit_add(&kit, 1, &event);
    }
    kit_commit(&kit);
    for (int column = 0; column < COLUMNS; column++) {
        char sql[128];
        char expected[32];
        bool is_real = strcmp(columns[column], "doubleValue") == 0 ||
                       strcmp(columns[column], "floatValue") == 0;
        snprintf(sql, sizeof(sql), "SELECT start, %s FROM NVTX_EVENTS WHERE %s IS NOT NULL",
                 columns[column], columns[column]);
        snprintf(expected, sizeof(expected), "%d|%s", column,
                 column == 0             ? "9"
                 : column == COLUMNS - 1 ? "{\"a\":1}"
                 : is_real               ? "-3.5"
                                         : "-3");
        assert_rows(&kit, sql, expected);
    }
    kit_close(&kit);
}

Test(bulk, keeps_json_beside_a_payload_and_a_number_that_is_none_as_null) {
    struct kit kit;
    kit_open(&kit);
    struct nvtxt_event event = kit_mark(1, "x");
    event.json = NVTXT_SLICE("[2]");
    event.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_UINT32, {.int64 = UINT32_MAX}};
    kit_add(&kit, 1, &event);
    event = kit_range(2, 3, "x");
    event.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_FLOAT, {.real = 0.0 / 0.0}};
    event.ended_elsewhere = true;
    event.json = NVTXT_SLICE("null");
    kit_add(&kit, 1, &event);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT uint32Value, floatValue, jsonText, endGlobalTid FROM NVTX_EVENTS",
                "4294967295|NULL|[2]|NULL NULL|NULL|null|0");
    kit_close(&kit);
}

Test(bulk, fills_only_the_columns_that_an_event_has_in_every_mixture) {
    struct kit kit;
    kit_open(&kit);
    for (int mixture = 0; mixture < 1 << COLUMNS; mixture++) {
        for (int column = -1; column < COLUMNS; column++) {
            struct nvtxt_event event = event_with(column);
            event.start = event.end = mixture;
            if (column < 0 || mixture >> column & 1) {
                kit_add(&kit, 1, &event);
            }
        }
        kit_commit(&kit);
    }
    for (int column = 0; column < COLUMNS; column++) {
        char sql[200];
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) FROM (SELECT start, count(%s) AS filled FROM NVTX_EVENTS GROUP "
                 "BY start) WHERE filled <> start >> %d & 1",
                 columns[column], column);
        assert_rows(&kit, sql, "0");
    }
    assert_rows(&kit, "SELECT count(DISTINCT start) FROM NVTX_EVENTS", "256");
    kit_close(&kit);
}

static const char *const domains[] = {"", "Net", "Disk"}, *const words[] = {"", "a", "b"};

// A range, a mark or one of a stack, each of its values one of a few. `calm` is how many tenths of
// its columns stay at 0.
static struct nvtxt_event random_event(int64_t at, unsigned calm) {
    struct nvtxt_event event = event_with((unsigned)rand() % 10 < calm ? -1 : rand() % COLUMNS);
    event.type = (enum nvtxt_event_type[]){NVTXT_EVENT_START_END, NVTXT_EVENT_MARK,
                                           NVTXT_EVENT_PUSH_POP}[calm > 4 ? 1 : rand() % 3];
    event.start = at;
    event.end = at + rand() % 9;
    event.text = nvtxt_slice_of(words[rand() % 3]);
    event.category = (unsigned)rand() % 10 < calm ? 0 : (uint32_t)rand() % 3;
    event.color = (unsigned)rand() % 10 < calm ? 0 : 0xFF000000U + (uint32_t)rand() % 3;
    event.tid = (unsigned)rand() % 10 < calm ? 0 : (uint32_t)rand() % 3;
    event.domain = nvtxt_slice_of(domains[(unsigned)rand() % 10 < calm ? 0 : rand() % 3]);
    return event;
}

// The rows of names of domains, and the texts, come first.
static void open_with_domains(struct kit *kit) {
    kit_open(kit);
    for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
        struct nvtxt_event event = kit_mark(0, words[i]);
        event.domain = nvtxt_slice_of(domains[i]);
        kit_add(kit, 1, &event);
    }
    kit_commit(kit);
}

static void assert_same_events(const struct kit *kit, const struct kit *other) {
    char sql[400], *error = NULL;
    sqlite3 *db;
    sqlite3_stmt *stmt = NULL;
    cr_assert_eq(sqlite3_open(kit->path, &db), SQLITE_OK);
    snprintf(sql, sizeof(sql), "ATTACH '%s' AS other", other->path);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, &error), SQLITE_OK, "%s", error);
    snprintf(sql, sizeof(sql),
             "SELECT (SELECT count(*) FROM other.NVTX_EVENTS), (SELECT count(*) "
             "FROM (SELECT rowid, * FROM main.NVTX_EVENTS INTERSECT "
             "SELECT rowid, * FROM other.NVTX_EVENTS))");
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
    cr_assert_gt(sqlite3_column_int(stmt, 0), 0);
    cr_assert_eq(sqlite3_column_int(stmt, 0), sqlite3_column_int(stmt, 1));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

Test(bulk, writes_the_same_rows_in_small_batches_as_in_one) {
    struct kit kit, general;
    open_with_domains(&kit);
    open_with_domains(&general);
    int64_t at = 0;
    srand(32);
    for (int batch = 0; batch < 400; batch++) {
        unsigned calm = (unsigned)rand() % 11;
        for (int count = 1 + rand() % 6; count > 0; count--) {
            struct nvtxt_event event = random_event(at++, calm);
            kit_add(&kit, 1, &event);
            kit_add(&general, 1, &event);
        }
        kit_commit(&kit);
    }
    kit_commit(&general);
    assert_same_events(&kit, &general);
    kit_close(&kit);
    kit_close(&general);
}

Test(bulk, gives_start_end_ranges_ids_that_are_unique_in_the_store) {
    struct kit kit;
    kit_open(&kit);
    for (int i = 0; i < 30; i++) {
        struct nvtxt_event event = i % 3 ? kit_range(i, i + 1, "r") : kit_mark(i, "m");
        kit_add(&kit, i % 4, &event);
        if (i % 7 == 0) {
            kit_commit(&kit);
        }
    }
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT count(*), count(DISTINCT rangeId), min(rangeId) > 0 FROM NVTX_EVENTS "
                "WHERE eventType = 60",
                "20|20|1");
    assert_rows(&kit, "SELECT DISTINCT rangeId FROM NVTX_EVENTS WHERE eventType = 34", "0");
    kit_close(&kit);
}

Test(bulk, keeps_the_rows_of_a_source_together_and_says_whose_they_are) {
    struct kit kit;
    kit_open(&kit);
    for (int i = 0; i < 12; i++) {
        struct nvtxt_event event = kit_mark(i, i % 3 == 0 ? "0" : i % 3 == 1 ? "1" : "2");
        kit_add(&kit, 10 + i % 3, &event);
    }
    kit_commit(&kit);
    assert_rows(&kit, "SELECT firstRow, lastRow, sourceId FROM NVTXT_EVENT_SOURCES",
                "1|4|10 5|8|11 9|12|12");
    assert_rows(&kit,
                "SELECT count(*) FROM NVTX_EVENTS e JOIN NVTXT_EVENT_SOURCES s ON e.rowid BETWEEN "
                "s.firstRow AND s.lastRow WHERE text = s.sourceId - 10",
                "12");
    assert_rows(&kit, "SELECT start FROM NVTX_EVENTS WHERE text = '1'", "1 4 7 10");
    kit_close(&kit);
}

Test(bulk, interns_texts_and_fills_text_and_text_id_with_the_same) {
    struct kit kit;
    kit_open(&kit);
    for (int i = 0; i < 1000; i++) {
        char text[32];
        snprintf(text, sizeof(text), "message %d", i % 10);
        struct nvtxt_event event = kit_mark(i, i % 11 ? text : "");
        kit_add(&kit, 1, &event);
        if (i % 300 == 0) {
            kit_commit(&kit);
        }
    }
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT count(*) FROM NVTX_EVENTS e JOIN StringIds s ON s.id = e.textId WHERE "
                "s.value = e.text",
                "1000");
    assert_rows(&kit, "SELECT count(*) FROM StringIds WHERE value LIKE 'message%' OR value = ''",
                "11");
    kit_close(&kit);
}

Test(bulk, stays_right_when_more_texts_come_than_its_cache_holds) {
    struct kit kit;
    kit_open(&kit);
    for (int i = 0; i < 60000; i++) {
        char text[64];
        snprintf(text, sizeof(text), "a message that does not come again %d", i % 40000);
        struct nvtxt_event event = kit_mark(i, text);
        kit_add(&kit, 1, &event);
        if (i % 9000 == 0) {
            kit_commit(&kit);
        }
    }
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT count(*) FROM NVTX_EVENTS e JOIN StringIds s ON s.id = e.textId WHERE "
                "s.value = e.text",
                "60000");
    kit_close(&kit);
}

Test(bulk, keeps_texts_of_any_length_and_letters) {
    struct kit kit;
    kit_open(&kit);
    char *text = malloc(70001);
    memset(text, 'x', 70000);
    text[70000] = '\0';
    static const char *const texts[] = {"a'b\"c", "\xC3\xA9\xE2\x82\xAC", "100 %s ?1 $a"};
    for (size_t i = 0; i < 3; i++) {
        struct nvtxt_event event = kit_mark(1, texts[i]);
        kit_add(&kit, 1, &event);
    }
    struct nvtxt_event event = kit_mark(2, text);
    kit_add(&kit, 1, &event);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT text FROM NVTX_EVENTS WHERE start = 1",
                "a'b\"c \xC3\xA9\xE2\x82\xAC 100 %s ?1 $a");
    assert_rows(&kit, "SELECT length(text) FROM NVTX_EVENTS WHERE start = 2", "70000");
    free(text);
    kit_close(&kit);
}

Test(bulk, marks_events_whose_end_was_filled_in) {
    struct kit kit;
    kit_open(&kit);
    for (int i = 0; i < 6; i++) {
        struct nvtxt_event event = kit_range(i, 9, "r");
        event.unclosed = i == 2 || i == 5;
        kit_add(&kit, i % 2, &event);
    }
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT e.start FROM NVTXT_UNCLOSED u JOIN NVTX_EVENTS e ON e.rowid = u.eventRow "
                "ORDER BY 1",
                "2 5");
    kit_close(&kit);
}

Test(bulk, keeps_the_keys_of_ranges_with_their_rows) {
    struct kit kit;
    kit_open(&kit);
    for (int i = 0; i < 6; i++) {
        struct nvtxt_event event = kit_range(i, 9, "r");
        event.payload = (struct nvtxt_payload){.kind = NVTXT_PAYLOAD_INT64, .int64 = 7};
        event.key = nvtxt_slice_of(i == 2 ? "two" : i == 5 ? "five" : "");
        event.parent = nvtxt_slice_of(i == 5 ? "s:run" : "");
        kit_add(&kit, i % 2, &event);
    }
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT e.start, e.int64Value, k.sourceId, k.key, k.parent FROM NVTXT_RANGE_KEYS k "
                "JOIN NVTX_EVENTS e ON e.rowid = k.eventRow ORDER BY 1",
                "2|7|0|two|NULL 5|7|1|five|s:run");
    kit_close(&kit);
}

Test(bulk, writes_nothing_of_a_discarded_source) {
    struct kit kit;
    kit_open(&kit);
    struct store_source source = kit_source(2);
    struct nvtxt_event event = kit_mark(1, "kept");
    kit_add(&kit, 1, &event);
    event = kit_mark(2, "dropped");
    event.domain = NVTXT_SLICE("dropped domain");
    event.tid = 99;
    kit_add(&kit, 2, &event);
    store_batch_discard(store_batch_source(kit.batch, &source));
    kit_commit(&kit);
    assert_rows(&kit, "SELECT text FROM NVTX_EVENTS", "kept");
    assert_rows(&kit, "SELECT id FROM NVTXT_SOURCES", "1");
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_DOMAINS", "0");
    assert_rows(&kit, "SELECT count(*) FROM ThreadNames", "1");
    assert_rows(&kit, "SELECT count(*) FROM StringIds WHERE value = 'dropped'", "0");
    kit_close(&kit);
}

Test(bulk, fills_a_payload_of_the_source_that_has_one) {
    struct kit kit;
    kit_open(&kit);
    struct nvtxt_event event = kit_mark(1, "with a payload");
    event.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_INT64, {.int64 = 7}};
    kit_add(&kit, 1, &event);
    event = kit_mark(2, "without");
    kit_add(&kit, 2, &event);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT int64Value FROM NVTX_EVENTS", "7 NULL");
    kit_close(&kit);
}

struct hashed {
    uint32_t hash;
    int number;
};

static int by_hash(const void *a, const void *b) {
    uint32_t first = ((const struct hashed *)a)->hash;
    uint32_t second = ((const struct hashed *)b)->hash;
    return first < second ? -1 : first > second;
}

Test(bulk, distinguishes_texts_of_one_length_and_hash) {
    // Some of so many texts have the same hash of 32 bits: by chance two of 77,000 have.
    enum { COUNT = 500000 };
    struct hashed *all = malloc(COUNT * sizeof(*all));
    char text[32];
    for (int i = 0; i < COUNT; i++) {
        snprintf(text, sizeof(text), "text %06d", i);
        all[i] = (struct hashed){store_text_hash(text, 11), i};
    }
    qsort(all, COUNT, sizeof(*all), by_hash);
    struct kit kit;
    int pairs = 0;
    kit_open(&kit);
    for (int i = 1; i < COUNT; i++) {
        if (all[i].hash == all[i - 1].hash) {
            for (int j = i - 1; j <= i; j++) {
                snprintf(text, sizeof(text), "text %06d", all[j].number);
                struct nvtxt_event event = kit_mark(1, text);
                kit_add(&kit, 1, &event);
            }
            pairs++;
        }
    }
    cr_assert_gt(pairs, 0);
    kit_commit(&kit);
    cr_assert_eq(kit_int(&kit, "SELECT count(*) FROM NVTX_EVENTS e JOIN StringIds s ON s.id = "
                               "e.textId WHERE s.value = e.text"),
                 2 * pairs);
    free(all);
    kit_close(&kit);
}

Test(bulk, goes_on_when_somebody_added_a_column) {
    struct kit kit;
    kit_open(&kit);
    kit_exec(&kit, "ALTER TABLE NVTX_EVENTS ADD COLUMN note TEXT");
    struct nvtxt_event event = kit_mark(5, "text");
    kit_add(&kit, 1, &event);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT text, note IS NULL FROM NVTX_EVENTS", "text|1");
    kit_close(&kit);
}
