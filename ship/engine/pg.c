// SPDX-License-Identifier: Apache-2.0
//
// libpq without blocking: after each call that may leave something to do, pg_wait_socket() waits
// until the socket is ready. While bytes are on their way out the socket is read as well: a server
// that has something to say before it reads on would wait for us, and we for it.
#include "ship/engine/pg_inner.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "protocol/base/clock.h"

// Of one statement, and of a connection until it stands. The longest answers that this program asks
// for are lists of segments, of some twenty bytes each. libpq takes up to four times as much for
// it.
#define ANSWER_BYTES (INT64_C(16) << 20)
#define ANSWER_MEMORY (INT64_C(32) << 20)

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

void pg_node(const struct pg *pg, char *text, size_t size) {
    const char *host = PQhost(pg->conn) ?: "", *port = PQport(pg->conn) ?: "";
    bool is_socket = *host == '/' || *host == '@';
    bool is_address = strchr(host, ':'); // of IPv6
    snprintf(text, size,
             is_socket    ? "%s/.s.PGSQL.%s"
             : is_address ? "[%s]:%s"
                          : "%s:%s",
             host, port);
}

// ---- Failures, input ----------------------------------------------------------------------------

// Ends the connection of an engine that is not one, or not well.
enum failure_class pg_give_up(struct pg *pg, const char *why) {
    (void)shutdown(PQsocket(pg->conn), SHUT_RDWR);
    failure_set(&pg->failure, FAILURE_GONE, "%s: the connection was closed", why);
    pg->failure.was_reached = true;
    return FAILURE_GONE;
}

enum failure_class pg_too_much(struct pg *pg) {
    return pg_give_up(pg, "the engine answers with more than is expected");
}

enum failure_class pg_late(struct pg *pg) {
    return failure_set(&pg->failure, FAILURE_GONE, "the engine did not answer in time");
}

enum failure_class pg_broken(struct pg *pg) {
    const char *why = PQerrorMessage(pg->conn);
    if (strstr(why, "out of memory") || strstr(why, "annot allocate memory")) {
        return pg_too_much(pg); // see bound_enter()
    }
    failure_of_connect(&pg->failure, *why ? why : "the connection broke", false);
    return pg->failure.class = FAILURE_GONE;
}

// Reads what has come, and has the library look at it.
enum failure_class pg_take_input(struct pg *pg) {
    if (!bound_enter(&pg->bound, PQsocket(pg->conn))) {
        return pg_too_much(pg);
    }
    bool good = PQconsumeInput(pg->conn);
    (void)PQisBusy(pg->conn);
    for (PGnotify *notify; (notify = PQnotifies(pg->conn));) {
        PQfreemem(notify);
    }
    bound_leave();
    return good && PQstatus(pg->conn) == CONNECTION_OK ? FAILURE_NONE : pg_broken(pg);
}

// ---- Waiting ------------------------------------------------------------------------------------

int64_t pg_deadline(const struct pg *pg) {
    return wait_deadline(&pg->wait, pg->settings.answer_ms);
}

int64_t pg_stop_ms(const struct pg *pg) {
    return pg->wait.stop_ms;
}

void pg_let_finish(struct pg *pg) {
    pg->lets_finish = true;
}

