// SPDX-License-Identifier: Apache-2.0
//
// libpq without blocking: after each call that may leave something to do, wait_socket() waits until
// the socket is ready. While bytes are on their way out the socket is read as well: a server that
// has something to say before it reads on would wait for us, and we for it.
#include "ship/engine/pg.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "protocol/base/clock.h"
#include "ship/engine/wait.h"

#define WHAT_SIZE 160

// Of one statement, and of a connection until it stands. The longest answers that this program asks
// for are lists of segments, of some twenty bytes each. libpq takes up to four times as much for
// it.
#define ANSWER_BYTES (INT64_C(16) << 20)
#define ANSWER_MEMORY (INT64_C(32) << 20)

// A row of COPY has at most the text of a line, which MaxLine (nvtxtd.conf(5)) bounds at 16 MiB;
// libpq has it twice, once in a buffer that doubles.
#define ROW_BYTES (INT64_C(32) << 20)
#define ROW_MEMORY (INT64_C(64) << 20)

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

const struct failure *pg_failure(const struct pg *pg) {
    return &pg->failure;
}

enum failure_class pg_fail_memory(struct pg *pg) {
    return failure_set(&pg->failure, FAILURE_MEMORY, "out of memory");
}

void pg_say_what(struct pg *pg, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(pg->what, sizeof(pg->what), format, args);
    va_end(args);
}

const char *pg_user(const struct pg *pg) {
    const char *user = PQuser(pg->conn);
    return user ?: "";
}

int pg_socket(const struct pg *pg) {
    return PQsocket(pg->conn);
}

// ---- Failures, input ----------------------------------------------------------------------------

// Ends the connection of an engine that is not one, or not well.
static enum failure_class give_up(struct pg *pg, const char *why) {
    (void)shutdown(PQsocket(pg->conn), SHUT_RDWR);
    failure_set(&pg->failure, FAILURE_GONE, "%s: the connection was closed", why);
    pg->failure.was_reached = true;
    return FAILURE_GONE;
}

#define NO_ANSWER "the engine answers with something else than it was asked for"

static enum failure_class too_much(struct pg *pg) {
    return give_up(pg, "the engine answers with more than is expected");
}

static enum failure_class late(struct pg *pg) {
    return failure_set(&pg->failure, FAILURE_GONE, "the engine did not answer in time");
}

static enum failure_class broken(struct pg *pg) {
    const char *why = PQerrorMessage(pg->conn);
    if (strstr(why, "out of memory") || strstr(why, "annot allocate memory")) {
        return too_much(pg); // see bound_enter()
    }
    failure_of_connect(&pg->failure, *why ? why : "the connection broke", false);
    return pg->failure.class = FAILURE_GONE;
}

// Reads what has come, and has the library look at it.
static enum failure_class take_input(struct pg *pg) {
    if (!bound_enter(&pg->bound, PQsocket(pg->conn))) {
        return too_much(pg);
    }
    bool good = PQconsumeInput(pg->conn);
    (void)PQisBusy(pg->conn);
    for (PGnotify *notify; (notify = PQnotifies(pg->conn));) {
        PQfreemem(notify);
    }
    bound_leave();
    return good && PQstatus(pg->conn) == CONNECTION_OK ? FAILURE_NONE : broken(pg);
}

// ---- Waiting ------------------------------------------------------------------------------------

static int64_t deadline_of_answer(const struct pg *pg) {
    return wait_deadline(&pg->wait, pg->settings.answer_ms);
}

int64_t pg_stop_ms(const struct pg *pg) {
    return pg->wait.stop_ms;
}

void pg_let_finish(struct pg *pg) {
    pg->lets_finish = true;
}

