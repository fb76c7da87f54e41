// SPDX-License-Identifier: Apache-2.0
//
// The guard around queries of rules: what is refused when a rule is loaded, what is stopped when it
// runs, and that the bytes of a store stay as they are.
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/load/capture.h"
#include "report/rule/builder.h"
#include "report/rule/sql_guard.h"
#include "store/value/arena.h"

// ---- At load ------------------------------------------------------------------------------------

static int check(const char *sql, char *reason) {
    size_t at;
    *reason = '\0';
    int r = report_sql_check(nvtxt_slice_of(sql), reason, &at);
    cr_assert_leq(at, strlen(sql));
    return r;
}

Test(sql, takes_selects_of_any_tables) {
    static const char *const good[] = {
        "SELECT text, count(*) FROM NVTX_EVENTS WHERE start >= :since AND start < :until GROUP BY "
        "1",
        "SELECT 1;",
        "SELECT 1; -- done",
        "-- what\n/* it */ select 1",
        "/* is */ SELECT x FROM nowhere",
        "VALUES (1, 2)",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 9) SELECT x FROM "
        "c",
        "SELECT sum(x) OVER (ORDER BY y), row_number() OVER () FROM nowhere",
        "SELECT nosuch FROM NVTX_EVENTS",
        "SELECT value FROM json_each('[1,2]')",
        "SELECT 1 || upper('a')",
    };
    char reason[REPORT_SQL_REASON];
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cr_assert_eq(check(good[i], reason), 0, "%s: %s", good[i], reason);
    }
}

Test(sql, refuses_all_else_with_a_reason) {
    static const char *const bad[][2] = {
        {"", "empty"},
        {"-- nothing", "empty"},
        {"SELEC 1", "only reads"},
        {"SELECT 1 +", "incomplete"},
        {"DROP TABLE nowhere", "only reads"},
        {"/* x */ -- y\n DROP TABLE nowhere", "only reads"},
        {"DELETE FROM nowhere", "only reads"},
        {"SELECT 1; SELECT 2", "one statement"},
        {"SELECT 1; ;; DROP TABLE NVTX_EVENTS", "one statement"},
        {"ATTACH 'x.db' AS x", "ATTACH"},
        {"DETACH x", "DETACH"},
        {"PRAGMA journal_mode = DELETE", "PRAGMA"},
        {"PRAGMA user_version", "PRAGMA"},
        {"SELECT * FROM pragma_database_list", ""},
        {"SELECT load_extension('x.so')", "load_extension"},
        {"SELECT random()", "random"},
        {"SELECT printf('%.*c', 1000000000, 'x')", "printf"},
        {"SELECT format('%.*c', 1000000000, 'x')", "format"},
        {"SELECT instr(:since, :until)", "instr"},
        {"SELECT replace(:since, :until, 'x')", "replace"},
        {"SELECT trim(:since, :until)", "trim"},
        {"SELECT randomblob(100000000)", "randomblob"},
        {"SELECT zeroblob(100000000)", "zeroblob"},
        {"SELECT writefile('x', 'y')", "writefile"},
        {"INSERT INTO NVTX_EVENTS (start) VALUES (1)", "only reads"},
        {"DELETE FROM NVTX_EVENTS", "only reads"},
        {"UPDATE NVTX_EVENTS SET start = 0", "only reads"},
        {"WITH x AS (SELECT 1) DELETE FROM NVTX_EVENTS", "only reads"},
        {"CREATE TABLE x (y)", "only reads"},
        {"CREATE TEMP TABLE x (y)", "only reads"},
        {"DROP TABLE NVTX_EVENTS", "only reads"},
        {"VACUUM", "only reads"},
        {"VACUUM INTO '/tmp/x'", "only reads"},
        {"BEGIN", "only reads"},
        {"EXPLAIN SELECT 1", "only reads"},
        {"REINDEX", "only reads"},
        {"ANALYZE", "only reads"},
        {"SELECT :other", "':other'"},
        {"SELECT ?", "parameter"},
    };
    char reason[REPORT_SQL_REASON];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_eq(check(bad[i][0], reason), NVTXT_WRONG, "%s", bad[i][0]);
        cr_assert_not_null(strstr(reason, bad[i][1]), "%s: %s", bad[i][0], reason);
    }
}

