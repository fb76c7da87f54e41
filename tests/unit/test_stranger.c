// SPDX-License-Identifier: Apache-2.0
//
// What a foreign schema can do to a program that opens its file.
#include "store/db/header.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <string.h>

static sqlite3 *make(const char *sql) {
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    return db;
}

static void harm(sqlite3_context *context, int count, sqlite3_value **values) {
    int *harmed = sqlite3_user_data(context);
    (void)count;
    (void)values;
    ++*harmed;
}

Test(stranger, calls_no_function_that_may_do_harm) {
    int harmed = 0;
    sqlite3 *db = make("");
    cr_assert_eq(sqlite3_create_function(db, "harm", 0, SQLITE_UTF8, &harmed, harm, NULL, NULL),
                 SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "CREATE VIEW v AS SELECT harm()", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(store_stranger_guard(db), SQLITE_OK);
    cr_expect_neq(sqlite3_exec(db, "SELECT * FROM v", NULL, NULL, NULL), SQLITE_OK);
    cr_expect_eq(harmed, 0);
    sqlite3_close(db);
}

Test(stranger, runs_no_trigger) {
    sqlite3 *db = make("CREATE TABLE t (x); CREATE TABLE log (x);"
                       "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1); END");
    cr_assert_eq(store_stranger_guard(db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "INSERT INTO t VALUES (1)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_stmt *stmt = NULL;
    cr_assert_eq(sqlite3_prepare_v2(db, "SELECT count(*) FROM log", -1, &stmt, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
    cr_expect_eq(sqlite3_column_int(stmt, 0), 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

Test(stranger, changes_no_schema_by_hand) {
    sqlite3 *db = make("CREATE TABLE t (x)");
    cr_assert_eq(store_stranger_guard(db), SQLITE_OK);
    cr_expect_neq(sqlite3_exec(db,
                               "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'x'",
                               NULL, NULL, NULL),
                  SQLITE_OK);
    sqlite3_close(db);
}

static int stop(void) {
    return 1;
}

Test(stranger, stops_what_would_never_end) {
    store_stranger_ask(stop);
    sqlite3 *db = make("CREATE VIEW v AS WITH RECURSIVE n(i) AS "
                       "(SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n WHERE i > 1");
    cr_assert_eq(store_stranger_guard(db), SQLITE_OK);
    cr_expect_eq(sqlite3_exec(db, "SELECT * FROM v", NULL, NULL, NULL), SQLITE_INTERRUPT);
    sqlite3_close(db);
    store_stranger_ask(NULL);
}

Test(stranger, knows_what_is_no_table_of_rows) {
    static const struct {
        const char *sql;
        bool odd;
    } cases[] = {
        {"", false},
        {"CREATE TABLE NVTX_EVENTS (x)", false},
        {"CREATE TABLE t (x); CREATE VIEW nvtx_events AS SELECT * FROM t", true},
        {"CREATE TABLE NVTX_EVENTS (x PRIMARY KEY) WITHOUT ROWID", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool odd = !cases[i].odd;
        sqlite3 *db = make(cases[i].sql);
        cr_assert_eq(store_stranger_is_odd(db, &odd), SQLITE_OK);
        cr_expect_eq(odd, cases[i].odd, "%s", cases[i].sql);
        sqlite3_close(db);
    }
}

Test(stranger, names_a_trigger) {
    char name[8];
    sqlite3 *db = make("CREATE TABLE t (x)");
    cr_assert_eq(store_stranger_trigger(db, name, sizeof(name)), SQLITE_OK);
    cr_expect_str_eq(name, "");
    cr_assert_eq(sqlite3_exec(db,
                              "CREATE TRIGGER \"a long name\" AFTER INSERT ON t BEGIN SELECT 1; "
                              "END",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    cr_assert_eq(store_stranger_trigger(db, name, sizeof(name)), SQLITE_OK);
    cr_expect_str_eq(name, "a long ", "cut");
    sqlite3_close(db);
}