// Waits for the socket. FAILURE_GONE when the deadline came first.
static enum failure_class wait_socket(struct pg *pg, short events, int64_t deadline) {
    bool may_break = !pg->lets_finish && PQtransactionStatus(pg->conn) == PQTRANS_ACTIVE;
    int r;
    while ((r = wait_for(&pg->wait, PQsocket(pg->conn), events, deadline, may_break)) ==
           WAIT_BREAK) {
        cancel_statement(pg->conn);
    }
    if (r == WAIT_READY) {
        return FAILURE_NONE;
    }
    if (r < 0) {
        return failure_set(&pg->failure, FAILURE_GONE, "poll: %s", strerror(-r));
    }
    if (may_break) {
        cancel_statement(pg->conn); // else it may wait for a lock long after we left
    }
    return late(pg);
}

// ---- Connecting ---------------------------------------------------------------------------------

static enum failure_class connected(struct pg *pg, int64_t deadline) {
    for (PostgresPollingStatusType next = PGRES_POLLING_WRITING;;) {
        if (next == PGRES_POLLING_OK) {
            return FAILURE_NONE;
        }
        if (next == PGRES_POLLING_FAILED) {
            return failure_of_connect(&pg->failure, PQerrorMessage(pg->conn),
                                      PQconnectionNeedsPassword(pg->conn));
        }
        enum failure_class class =
            wait_socket(pg, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline);
        if (class) {
            return class;
        }
        if (!bound_enter(&pg->bound, PQsocket(pg->conn))) {
            return too_much(pg);
        }
        next = PQconnectPoll(pg->conn);
        bound_leave();
        if (next == PGRES_POLLING_READING && nvtxt_monotonic_ms() > deadline) {
            return late(pg);
        }
    }
}

static void ignore_notice(void *context, const PGresult *result) {
    (void)context;
    (void)result;
}

static enum failure_class start(struct pg *pg) {
    struct target_words words;
    enum failure_class class = target_words(&words, &pg->settings, &pg->failure);
    if (class) {
        target_words_deinit(&words);
        return class;
    }
    pg->conn = PQconnectStartParams(words.keys, words.values, 1);
    target_words_deinit(&words);
    if (!pg->conn) {
        return pg_fail_memory(pg);
    }
    if (PQstatus(pg->conn) == CONNECTION_BAD) {
        return failure_of_start(&pg->failure, PQerrorMessage(pg->conn));
    }
    PQsetNoticeReceiver(pg->conn, ignore_notice, NULL);
    PQsetErrorVerbosity(pg->conn, PQERRORS_VERBOSE); // see failure_of_connect()
    bound_begin(&pg->bound, ANSWER_BYTES, ANSWER_MEMORY);
    class = connected(pg, wait_deadline(&pg->wait, pg->settings.timeout_ms));
    size_t len = strlen(pg->failure.sentence);
    if (class == FAILURE_REFUSED && PQconnectionNeedsPassword(pg->conn) && *words.open_file) {
        snprintf(pg->failure.sentence + len, sizeof(pg->failure.sentence) - len,
                 "; the password file %.*s has group or world access and is not read",
                 (int)strlen(words.open_file) - 1, words.open_file);
    }
    return class;
}

enum failure_class pg_open(struct pg **opened, const struct pg_settings *settings,
                           struct failure *failure) {
    struct pg *pg = calloc(1, sizeof(*pg));
    *opened = NULL;
    if (!pg) {
        return failure_set(failure, FAILURE_MEMORY, "out of memory");
    }
    pg->settings = *settings;
    pg->wait = (struct wait){.stop_fd = settings->stop_fd,
                             .grace_ms = PG_STOP_MS,
                             .alive = settings->alive,
                             .alive_ms = settings->alive_ms,
                             .stop_ms = settings->stop_ms};
    pg_say_what(pg, "a statement");
    connect_guard_begin(settings->stop_fd,
                        settings->stop_ms ? settings->stop_ms - nvtxt_monotonic_ms() : PG_STOP_MS,
                        settings->end);
    enum failure_class class = start(pg);
    connect_guard_end();
    if (class == FAILURE_NONE && PQsetnonblocking(pg->conn, 1) != 0) {
        class = broken(pg);
    }
    if (class) {
        *failure = pg->failure;
        pg_close(pg);
        return class;
    }
    PQsetErrorVerbosity(pg->conn, PQERRORS_DEFAULT);
    *opened = pg;
    return FAILURE_NONE;
}

