// SPDX-License-Identifier: Apache-2.0
//
// COPY, in both directions. Bytes that go out are on their way while the caller makes the next
// ones; rows that come in are taken from the library one by one, and none is kept.
#include "ship/engine/pg_inner.h"

#include "protocol/base/clock.h"

// A row of COPY has at most the text of a line, which MaxLine (nvtxtd.conf(5)) bounds at 16 MiB;
// libpq has it twice, once in a buffer that doubles.
#define ROW_BYTES (INT64_C(32) << 20)
#define ROW_MEMORY (INT64_C(64) << 20)

// For a large message the engine asks the system for memory, each time anew.
#define COPY_MESSAGE ((size_t)16384)

// More than a usual chunk has, so that only a long text waits for the engine.
#define COPY_KEPT (COPY_MESSAGE * 64)

static enum failure_class begin_copy(struct pg *pg, const char *sql, ExecStatusType wanted) {
    PGresult *result = NULL;
    enum failure_class class = pg_send_text(pg, sql);
    if (class) {
        return class;
    }
    class = pg_next_result(pg, pg_deadline(pg), &result);
    ExecStatusType status = PQresultStatus(result);
    if (class == FAILURE_NONE && status == PGRES_FATAL_ERROR) {
        class = pg_refuse(pg, result);
        struct failure why = pg->failure;
        pg_finish(pg, pg_deadline(pg), NULL);
        pg->failure = why;
    } else if (class == FAILURE_NONE && status != wanted) {
        class = pg_give_up(pg, NO_ANSWER);
    }
    PQclear(result);
    return class;
}

enum failure_class pg_copy_begin(struct pg *pg, const char *sql) {
    enum failure_class class = begin_copy(pg, sql, PGRES_COPY_IN);
    pg->in_copy = class == FAILURE_NONE;
    return class;
}

enum failure_class pg_copy_put(struct pg *pg, const void *data, size_t len) {
    bound_renew(&pg->bound);
    enum failure_class class = pg_flush(pg, wait_deadline(&pg->wait, PG_STATEMENT_MS));
    for (size_t at = 0, part; class == FAILURE_NONE && at < len; at += part) {
        part = len - at < COPY_MESSAGE ? len - at : COPY_MESSAGE;
        if (PQputCopyData(pg->conn, (const char *)data + at, (int)part) != 1) {
            class = pg_broken(pg);
        } else if ((at + part) % COPY_KEPT == 0) {
            class = pg_flush(pg, wait_deadline(&pg->wait, PG_STATEMENT_MS));
        }
    }
    if (class == FAILURE_NONE && PQflush(pg->conn) < 0) {
        class = pg_broken(pg);
    }
    return class;
}

enum failure_class pg_copy_end(struct pg *pg) {
    bound_renew(&pg->bound);
    enum failure_class class = pg_flush(pg, wait_deadline(&pg->wait, PG_STATEMENT_MS));
    pg->in_copy = false;
    if (class == FAILURE_NONE && PQputCopyEnd(pg->conn, NULL) != 1) {
        class = pg_broken(pg);
    }
    return class ?: pg_finish(pg, wait_deadline(&pg->wait, PG_STATEMENT_MS), NULL);
}

enum failure_class pg_copy_out_begin(struct pg *pg, const char *sql) {
    pg_drop_rows(pg);
    pg->out_end = 0;
    return begin_copy(pg, sql, PGRES_COPY_OUT);
}

// Takes rows that are whole. Returns what the library said last: > 0 there may be more, 0 bytes are
// missing, -1 the end, -2 a failure. It says an end only once.
static int take_rows(struct pg *pg) {
    int n = 1;
    if (pg->out_end < 0) {
        return pg->out_end;
    }
    bound_limit(&pg->bound);
    while (n > 0 && pg->out_count < ROWS_AT_ONCE) {
        n = PQgetCopyData(pg->conn, &pg->out[pg->out_count], 1);
        pg->out_len[pg->out_count] = n;
        pg->out_count += n > 0;
    }
    bound_leave();
    return pg->out_end = n;
}

// Waits for more bytes of a row.
static enum failure_class read_row(struct pg *pg, int64_t deadline) {
    enum failure_class class = pg_wait_socket(pg, POLLIN, deadline);
    class = class ?: pg_take_input(pg);
    return class == FAILURE_NONE && nvtxt_monotonic_ms() > deadline ? pg_late(pg) : class;
}

enum failure_class pg_copy_get(struct pg *pg, const char **data, size_t *len) {
    int64_t deadline = pg_deadline(pg);
    *data = NULL;
    *len = 0;
    if (pg->out_at == pg->out_count) {
        bound_begin(&pg->bound, ROW_BYTES, ROW_MEMORY);
    }
    while (pg->out_at == pg->out_count) {
        pg_drop_rows(pg);
        int n = take_rows(pg);
        if (pg->out_count > 0) {
            break;
        }
        if (n == -1) {
            return pg_finish(pg, deadline, NULL);
        }
        enum failure_class class = n == 0 ? read_row(pg, deadline) : pg_broken(pg);
        if (class) {
            return class;
        }
    }
    if (pg->out_len[pg->out_at] > ROW_BYTES) {
        return pg_too_much(pg);
    }
    *len = (size_t)pg->out_len[pg->out_at];
    *data = pg->out[pg->out_at++];
    return FAILURE_NONE;
}
