// SPDX-License-Identifier: Apache-2.0
//
// Inside this room: what pg.c and pg_copy.c share of a connection. The functions are as those of
// pg.h; what they do stands in pg.c.
#pragma once

#include <libpq-fe.h>

#include "ship/engine/pg.h"
#include "ship/engine/wait.h"

#define WHAT_SIZE 160

// Rows that are taken from the library at once.
#define ROWS_AT_ONCE 256

struct pg {
    PGconn *conn;
    struct pg_settings settings;
    struct nvtxt_buf sql; // of the last statement
    struct wait wait;
    bool lets_finish;
    bool in_copy;
    struct bound bound;
    char *out[ROWS_AT_ONCE]; // of pg_copy_get(), from `out_at` on; owned
    int out_len[ROWS_AT_ONCE];
    size_t out_at, out_count;
    int out_end; // what the library said behind them, see take_rows()
    char what[WHAT_SIZE];
    struct failure failure;
};

#define NO_ANSWER "the engine answers with something else than it was asked for"

// Ends the connection of an engine that is not one, or not well.
enum failure_class pg_give_up(struct pg *pg, const char *why);
enum failure_class pg_too_much(struct pg *pg);
enum failure_class pg_late(struct pg *pg);
enum failure_class pg_broken(struct pg *pg);                         // as the library says
enum failure_class pg_refuse(struct pg *pg, const PGresult *result); // as the engine says

int64_t pg_deadline(const struct pg *pg); // of an answer

// Waits for the socket. FAILURE_GONE when the deadline came first.
enum failure_class pg_wait_socket(struct pg *pg, short events, int64_t deadline);

// Reads what has come, and has the library look at it.
enum failure_class pg_take_input(struct pg *pg);

// Until all bytes are on their way.
enum failure_class pg_flush(struct pg *pg, int64_t deadline);

// Sends several statements in one text, without values.
enum failure_class pg_send_text(struct pg *pg, const char *sql);

// The next result; `*result` NULL: there is none.
enum failure_class pg_next_result(struct pg *pg, int64_t deadline, PGresult **result);

// Takes all results of a statement. The first failure counts. `*kept`, when wanted, is the last
// result that is none.
enum failure_class pg_finish(struct pg *pg, int64_t deadline, PGresult **kept);

void pg_drop_rows(struct pg *pg); // of pg_copy_get()