static void drop_rows(struct pg *pg) {
    for (size_t i = 0; i < pg->out_count; i++) {
        PQfreemem(pg->out[i]);
    }
    pg->out_at = pg->out_count = 0;
}

void pg_close(struct pg *pg) {
    if (pg) {
        nvtxt_buf_deinit(&pg->sql);
        drop_rows(pg);
        PQfinish(pg->conn);
        free(pg);
    }
}

enum failure_class pg_look(struct pg *pg) {
    return take_input(pg);
}

// ---- Answers ------------------------------------------------------------------------------------

static enum failure_class flush(struct pg *pg, int64_t deadline) {
    for (;;) {
        int left = PQflush(pg->conn);
        if (left < 0) {
            return broken(pg);
        }
        if (left == 0) {
            return FAILURE_NONE;
        }
        enum failure_class class = wait_socket(pg, POLLIN | POLLOUT, deadline);
        class = class ?: take_input(pg);
        if (class) {
            return class;
        }
    }
}

// What a role lacks, unless the schema's own trigger said what is wrong. A name of a role may need
// quotes.
static void add_grant(struct pg *pg) {
    size_t len = strlen(pg->failure.sentence);
    const char *user = pg_user(pg);
    if (pg->settings.role && strcmp(pg->failure.state, "42501") == 0 &&
        !strstr(pg->failure.sentence, "another role")) {
        bool is_plain = !user[strspn(user, "abcdefghijklmnopqrstuvwxyz0123456789_")];
        char *quoted = is_plain ? NULL : PQescapeIdentifier(pg->conn, user, strlen(user));
        snprintf(pg->failure.sentence + len, sizeof(pg->failure.sentence) - len,
                 ": GRANT %s_%s TO %s", pg->settings.schema, pg->settings.role, quoted ?: user);
        PQfreemem(quoted);
    }
}

// A table that is missing, or the schema.
static void add_init(struct pg *pg) {
    size_t len = strlen(pg->failure.sentence);
    if (pg->failure.class == FAILURE_NO_SCHEMA) {
        snprintf(pg->failure.sentence + len, sizeof(pg->failure.sentence) - len,
                 ": run nvtxt-ship init");
    }
}

static enum failure_class refused(struct pg *pg, const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
    bool is_gone = PQstatus(pg->conn) != CONNECTION_OK;
    if (!state) {
        return broken(pg);
    }
    enum failure_class class = failure_of_state(state, is_gone);
    if (primary && strcmp(state, FAILURE_RELAYED) == 0 && strstr(primary, "another role than")) {
        class = FAILURE_REFUSED; // words of the schema's own trigger
    }
    bool is_told =
        class == FAILURE_ENGINE || class == FAILURE_AWAY || class == FAILURE_NO_PARTITION;
    failure_set(&pg->failure, class, "%s%s%s%s%s%s%s%s", is_told ? "the engine refused " : "",
                is_told ? pg->what : "", is_told ? ": " : "", primary ?: "for no reason",
                detail ? ": " : "", detail ?: "", is_told && hint ? "; " : "",
                is_told && hint ? hint : "");
    snprintf(pg->failure.state, sizeof(pg->failure.state), "%s", state);
    add_grant(pg);
    add_init(pg);
    return class;
}

// The next result; `*result` NULL: there is none.
static enum failure_class next_result(struct pg *pg, int64_t deadline, PGresult **result) {
    *result = NULL;
    enum failure_class class = flush(pg, deadline);
    while (class == FAILURE_NONE && PQisBusy(pg->conn)) {
        class = wait_socket(pg, POLLIN, deadline);
        class = class ?: take_input(pg);
        if (class == FAILURE_NONE && PQisBusy(pg->conn) && nvtxt_monotonic_ms() > deadline) {
            class = late(pg); // it says this and that, and not what it was asked
        }
    }
    if (class == FAILURE_NONE) {
        *result = PQgetResult(pg->conn);
    }
    return class;
}

