// SPDX-License-Identifier: Apache-2.0
//
// Rows of NVTX_EVENTS that come as whole records: each value as SQLite itself would have written
// it, whatever their size and number.
#include "store/write/event_pages.h"

#include <math.h>

#include "store/store_state.h"
#include "tests/unit/store_kit.h"

// SQLite writes all rows again, from their values, into a table beside; both take as many bytes.
static void assert_as_sqlite_writes(struct kit *kit) {
    static const char again[] =
        "ATTACH ':memory:' AS again;"
        "CREATE TABLE again.NVTX_EVENTS (start INT NOT NULL, end INT NOT NULL, "
        "eventType INT NOT NULL, rangeId INT NOT NULL, text TEXT NOT NULL, category INT NOT NULL, "
        "color INT NOT NULL, globalTid INT NOT NULL, domainId INT NOT NULL, endGlobalTid INTEGER, "
        "textId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, "
        "uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonText TEXT);"
        "INSERT INTO again.NVTX_EVENTS SELECT * FROM main.NVTX_EVENTS ORDER BY rowid";
    static const char sizes[] =
        "SELECT (SELECT sum(payload) FROM dbstat('main') WHERE name = 'NVTX_EVENTS') = "
        "(SELECT sum(payload) FROM dbstat('again') WHERE name = 'NVTX_EVENTS'), "
        "(SELECT count(*) FROM main.NVTX_EVENTS) = (SELECT count(*) FROM (SELECT rowid, * FROM "
        "main.NVTX_EVENTS INTERSECT SELECT rowid, * FROM again.NVTX_EVENTS))";
    sqlite3 *db;
    sqlite3_stmt *stmt = NULL;
    char *error = NULL;
    assert_rows(kit, "PRAGMA integrity_check", "ok");
    cr_assert_eq(sqlite3_open(kit->path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, again, NULL, NULL, &error), SQLITE_OK, "%s", error);
    int rc = sqlite3_prepare_v2(db, sizes, -1, &stmt, NULL);
    if (rc == SQLITE_OK) { // else this SQLite has no dbstat
        cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW, "%s", sqlite3_errmsg(db));
        cr_assert_eq(sqlite3_column_int(stmt, 0), 1, "records have other sizes");
        cr_assert_eq(sqlite3_column_int(stmt, 1), 1);
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

static struct nvtxt_event with_int(int64_t at, int64_t value) {
    struct nvtxt_event event = kit_range(at, value, "number");
    event.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_INT64, {.int64 = value}};
    return event;
}

static struct nvtxt_event with_real(int64_t at, double value) {
    struct nvtxt_event event = kit_mark(at, "real");
    event.payload = (struct nvtxt_payload){NVTXT_PAYLOAD_DOUBLE, {.real = value}};
    return event;
}

// Each number of bits, and what is beside it.
Test(event_pages, writes_integers_of_every_size) {
    struct kit kit;
    kit_open(&kit);
    int64_t at = 0;
    for (unsigned bits = 0; bits < 64; bits++) {
        for (int64_t beside = -2; beside <= 2; beside++) {
            uint64_t value = (UINT64_C(1) << bits) + (uint64_t)beside;
            struct nvtxt_event event = with_int(at++, (int64_t)value);
            kit_add(&kit, 1, &event);
            event = with_int(at++, -(int64_t)(value & INT64_MAX));
            kit_add(&kit, 1, &event);
        }
    }
    kit_commit(&kit);
    assert_rows(&kit, "SELECT count(*), sum(end = int64Value), max(end), min(end) FROM NVTX_EVENTS",
                "640|640|9223372036854775807|-9223372036854775808");
    assert_rows(&kit,
                "SELECT count(*) FROM NVTX_EVENTS a JOIN NVTX_EVENTS b ON b.start = a.start + 1 "
                "WHERE a.start % 2 = 0 AND a.end > 0 AND a.end <> -b.end",
                "0");
    assert_as_sqlite_writes(&kit);
    kit_close(&kit);
}

