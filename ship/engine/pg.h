// SPDX-License-Identifier: Apache-2.0
//
// ship/engine: the other end, a PostgreSQL database. pg is the connection, pg_rows what it answers,
// pg_copy COPY, pg_inner what they share, target says whereto, and cancel breaks a statement off:
// only these call libpq. wait waits for its socket, connect_guard ends the program where nothing
// can be waited for. failure says what errors mean; schema makes and checks the tables; cursor,
// lease and identity are the rows that say whose store is how far. The room owns the connection.
// One thread. It knows neither the store's files nor what the rows mean.
//
// A connection never blocks: each function waits for the socket, at most until a deadline. Once
// `stop_fd` says that the program shall end, no wait ends later than PG_STOP_MS after that, and a
// statement that takes half of it is broken off. After a failure with FAILURE_GONE the connection
// is of no use. Functions return an enum failure_class, with the sentence in pg_failure().
#pragma once

#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/buf.h"
#include "ship/engine/failure.h"

struct pg;
struct pg_rows;

#define PG_STATEMENT_MS 75000 // longer than the limit of 60 s that the server has for a round
#define PG_LONG_MS 3600000    // for a statement that looks at all rows, or waits for others
#define PG_COPY_ALL_MS (INT64_C(30) * 24 * 3600000) // for one that writes all rows anew
#define PG_STOP_MS 2000

// How to connect. The texts are borrowed for as long as the connection lives.
struct pg_settings {
    const char *target; // libpq's key words or URI; "": its environment
    const char *spread; // of several hosts in the target the order is one that this text decides;
                        // NULL: as they stand
    size_t only;        // of several hosts this one, counted from 1; 0: all
    const char *schema; // of lower case letters, digits and _
    const char *role; // the end of the role's name that the work needs: "ship", "read"; NULL: none
    int64_t timeout_ms; // until it is connected
    int64_t answer_ms;  // until a statement is answered
    int stop_fd;        // readable once the program shall end; -1: never
    int64_t stop_ms;    // the program ends now: no wait is longer (CLOCK_MONOTONIC); 0: it does not
    void (*end)(void);  // ends it, from a signal handler, while a host's name is looked up
    void (*alive)(void); // called while the engine is waited for; NULL: nobody wants to know
    int64_t alive_ms;    // how often, at least
    // Waits instead of poll(2), so that others go on meanwhile; NULL: that one does. While a name
    // is looked up nobody goes on.
    int (*poll)(struct pollfd *fds, nfds_t count, int ms);
};

// Connects. `*pg` is NULL after a failure, which is in `failure`.
enum failure_class pg_open(struct pg **pg, const struct pg_settings *settings,
                           struct failure *failure);
void pg_close(struct pg *pg); // NULL is fine

const struct failure *pg_failure(const struct pg *pg);
// Notes that memory is short; returns FAILURE_MEMORY.
enum failure_class pg_fail_memory(struct pg *pg);

// When the last wait ends, because the program shall end (CLOCK_MONOTONIC); 0: it need not.
int64_t pg_stop_ms(const struct pg *pg);
// What the statements from now on shall do, as it goes on after "the engine refused": "the rows of
// segment 3", "to make the schema nvtxt".
void pg_say_what(struct pg *pg, const char *format, ...) __attribute__((format(printf, 2, 3)));

// From now on no statement is broken off. One that this program does not wait for is ended by the
// engine alone.
void pg_let_finish(struct pg *pg);

const char *pg_user(const struct pg *pg); // the role
int pg_socket(const struct pg *pg);

// Through which of the target's hosts it is connected: HOST:PORT, or the path of a Unix socket.
void pg_node(const struct pg *pg, char *text, size_t size);

// Reads what came without being asked for (for an idle connection). FAILURE_GONE: it was closed.
enum failure_class pg_look(struct pg *pg);

// ---- Statements ---------------------------------------------------------------------------------
//
// In a statement an @ stands for the name of the schema, quoted: "SELECT version FROM @.meta".

// Runs several statements in one text, without values and without rows.
enum failure_class pg_run(struct pg *pg, const char *sql);

// Runs one unnamed statement with text values (NULL: NULL). `*rows` may be NULL when none are
// wanted; else the caller frees it, also after a failure (it is NULL then).
enum failure_class pg_ask(struct pg *pg, const char *sql, const char *const *values, size_t count,
                          struct pg_rows **rows);

// Back to no transaction. Fine when there is none, and on a connection that broke.
enum failure_class pg_rollback(struct pg *pg);

// ---- Rows and values (ship/engine/pg_rows.c) ----------------------------------------------------

void pg_rows_free(struct pg_rows *rows); // NULL is fine
size_t pg_rows_count(const struct pg_rows *rows);
size_t pg_rows_changed(const struct pg_rows *rows); // of INSERT, UPDATE, DELETE
const char *pg_text(const struct pg_rows *rows, size_t row, size_t column); // NULL: NULL
int64_t pg_int(const struct pg_rows *rows, size_t row, size_t column);      // 0: NULL

// A number as the text of a value, into `text`; returns it.
#define PG_NUMBER_SIZE 24
const char *pg_number(char text[PG_NUMBER_SIZE], int64_t value);

// ---- COPY ---------------------------------------------------------------------------------------

// COPY … FROM STDIN. After pg_copy_begin() come any number of pg_copy_put(), which wait for the
// bytes of the call before and leave theirs on the way, and pg_copy_end(). Any failure ends the
// COPY.
enum failure_class pg_copy_begin(struct pg *pg, const char *sql);
enum failure_class pg_copy_put(struct pg *pg, const void *data, size_t len);
enum failure_class pg_copy_end(struct pg *pg);

// COPY … TO STDOUT: pg_copy_out_begin(), then pg_copy_get() until `*len` is 0. `*data` lives until
// the next call.
enum failure_class pg_copy_out_begin(struct pg *pg, const char *sql);
enum failure_class pg_copy_get(struct pg *pg, const char **data, size_t *len);

// ---- Connection strings (ship/engine/target.c) --------------------------------------------------
//
// Whether one can be used, and what it leaves open. Over TCP to another machine the server's
// certificate and name are verified, unless the target, its service or libpq's environment says
// otherwise (nvtxt-ship(1), "SECURITY"). Changes the environment of this process.

// Whether a connection string can be used at all: it is well formed and without a password, also
// within the value of dbname, which servers quote. "" is libpq's environment. `failure` has the
// sentence.
enum failure_class target_check(const char *target, struct failure *failure);

// The key words to connect with, as PQconnectStartParams() takes them, where dbname is expanded.
struct target_words {
    const char *keys[12], *values[12]; // a NULL after the last
    size_t count;
    // Hosts, addresses and ports in the order of `spread`, or the only one; empty: as in the
    // target.
    struct nvtxt_buf hosts[3];
    size_t host_count; // of the target
    // A password file that others may use, so that libpq would warn and not read it; with a / after
    // it, and "" when there is none. It is not given to libpq.
    char open_file[PATH_MAX];
};

// The target of `settings` is borrowed for as long as the words are used. Where it gives several
// hosts, they stand in an order that `spread` decides: so stores spread over the nodes of a
// database, each has its next one, and one node more moves few. Needs target_words_deinit() in any
// case.
enum failure_class target_words(struct target_words *words, const struct pg_settings *settings,
                                struct failure *failure);
void target_words_deinit(struct target_words *words);

// How many hosts the target gives; at least 1.
size_t target_hosts(const struct pg_settings *settings);