Test(sql, refuses_a_nul_and_what_is_too_long) {
    char reason[REPORT_SQL_REASON];
    size_t at;
    cr_assert_eq(report_sql_check(NVTXT_SLICE("SELECT 1\0; x"), reason, &at), NVTXT_WRONG);
    char *text = malloc(100001);
    memset(text, ' ', 100000);
    text[100000] = '\0';
    memcpy(text, "SELECT 1", 8);
    cr_assert_eq(report_sql_check(nvtxt_slice_of(text), reason, &at), NVTXT_WRONG);
    free(text);
}

Test(sql, tells_the_place_of_a_fault) {
    char reason[REPORT_SQL_REASON];
    size_t at;
    cr_assert_eq(report_sql_check(NVTXT_SLICE("SELECT 1 FORM x y"), reason, &at), NVTXT_WRONG);
    cr_assert_eq(at, 14);
}

// ---- On stores ----------------------------------------------------------------------------------

struct world {
    char folder[64], path[2][96];
    struct report_store stores[2];
    struct nvtxt_slice segments[2];
    struct report_capture capture;
    struct store_arena arena;
    struct report_result result;
    struct report_builder builder;
    char reason[REPORT_SQL_REASON];
};

static void make_db(const char *path, const char *sql) {
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static struct world *world_new(size_t stores) {
    struct world *world = calloc(1, sizeof(*world));
    strcpy(world->folder, "/tmp/report-sql-XXXXXX");
    cr_assert_not_null(mkdtemp(world->folder));
    for (size_t i = 0; i < stores; i++) {
        snprintf(world->path[i], sizeof(world->path[i]), "%s/%zu.db", world->folder, i);
        make_db(world->path[i], "PRAGMA journal_mode = WAL; CREATE TABLE t (a, b); "
                                "INSERT INTO t VALUES (1, 'x'), (2.5, NULL), (3, x'ff');");
        world->segments[i] = nvtxt_slice_of(world->path[i]);
        world->stores[i] = (struct report_store){
            .path = world->segments[i], .segments = &world->segments[i], .segment_count = 1};
    }
    world->capture = (struct report_capture){.stores = world->stores, .store_count = stores};
    report_build_begin(&world->builder, &world->arena, &world->result);
    report_build_message(&world->builder, REPORT_LEVEL_WARNING, NVTXT_SLICE(""), NVTXT_SLICE("m"));
    return world;
}

static void world_free(struct world *world) {
    for (size_t i = 0; i < world->capture.store_count; i++) {
        unlink(world->path[i]);
    }
    cr_assert_eq(rmdir(world->folder), 0, "nothing is left beside a store");
    store_arena_deinit(&world->arena);
    free(world);
}

static int run(struct world *world, const char *sql, size_t rows) {
    struct report_sql_query query = {.sql = nvtxt_slice_of(sql),
                                     .title = NVTXT_SLICE("T"),
                                     .rows = rows,
                                     .since_ns = 7,
                                     .until_ns = INT64_MAX};
    *world->reason = '\0';
    return report_sql_run(&world->builder, &world->capture, 0, &query, world->reason);
}

static const struct report_cell *cell(const struct world *world, size_t row, size_t column) {
    const struct report_table *table = &world->result.tables[0].table;
    return &table->cells[row * table->column_count + column];
}

Test(sql, makes_a_table_with_all_kinds_of_values) {
    struct world *world = world_new(1);
    cr_assert_eq(run(world, "SELECT a AS one, b, :since FROM t ORDER BY a", 0), 0, "%s",
                 world->reason);
    cr_assert_eq(world->result.table_count, 1);
    const struct report_table *table = &world->result.tables[0].table;
    cr_assert_eq(table->column_count, 3);
    cr_assert_eq(table->row_count, 3);
    cr_assert_str_eq(table->columns[0].title, "one");
    cr_assert_eq(cell(world, 0, 0)->int64, 1);
    cr_assert(nvtxt_slice_equal(report_cell_slice(cell(world, 0, 1)), NVTXT_SLICE("x")));
    cr_assert_eq(cell(world, 0, 2)->int64, 7);
    cr_assert_eq(cell(world, 1, 0)->real, 2.5);
    cr_assert_eq(cell(world, 1, 1)->kind, REPORT_CELL_EMPTY);
    cr_assert_eq(cell(world, 2, 1)->text_len, 1);
    world_free(world);
}

Test(sql, asks_each_store_and_names_it) {
    struct world *world = world_new(2);
    cr_assert_eq(run(world, "SELECT count(*) FROM t", 0), 0, "%s", world->reason);
    cr_assert_eq(world->result.tables[0].table.row_count, 2);
    cr_assert_str_eq(world->result.tables[0].table.columns[0].title, "Store");
    cr_assert(nvtxt_slice_equal(report_cell_slice(cell(world, 1, 0)), world->segments[1]));
    cr_assert_eq(cell(world, 1, 1)->int64, 3);
    world_free(world);
}

#define COUNT_TO(n)                                                                                \
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < " n ") "