// Takes all results of a statement. The first failure counts. `*kept`, when wanted, is the last
// result that is none.
static enum failure_class finish(struct pg *pg, int64_t deadline, PGresult **kept) {
    enum failure_class first = FAILURE_NONE;
    struct failure why;
    for (;;) {
        PGresult *result;
        enum failure_class class = next_result(pg, deadline, &result);
        if (class) {
            return class;
        }
        if (!result) {
            break;
        }
        ExecStatusType status = PQresultStatus(result);
        bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
        if (!good && status != PGRES_FATAL_ERROR) { // the library would say the same for ever
            PQclear(result);
            return give_up(pg, NO_ANSWER);
        }
        if (!good && first == FAILURE_NONE) {
            first = refused(pg, result);
            why = pg->failure;
        }
        if (good && kept) {
            PQclear(*kept);
            *kept = result;
        } else {
            PQclear(result);
        }
        if (PQstatus(pg->conn) != CONNECTION_OK) {
            break;
        }
    }
    if (first) {
        pg->failure = why;
    }
    return first;
}

// The statement with the name of the schema, for the next call only; NULL: no memory.
static const char *named(struct pg *pg, const char *sql) {
    nvtxt_buf_clear(&pg->sql);
    for (size_t len; *sql; sql += len + (sql[len] == '@')) {
        len = strcspn(sql, "@");
        nvtxt_buf_add(&pg->sql, sql, len);
        if (sql[len]) {
            nvtxt_buf_add_string(&pg->sql, "\"");
            nvtxt_buf_add_string(&pg->sql, pg->settings.schema);
            nvtxt_buf_add_string(&pg->sql, "\"");
        }
    }
    nvtxt_buf_add(&pg->sql, "", 1);
    if (nvtxt_buf_failed(&pg->sql)) {
        (void)pg_fail_memory(pg);
        return NULL;
    }
    return pg->sql.data;
}

static enum failure_class send_text(struct pg *pg, const char *sql) {
    const char *text = named(pg, sql);
    if (!text) {
        return FAILURE_MEMORY;
    }
    bound_begin(&pg->bound, ANSWER_BYTES, ANSWER_MEMORY);
    return PQsendQuery(pg->conn, text) ? FAILURE_NONE : broken(pg);
}

enum failure_class pg_run(struct pg *pg, const char *sql) {
    enum failure_class class = send_text(pg, sql);
    return class ?: finish(pg, deadline_of_answer(pg), NULL);
}

enum failure_class pg_ask(struct pg *pg, const char *sql, const char *const *values, size_t count,
                          struct pg_rows **rows) {
    if (rows) {
        *rows = NULL;
    }
    const char *text = named(pg, sql);
    if (!text) {
        return FAILURE_MEMORY;
    }
    if (!PQsendQueryParams(pg->conn, text, (int)count, NULL, values, NULL, NULL, 0)) {
        return broken(pg);
    }
    bound_begin(&pg->bound, ANSWER_BYTES, ANSWER_MEMORY); // the statement may be long
    PGresult *result = NULL;
    enum failure_class class = finish(pg, deadline_of_answer(pg), rows ? &result : NULL);
    if (class) {
        PQclear(result);
    } else if (rows) {
        *rows = (struct pg_rows *)result;
    }
    return class;
}