// Waits for the socket. FAILURE_GONE when the deadline came first.
enum failure_class pg_wait_socket(struct pg *pg, short events, int64_t deadline) {
    bool may_break = !pg->lets_finish && PQtransactionStatus(pg->conn) == PQTRANS_ACTIVE;
    int r;
    while ((r = wait_for(&pg->wait, PQsocket(pg->conn), events, deadline, may_break)) ==
           WAIT_BREAK) {
        cancel_statement(pg->conn);
    }
    if (pg->wait.poll) {
        bound_renew(&pg->bound); // others may have taken memory meanwhile
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
    return pg_late(pg);
}

// ---- Connecting ---------------------------------------------------------------------------------

// Where a name may be looked up: of the first host in PQconnectStartParams(), of each further one
// in PQconnectPoll().
static void guard(const struct pg *pg) {
    int64_t stop_ms = pg->wait.stop_ms;
    connect_guard_begin(pg->settings.stop_fd, stop_ms ? stop_ms - nvtxt_monotonic_ms() : PG_STOP_MS,
                        pg->settings.end);
}

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
            pg_wait_socket(pg, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline);
        if (class) {
            return class;
        }
        if (!bound_enter(&pg->bound, PQsocket(pg->conn))) {
            return pg_too_much(pg);
        }
        guard(pg);
        next = PQconnectPoll(pg->conn);
        connect_guard_end();
        bound_leave();
        if (next == PGRES_POLLING_READING && nvtxt_monotonic_ms() > deadline) {
            return pg_late(pg);
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
    guard(pg);
    pg->conn = PQconnectStartParams(words.keys, words.values, 1);
    connect_guard_end();
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
                             .poll = settings->poll,
                             .stop_ms = settings->stop_ms};
    pg_say_what(pg, "a statement");
    enum failure_class class = start(pg);
    if (class == FAILURE_NONE && PQsetnonblocking(pg->conn, 1) != 0) {
        class = pg_broken(pg);
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

void pg_drop_rows(struct pg *pg) {
    for (size_t i = 0; i < pg->out_count; i++) {
        PQfreemem(pg->out[i]);
    }
    pg->out_at = pg->out_count = 0;
}

void pg_close(struct pg *pg) {
    if (pg) {
        nvtxt_buf_deinit(&pg->sql);
        pg_drop_rows(pg);
        PQfinish(pg->conn);
        free(pg);
    }
}

enum failure_class pg_look(struct pg *pg) {
    return pg_take_input(pg);
}

// ---- Answers ------------------------------------------------------------------------------------

enum failure_class pg_flush(struct pg *pg, int64_t deadline) {
    for (;;) {
        int left = PQflush(pg->conn);
        if (left < 0) {
            return pg_broken(pg);
        }
        if (left == 0) {
            return FAILURE_NONE;
        }
        enum failure_class class = pg_wait_socket(pg, POLLIN | POLLOUT, deadline);
        class = class ?: pg_take_input(pg);
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

enum failure_class pg_refuse(struct pg *pg, const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
    bool is_gone = PQstatus(pg->conn) != CONNECTION_OK;
    if (!state) {
        return pg_broken(pg);
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
enum failure_class pg_next_result(struct pg *pg, int64_t deadline, PGresult **result) {
    *result = NULL;
    enum failure_class class = pg_flush(pg, deadline);
    while (class == FAILURE_NONE && PQisBusy(pg->conn)) {
        class = pg_wait_socket(pg, POLLIN, deadline);
        class = class ?: pg_take_input(pg);
        if (class == FAILURE_NONE && PQisBusy(pg->conn) && nvtxt_monotonic_ms() > deadline) {
            class = pg_late(pg); // it says this and that, and not what it was asked
        }
    }
    if (class == FAILURE_NONE) {
        *result = PQgetResult(pg->conn);
    }
    return class;
}

// Takes all results of a statement. The first failure counts. `*kept`, when wanted, is the last
// result that is none.
enum failure_class pg_finish(struct pg *pg, int64_t deadline, PGresult **kept) {
    enum failure_class first = FAILURE_NONE;
    struct failure why;
    for (;;) {
        PGresult *result;
        enum failure_class class = pg_next_result(pg, deadline, &result);
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
            return pg_give_up(pg, NO_ANSWER);
        }
        if (!good && first == FAILURE_NONE) {
            first = pg_refuse(pg, result);
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

enum failure_class pg_send_text(struct pg *pg, const char *sql) {
    const char *text = named(pg, sql);
    if (!text) {
        return FAILURE_MEMORY;
    }
    bound_begin(&pg->bound, ANSWER_BYTES, ANSWER_MEMORY);
    return PQsendQuery(pg->conn, text) ? FAILURE_NONE : pg_broken(pg);
}

enum failure_class pg_run(struct pg *pg, const char *sql) {
    enum failure_class class = pg_send_text(pg, sql);
    return class ?: pg_finish(pg, pg_deadline(pg), NULL);
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
        return pg_broken(pg);
    }
    bound_begin(&pg->bound, ANSWER_BYTES, ANSWER_MEMORY); // the statement may be long
    PGresult *result = NULL;
    enum failure_class class = pg_finish(pg, pg_deadline(pg), rows ? &result : NULL);
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
        class = PQputCopyEnd(pg->conn, "given up") == 1 ? pg_finish(pg, pg_deadline(pg), NULL)
                                                        : pg_broken(pg);
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