Test(event_pages, writes_reals_as_their_column_keeps_them) {
    static const double values[] = {0.0,
                                    -0.0,
                                    0.5,
                                    -1,
                                    1,
                                    255,
                                    140737488355327.0,
                                    1e300,
                                    5e-324,
                                    1e15,
                                    3.5,
                                    INFINITY,
                                    -INFINITY,
                                    140737488355328.0,
                                    -140737488355328.0,
                                    -140737488355329.0};
    struct kit kit;
    kit_open(&kit);
    size_t count = sizeof(values) / sizeof(values[0]);
    for (size_t i = 0; i < count; i++) {
        struct nvtxt_event event = with_real((int64_t)i, values[i]);
        kit_add(&kit, 1, &event);
    }
    struct nvtxt_event event = with_real((int64_t)count, NAN);
    kit_add(&kit, 1, &event);
    kit_commit(&kit);
    for (size_t i = 0; i < count; i++) {
        char sql[80];
        snprintf(sql, sizeof(sql), "SELECT doubleValue FROM NVTX_EVENTS WHERE start = %zu", i);
        bool is_short = fabs(values[i]) < 1e20; // its text has all its digits
        cr_assert(!is_short || strtod(kit_text(&kit, sql), NULL) == values[i], "%g came back as %s",
                  values[i], kit.text);
    }
    assert_rows(&kit, "SELECT DISTINCT typeof(doubleValue) FROM NVTX_EVENTS", "real null");
    assert_rows(&kit,
                "SELECT count(*) FROM NVTX_EVENTS WHERE doubleValue IN (9e999, -9e999, 1e300, "
                "5e-324)",
                "4");
    assert_as_sqlite_writes(&kit);
    kit_close(&kit);
}

static void add_text(struct kit *kit, size_t len, size_t json_len) {
    char *text = malloc(len + json_len + 1);
    for (size_t i = 0; i < len + json_len; i++) {
        text[i] = (char)('a' + i % 23 + (i * i >> 9) % 3);
    }
    struct nvtxt_event event = kit_mark((int64_t)len, "");
    event.end = (int64_t)json_len;
    event.text = (struct nvtxt_slice){text, len};
    event.json = (struct nvtxt_slice){text + len, json_len};
    kit_add(kit, 1 + len % 2, &event);
    free(text);
}

static void assert_texts(struct kit *kit) {
    assert_rows(kit,
                "SELECT count(*) FROM NVTX_EVENTS e JOIN StringIds s ON s.id = e.textId WHERE "
                "length(e.text) <> e.start OR e.text <> s.value OR "
                "length(ifnull(e.jsonText, '')) <> e.end",
                "0");
    assert_as_sqlite_writes(kit);
}

Test(event_pages, writes_texts_of_every_length) {
    struct kit kit;
    kit_open(&kit);
    for (size_t len = 0; len < 300; len++) {
        add_text(&kit, len, 0);
        add_text(&kit, 4000 + len, len * 30);
    }
    kit_commit(&kit);
    assert_texts(&kit);
    kit_close(&kit);
}

// Around the size of a record that fits into a leaf, and of one that fills its last page.
Test(event_pages, writes_texts_that_leave_their_page) {
    struct kit kit;
    kit_open(&kit);
    for (size_t len = 65360; len < 65540; len += len < 65410 || len > 65470 ? 5 : 1) {
        add_text(&kit, len, 0);
    }
    for (size_t len = 130920; len < 131080; len += 4) {
        add_text(&kit, len, 0);
    }
    for (size_t len = 73600; len < 73800; len += 5) {
        add_text(&kit, len, 0);
    }
    add_text(&kit, 3, 500000);
    add_text(&kit, 40000, 40000);
    add_text(&kit, 1 << 20, 7);
    add_text(&kit, 5, 0);
    kit_commit(&kit);
    assert_texts(&kit);
    kit_close(&kit);
}

static void add_many(struct kit *kit, int64_t from, int count) {
    for (int i = 0; i < count; i++) {
        struct nvtxt_event event = kit_range(from + i, i, i % 50 ? "short" : "a longer text of it");
        kit_add(kit, 1 + i / 7 % 3, &event);
    }
}

#define IN_ORDER                                                                                   \
    "SELECT count(*), sum(rangeId = rowid), (SELECT count(*) FROM NVTX_EVENTS a JOIN NVTX_EVENTS " \
    "b ON b.rowid = a.rowid + 1 WHERE b.start <= a.start AND b.start / 7 % 3 = a.start / 7 % 3) "  \
    "FROM NVTX_EVENTS"

