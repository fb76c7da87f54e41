// SPDX-License-Identifier: Apache-2.0
//
// What people would write: one prepared INSERT, bound, stepped and reset for each row, 10,000 rows
// a transaction, WAL, synchronous=FULL, the NVTX_EVENTS of the store. The rows are made in memory
// before the clock starts, so the loop reads and parses nothing. Where all messages are unique it
// also fills StringIds, with a second prepared statement, without a search for the message. It is
// the measure for the daemon, not a part of it: so it uses SQLite directly.
//
//   plain_loop KIND ROWS FILE      prints the rows per second; FILE must not exist
#include <err.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "bench/workload.h"
#include "protocol/base/limits.h"

#define USAGE "plain_loop KIND ROWS FILE"
#define ROWS_A_TRANSACTION 10000
#define COLUMNS 18

struct loop {
    sqlite3 *db;
    sqlite3_stmt *event, *string;
};

static void must(sqlite3 *db, int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
        errx(EX_IOERR, "sqlite: %s", sqlite3_errmsg(db));
    }
}

static struct workload_row *make_rows(enum workload_kind kind, uint64_t count) {
    struct workload_row *rows = calloc(count, sizeof(*rows));
    if (!rows) {
        err(EX_OSERR, "rows");
    }
    for (uint64_t i = 0; i < count; i++) {
        workload_row(kind, i, &rows[i]);
    }
    return rows;
}

static void open_store(struct loop *loop, const char *path) {
    if (access(path, F_OK) == 0) {
        errx(EX_CANTCREAT, "%s: exists", path);
    }
    must(NULL, sqlite3_open(path, &loop->db));
    must(loop->db, sqlite3_exec(loop->db,
                                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                                "CREATE TABLE StringIds (id INTEGER PRIMARY KEY,"
                                " value TEXT NOT NULL);"
                                "CREATE TABLE NVTX_EVENTS ("
                                " start INT NOT NULL, end INT NOT NULL, eventType INT NOT NULL,"
                                " rangeId INT NOT NULL, text TEXT NOT NULL, category INT NOT NULL,"
                                " color INT NOT NULL, globalTid INT NOT NULL,"
                                " domainId INT NOT NULL, endGlobalTid INTEGER, textId INTEGER,"
                                " uint64Value INTEGER, int64Value INTEGER, doubleValue REAL,"
                                " uint32Value INTEGER, int32Value INTEGER, floatValue REAL,"
                                " jsonText TEXT)",
                                NULL, NULL, NULL));
    must(loop->db, sqlite3_prepare_v2(loop->db,
                                      "INSERT INTO NVTX_EVENTS VALUES"
                                      "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                      -1, &loop->event, NULL));
    must(loop->db, sqlite3_prepare_v2(loop->db, "INSERT INTO StringIds (value) VALUES (?)", -1,
                                      &loop->string, NULL));
}

static int64_t insert_string(struct loop *loop, const struct workload_row *row) {
    sqlite3_bind_text(loop->string, 1, row->text, row->text_bytes, SQLITE_STATIC);
    must(loop->db, sqlite3_step(loop->string));
    must(loop->db, sqlite3_reset(loop->string));
    return sqlite3_last_insert_rowid(loop->db);
}

static void insert(struct loop *loop, const struct workload_row *row, int64_t text_id) {
    sqlite3_stmt *event = loop->event;
    sqlite3_bind_int64(event, 1, row->start);
    sqlite3_bind_int64(event, 2, row->end);
    sqlite3_bind_int(event, 3, (int)row->type);
    sqlite3_bind_int64(event, 4, row->range_id);
    sqlite3_bind_text(event, 5, row->text, row->text_bytes, SQLITE_STATIC);
    sqlite3_bind_int64(event, 6, row->category);
    sqlite3_bind_int64(event, 7, row->color);
    sqlite3_bind_int64(event, 8, (int64_t)nvtxt_global_tid(WORKLOAD_PID, row->tid));
    sqlite3_bind_int(event, 9, 0);
    sqlite3_bind_null(event, 10);
    sqlite3_bind_int64(event, 11, text_id);
    for (int column = 12; column <= COLUMNS; column++) {
        sqlite3_bind_null(event, column);
    }
    if (row->payload.kind == NVTXT_PAYLOAD_INT64) {
        sqlite3_bind_int64(event, 13, row->payload.int64);
    } else if (row->payload.kind == NVTXT_PAYLOAD_DOUBLE) {
        sqlite3_bind_double(event, 14, row->payload.real);
    }
    must(loop->db, sqlite3_step(event));
    must(loop->db, sqlite3_reset(event));
}

int main(int argc, char **argv) {
    if (argc != 4) {
        errx(EX_USAGE, "usage: %s", USAGE);
    }
    enum workload_kind kind = workload_kind_of(argv[1]);
    uint64_t count = workload_number(argv[2], USAGE);
    struct workload_row *rows = make_rows(kind, count);
    struct loop loop;
    open_store(&loop, argv[3]);
    double started = workload_seconds();
    for (uint64_t i = 0; i < count; i++) {
        if (i % ROWS_A_TRANSACTION == 0) {
            must(loop.db, sqlite3_exec(loop.db, i ? "COMMIT; BEGIN" : "BEGIN", NULL, NULL, NULL));
        }
        insert(&loop, &rows[i],
               kind == WORKLOAD_UNIQUE ? insert_string(&loop, &rows[i]) : rows[i].text_id);
    }
    must(loop.db, sqlite3_exec(loop.db, "COMMIT", NULL, NULL, NULL));
    double seconds = workload_seconds() - started;
    must(loop.db, sqlite3_finalize(loop.event));
    must(loop.db, sqlite3_finalize(loop.string));
    must(loop.db, sqlite3_close(loop.db));
    free(rows);
    printf("%.0f\n", (double)count / seconds);
    return 0;
}