Test(sql, takes_a_thousand_rows_and_no_more) {
    struct world *world = world_new(1);
    cr_assert_eq(run(world, COUNT_TO("1000") "SELECT x FROM c", 0), 0, "%s", world->reason);
    cr_assert_eq(world->result.tables[0].table.row_count, 1000);
    cr_assert_eq(run(world, COUNT_TO("1001") "SELECT x FROM c", 0), NVTXT_WRONG);
    cr_assert_str_eq(world->reason, "the query gives more than 1,000 rows");
    world_free(world);
}

Test(sql, stops_reading_when_it_has_the_rows_that_are_shown) {
    struct world *world = world_new(1);
    cr_assert_eq(run(world, COUNT_TO("1e300") "SELECT x FROM c", 5), 0, "%s", world->reason);
    cr_assert_eq(world->result.tables[0].table.row_count, 5);
    world_free(world);
}

Test(sql, stops_what_never_ends, .timeout = 120) {
    struct world *world = world_new(1);
    cr_assert_eq(run(world, COUNT_TO("1e300") "SELECT count(*) FROM c", 0), NVTXT_WRONG);
    cr_assert_str_eq(world->reason, "the query was stopped after 5 s");
    world_free(world);
}

#define HEX5(text) "hex(hex(hex(hex(hex(" text ")))))" // 32 times as long
#define X98304 HEX5(HEX5(HEX5("'xyz'")))

Test(sql, stops_what_needs_too_much_memory, .timeout = 120) {
    struct world *world = world_new(1);
    make_db(world->path[0], "UPDATE t SET b = zeroblob(500000)");
    // Without a limit it would sort 450 MB within a second, and give its rows.
    cr_assert_eq(run(world, COUNT_TO("300") "SELECT x FROM c, t ORDER BY b || x DESC", 0),
                 NVTXT_WRONG);
    cr_assert_str_eq(world->reason, "the query needs more than 128 MiB of memory");
    cr_assert_eq(run(world, "SELECT " HEX5(X98304), 0), NVTXT_WRONG);
    cr_assert(strstr(world->reason, "longer than it may be"), "%s", world->reason);
    cr_assert_eq(run(world, COUNT_TO("1000") "SELECT " X98304 " FROM c", 0), NVTXT_WRONG);
    cr_assert_str_eq(world->reason, "the query gives more than 16 MiB of text");
    world_free(world);
}

static char *contents(const char *path, size_t *len) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    cr_assert(fd >= 0 && fstat(fd, &st) == 0);
    *len = (size_t)st.st_size;
    char *bytes = malloc(*len + 1);
    cr_assert_eq(read(fd, bytes, *len), (ssize_t)*len);
    close(fd);
    return bytes;
}

Test(sql, never_writes) {
    static const char *const bad[] = {
        "DELETE FROM t",           "INSERT INTO t VALUES (1, 2)",
        "PRAGMA user_version = 9", "PRAGMA writable_schema = 1",
        "ATTACH ':memory:' AS x",  "CREATE TEMP TABLE x (y)",
        "SELECT * FROM nowhere",   "SELECT * FROM pragma_table_info('t')",
    };
    struct world *world = world_new(1);
    size_t before, after;
    char *first = contents(world->path[0], &before);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_eq(run(world, bad[i], 0), NVTXT_WRONG, "%s", bad[i]);
        cr_assert_neq(*world->reason, '\0');
    }
    char *second = contents(world->path[0], &after);
    cr_assert(before == after && memcmp(first, second, before) == 0);
    free(first);
    free(second);
    world_free(world);
}

static bool interrupted(void) {
    return true;
}

Test(sql, ends_when_it_is_interrupted) {
    struct world *world = world_new(1);
    struct report_sql_query query = {.sql = NVTXT_SLICE(COUNT_TO("1e300") "SELECT count(*) FROM c"),
                                     .interrupted = interrupted};
    cr_assert_eq(report_sql_run(&world->builder, &world->capture, 0, &query, world->reason),
                 -EINTR);
    world_free(world);
}