Test(event_pages, writes_more_events_than_a_page_holds) {
    struct kit kit;
    kit_open(&kit);
    add_many(&kit, 0, 21000);
    kit_commit(&kit);
    assert_rows(&kit, IN_ORDER, "21000|21000|0");
    assert_rows(&kit, "SELECT count(DISTINCT start) FROM NVTX_EVENTS", "21000");
    assert_as_sqlite_writes(&kit);
    kit_close(&kit);
}

Test(event_pages, goes_on_in_another_table_when_one_has_no_page_left) {
    struct kit kit;
    kit_open(&kit);
    kit.store->bulk.pages.leaves_most = 7;
    add_many(&kit, 0, 21000);
    for (size_t len = 65530; len < 65536; len++) {
        add_text(&kit, len, 0);
    }
    kit_commit(&kit);
    cr_assert_gt(kit.store->bulk.pages.tables, 5);
    assert_rows(&kit, "SELECT count(*), count(DISTINCT start) FROM NVTX_EVENTS", "21006|21006");
    assert_as_sqlite_writes(&kit);
    kit_close(&kit);
}

// SQLite never reads the page at 2^30 bytes, which has its locks.
Test(event_pages, leaves_the_page_of_locks_out) {
    struct kit kit;
    kit_open(&kit);
    for (uint32_t page = 16380; page <= 16386; page++) {
        add_text(&kit, 150000, 0); // three pages
        add_many(&kit, 0, 1000);
        cr_assert_eq(store_begin(kit.store), STORE_DONE);
        kit.store->bulk.pages.next_page = page;
        int r = store_write(kit.store, kit.batch);
        cr_assert_eq(r, STORE_DONE, "from page %u: %s", page, store_error(kit.store));
        cr_assert_eq(store_commit(kit.store), STORE_DONE);
        store_batch_reset(kit.batch);
    }
    assert_rows(&kit, "SELECT count(*), sum(length(text) = 150000) FROM NVTX_EVENTS", "7007|7");
    assert_as_sqlite_writes(&kit);
    kit_close(&kit);
}

static void write_again(struct kit *kit) {
    cr_assert_eq(store_write(kit->store, kit->batch), STORE_DONE, "%s", store_error(kit->store));
    store_batch_reset(kit->batch);
}

Test(event_pages, writes_many_batches_in_a_transaction_until_it_is_full) {
    struct kit kit;
    int64_t at = 0;
    int batches = 0;
    kit_open(&kit);
    for (int round = 0; round < 4; round++) {
        cr_assert_eq(store_begin(kit.store), STORE_DONE);
        for (batches = 0; !store_is_full(kit.store); batches++, at += 500) {
            add_many(&kit, at, 500);
            write_again(&kit);
        }
        cr_assert_eq(batches, STORE_EVENT_TABLES - STORE_EVENT_TABLES_LEFT);
        if (round == 1) { // these come again
            store_rollback(kit.store);
            at -= batches * 500;
        } else {
            cr_assert_eq(store_commit(kit.store), STORE_DONE);
        }
    }
    char expected[40];
    snprintf(expected, sizeof(expected), "%d|%d", batches * 1500, batches * 1500);
    assert_rows(&kit, "SELECT count(*), count(DISTINCT start) FROM NVTX_EVENTS", expected);
    assert_as_sqlite_writes(&kit);
    kit_close(&kit);
}

// SQLite does not give the lock of a file back while a statement of the connection reads.
Test(event_pages, writes_new_events_while_a_statement_reads) {
    struct kit kit;
    sqlite3_stmt *stmt = NULL;
    kit_open(&kit);
    add_many(&kit, 0, 20);
    kit_commit(&kit);
    cr_assert_eq(sqlite3_prepare_v2(kit.store->db, "SELECT * FROM NVTX_EVENTS", -1, &stmt, NULL),
                 SQLITE_OK);
    cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
    for (int64_t at = 20; at < 100; at += 20) {
        add_many(&kit, at, 20);
        kit_commit(&kit);
    }
    sqlite3_finalize(stmt);
    add_many(&kit, 100, 20);
    kit_commit(&kit);
    cr_assert_eq(kit.store->bulk.pages.tables, 1);
    assert_rows(&kit, "SELECT count(*), count(DISTINCT start) FROM NVTX_EVENTS", "120|120");
    kit_close(&kit);
}