enum failure_class pg_rollback(struct pg *pg) {
    struct failure before = pg->failure;
    enum failure_class class = FAILURE_NONE;
    if (before.class == FAILURE_GONE) {
        return FAILURE_GONE; // nobody answers, and the engine rolls back by itself
    }
    if (pg->in_copy) {
        pg->in_copy = false;
        class = PQputCopyEnd(pg->conn, "given up") == 1 ? finish(pg, deadline_of_answer(pg), NULL)
                                                        : broken(pg);
        class = class == FAILURE_GONE ? class : FAILURE_NONE;
    }
    if (class == FAILURE_NONE && PQtransactionStatus(pg->conn) != PQTRANS_IDLE) {
        class = pg_run(pg, "ROLLBACK");
    }
    if (before.class && class != FAILURE_GONE) {
        pg->failure = before;
    }
    return class;
}

// ---- COPY ---------------------------------------------------------------------------------------

// For a large message the engine asks the system for memory, each time anew.
#define COPY_MESSAGE ((size_t)16384)

// More than a usual chunk has, so that only a long text waits for the engine.
#define COPY_KEPT (COPY_MESSAGE * 64)

static enum failure_class begin_copy(struct pg *pg, const char *sql, ExecStatusType wanted) {
    PGresult *result = NULL;
    enum failure_class class = send_text(pg, sql);
    if (class) {
        return class;
    }
    class = next_result(pg, deadline_of_answer(pg), &result);
    ExecStatusType status = PQresultStatus(result);
    if (class == FAILURE_NONE && status == PGRES_FATAL_ERROR) {
        class = refused(pg, result);
        struct failure why = pg->failure;
        finish(pg, deadline_of_answer(pg), NULL);
        pg->failure = why;
    } else if (class == FAILURE_NONE && status != wanted) {
        class = give_up(pg, NO_ANSWER);
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
    enum failure_class class = flush(pg, wait_deadline(&pg->wait, PG_STATEMENT_MS));
    for (size_t at = 0, part; class == FAILURE_NONE && at < len; at += part) {
        part = len - at < COPY_MESSAGE ? len - at : COPY_MESSAGE;
        if (PQputCopyData(pg->conn, (const char *)data + at, (int)part) != 1) {
            class = broken(pg);
        } else if ((at + part) % COPY_KEPT == 0) {
            class = flush(pg, wait_deadline(&pg->wait, PG_STATEMENT_MS));
        }
    }
    if (class == FAILURE_NONE && PQflush(pg->conn) < 0) {
        class = broken(pg);
    }
    return class;
}

enum failure_class pg_copy_end(struct pg *pg) {
    bound_renew(&pg->bound);
    enum failure_class class = flush(pg, wait_deadline(&pg->wait, PG_STATEMENT_MS));
    pg->in_copy = false;
    if (class == FAILURE_NONE && PQputCopyEnd(pg->conn, NULL) != 1) {
        class = broken(pg);
    }
    return class ?: finish(pg, wait_deadline(&pg->wait, PG_STATEMENT_MS), NULL);
}

enum failure_class pg_copy_out_begin(struct pg *pg, const char *sql) {
    drop_rows(pg);
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
    enum failure_class class = wait_socket(pg, POLLIN, deadline);
    class = class ?: take_input(pg);
    return class == FAILURE_NONE && nvtxt_monotonic_ms() > deadline ? late(pg) : class;
}

enum failure_class pg_copy_get(struct pg *pg, const char **data, size_t *len) {
    int64_t deadline = deadline_of_answer(pg);
    *data = NULL;
    *len = 0;
    if (pg->out_at == pg->out_count) {
        bound_begin(&pg->bound, ROW_BYTES, ROW_MEMORY);
    }
    while (pg->out_at == pg->out_count) {
        drop_rows(pg);
        int n = take_rows(pg);
        if (pg->out_count > 0) {
            break;
        }
        if (n == -1) {
            return finish(pg, deadline, NULL);
        }
        enum failure_class class = n == 0 ? read_row(pg, deadline) : broken(pg);
        if (class) {
            return class;
        }
    }
    if (pg->out_len[pg->out_at] > ROW_BYTES) {
        return too_much(pg);
    }
    *len = (size_t)pg->out_len[pg->out_at];
    *data = pg->out[pg->out_at++];
    return FAILURE_NONE;
}