Test(event_pages, refuses_a_batch_that_has_fewer_events_than_it_counts) {
    struct kit kit;
    kit_open(&kit);
    add_many(&kit, 0, 5);
    kit.batch->events++;
    cr_assert_eq(store_begin(kit.store), STORE_DONE);
    cr_assert_eq(store_write(kit.store, kit.batch), STORE_FAILED);
    store_rollback(kit.store);
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "0");
    kit_close(&kit);
}

Test(event_pages, refuses_a_batch_without_a_table_and_goes_on) {
    struct kit kit;
    kit_open(&kit);
    add_many(&kit, 0, 5);
    cr_assert_eq(store_begin(kit.store), STORE_DONE);
    for (int i = 0; i < STORE_EVENT_TABLES; i++) {
        cr_assert_eq(store_write(kit.store, kit.batch), STORE_DONE);
    }
    cr_assert_eq(store_write(kit.store, kit.batch), STORE_FAILED);
    store_rollback(kit.store);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT count(*) FROM NVTX_EVENTS", "5");
    kit_close(&kit);
}

// What others may do to the table between two transactions.
Test(event_pages, writes_into_a_table_that_somebody_changed) {
    struct kit kit;
    kit_open(&kit);
    add_many(&kit, 0, 20);
    kit_commit(&kit);
    kit_exec(&kit, "CREATE INDEX theirs ON NVTX_EVENTS (text)");
    add_many(&kit, 20, 20);
    kit_commit(&kit);
    kit_exec(&kit, "ALTER TABLE NVTX_EVENTS ADD COLUMN theirs INT DEFAULT 7");
    add_many(&kit, 40, 20);
    kit_commit(&kit);
    kit_exec(&kit, "CREATE TABLE seen (at); CREATE TRIGGER see AFTER INSERT ON NVTX_EVENTS BEGIN "
                   "INSERT INTO seen VALUES (new.start); END");
    add_many(&kit, 60, 20);
    kit_commit(&kit);
    add_many(&kit, 80, 20);
    kit_commit(&kit);
    assert_rows(&kit,
                "SELECT count(*), count(DISTINCT start), sum(theirs), sum(rangeId = rowid), "
                "(SELECT count(*) FROM seen), (SELECT min(at) FROM seen) FROM NVTX_EVENTS",
                "100|100|700|100|40|60");
    assert_rows(&kit, "PRAGMA integrity_check", "ok");
    kit_close(&kit);
}

static void add_payload(struct kit *kit) {
    struct nvtxt_event event = with_int(1, 7);
    event.category = 9;
    kit_add(kit, 1, &event);
    kit_commit(kit);
}

// As programs do that cannot ALTER a table: they fill another one and rename it.
Test(event_pages, writes_columns_that_somebody_put_in_another_order) {
    struct kit kit;
    kit_open(&kit);
    add_payload(&kit);
    kit_exec(&kit,
             "PRAGMA legacy_alter_table = ON;"
             "CREATE TABLE again (start INT NOT NULL, end INT NOT NULL, eventType INT NOT NULL, "
             "rangeId INT NOT NULL, text TEXT NOT NULL, color INT NOT NULL, category INT NOT NULL, "
             "globalTid INT NOT NULL, domainId INT NOT NULL, endGlobalTid INTEGER, "
             "textId INTEGER, int64Value INTEGER, uint64Value INTEGER, doubleValue REAL, "
             "uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonText TEXT);"
             "INSERT INTO again SELECT start, end, eventType, rangeId, text, color, category, "
             "globalTid, domainId, endGlobalTid, textId, int64Value, uint64Value, doubleValue, "
             "uint32Value, int32Value, floatValue, jsonText FROM NVTX_EVENTS;"
             "DROP TABLE NVTX_EVENTS; ALTER TABLE again RENAME TO NVTX_EVENTS");
    add_payload(&kit);
    assert_rows(&kit, "SELECT category, color, int64Value, uint64Value FROM NVTX_EVENTS",
                "9|0|7|NULL 9|0|7|NULL");
    cr_assert_eq(kit_reopen(&kit), STORE_DONE);
    add_payload(&kit);
    assert_rows(&kit, "SELECT sum(category), sum(int64Value) FROM NVTX_EVENTS", "27|21");
    kit_close(&kit);
}
