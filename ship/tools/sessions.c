// SPDX-License-Identifier: Apache-2.0
//
// Who sees a session need not see since when its transaction is open (pg_read_all_stats). But its
// number is there for everyone, in pg_locks: what has the same number after a minute is a minute
// old.
#include "ship/tools/sessions.h"

#include <stdio.h>
#include <string.h>

#include "protocol/base/clock.h"

#define LISTED_MOST 3 // of the sessions that a sentence names

// Whose role ships into the schema $1: a member of its role, or one of $2, the owners of stores;
// these are asked for alone: a row of stores is of several machines, a session of one. The owner of
// the schema and superusers are left alone. A role may end its own, and those of its members.
#define OF_SHIPPERS                                                                                \
    "FROM pg_stat_activity AS a JOIN pg_roles AS r ON r.oid = a.usesysid JOIN pg_roles AS me ON "  \
    "me.rolname = current_user "
#define IS_SHIPPER                                                                                 \
    "WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND NOT r.rolsuper AND "   \
    "r.oid <> me.oid AND r.oid <> (SELECT relowner FROM pg_class WHERE oid = "                     \
    "'@.meta'::regclass) AND (EXISTS (SELECT FROM pg_roles AS s WHERE s.rolname = $1::text || "    \
    "'_ship' AND pg_has_role(r.oid, s.oid, 'MEMBER')) OR r.rolname = ANY ($2::name[]))"
#define MAY_END                                                                                    \
    "(me.rolsuper OR pg_has_role('pg_signal_backend', 'USAGE') OR pg_has_role(r.oid, 'USAGE'))"

// Those that had been seen keep their time.
static void take(struct sessions *sessions, const struct sessions *before,
                 const struct pg_rows *rows, size_t row) {
    int64_t now = nvtxt_monotonic_ms();
    struct sessions_open open = {.pid = pg_int(rows, row, 0),
                                 .age_ms = pg_int(rows, row, 3),
                                 .may_end = pg_int(rows, row, 4) != 0,
                                 .seen_ms = now};
    snprintf(open.transaction, sizeof(open.transaction), "%s", pg_text(rows, row, 1) ?: "");
    snprintf(open.role, sizeof(open.role), "%s", pg_text(rows, row, 2) ?: "");
    for (size_t i = 0; i < before->count; i++) {
        const struct sessions_open *old = &before->open[i];
        if (old->pid == open.pid && strcmp(old->transaction, open.transaction) == 0) {
            open.seen_ms = old->seen_ms;
        }
    }
    open.age_ms = now - open.seen_ms > open.age_ms ? now - open.seen_ms : open.age_ms;
    sessions->open[sessions->count++] = open;
}

// A session that has ended meanwhile is no failure.
static enum failure_class end_old(struct pg *pg, struct sessions *sessions) {
    size_t kept = 0;
    enum failure_class class = FAILURE_NONE;
    for (size_t i = 0; i < sessions->count; i++) {
        struct sessions_open *open = &sessions->open[i];
        char pid[24];
        const char *values[] = {pid, open->transaction};
        if (class || !open->may_end || open->age_ms < SESSIONS_OLD_MS) {
            sessions->open[kept++] = *open;
            continue;
        }
        snprintf(pid, sizeof(pid), "%lld", (long long)open->pid);
        class = pg_ask(pg,
                       "SELECT pg_terminate_backend(l.pid) FROM pg_locks AS l WHERE l.pid = "
                       "$1::integer AND l.locktype = 'virtualxid' AND l.mode = 'ExclusiveLock' AND "
                       "l.virtualtransaction = $2",
                       values, 2, NULL);
    }
    sessions->count = kept;
    return class;
}

// Asks with the schema and the owners of its stores as values.
static enum failure_class ask(struct pg *pg, const char *sql, const char *schema,
                              struct pg_rows **rows) {
    struct pg_rows *owners;
    *rows = NULL;
    enum failure_class class =
        pg_ask(pg, "SELECT array_agg(DISTINCT owner) FROM @.stores", NULL, 0, &owners);
    if (class == FAILURE_NONE) {
        const char *values[] = {schema, pg_text(owners, 0, 0)};
        class = pg_ask(pg, sql, values, 2, rows);
    }
    pg_rows_free(owners);
    return class;
}

enum failure_class sessions_look(struct pg *pg, const char *schema, struct sessions *sessions) {
    struct sessions before = *sessions;
    struct pg_rows *rows;
    pg_say_what(pg, "to say whose transactions are open");
    enum failure_class class = ask(
        pg,
        "SELECT a.pid, l.virtualtransaction, r.rolname, (extract(epoch FROM clock_timestamp() - "
        "a.xact_start) * 1000)::bigint, " MAY_END "::integer " OF_SHIPPERS
        "JOIN pg_locks AS l ON l.pid = a.pid AND l.locktype = 'virtualxid' AND l.mode = "
        "'ExclusiveLock' AND l.granted " IS_SHIPPER " ORDER BY a.xact_start, a.pid",
        schema, &rows);
    sessions->count = 0;
    for (size_t i = 0; class == FAILURE_NONE && i < pg_rows_count(rows) && i < SESSIONS_MOST; i++) {
        take(sessions, &before, rows, i);
    }
    pg_rows_free(rows);
    return class ?: end_old(pg, sessions);
}

void sessions_name(const struct sessions *sessions, int64_t least_ms, const char *before,
                   char *sentence, size_t size) {
    const struct sessions_open *oldest = NULL;
    for (size_t i = 0; i < sessions->count; i++) {
        const struct sessions_open *open = &sessions->open[i];
        if (open->age_ms >= least_ms && (!oldest || open->age_ms > oldest->age_ms)) {
            oldest = open;
        }
    }
    size_t len = strlen(sentence);
    if (oldest && len < size) {
        snprintf(sentence + len, size - len,
                 "%sprocess %lld of the role %s has a transaction open for at least %lld s%s",
                 before, (long long)oldest->pid, oldest->role, (long long)(oldest->age_ms / 1000),
                 oldest->may_end
                     ? ""
                     : ": end it, or GRANT pg_signal_backend to the owner of the schema");
    }
}

// Those of the engine, which commits on several machines, end by themselves unless a machine is
// away; and anybody may give one such a name.
enum failure_class sessions_name_prepared(struct pg *pg, const char *before, char *sentence,
                                          size_t size) {
    struct pg_rows *rows;
    size_t len = strlen(sentence);
    pg_say_what(pg, "to say which transactions are prepared");
    enum failure_class class = pg_ask(
        pg,
        "SELECT quote_literal(gid), owner, extract(epoch FROM age)::bigint FROM "
        "(SELECT gid, owner, clock_timestamp() - prepared AS age FROM pg_prepared_xacts "
        "WHERE database = current_database()) AS p WHERE age > CASE WHEN gid LIKE "
        "'citus\\_%' THEN interval '10 min' ELSE interval '60 s' END ORDER BY age DESC LIMIT 1",
        NULL, 0, &rows);
    if (class == FAILURE_NONE && pg_rows_count(rows) > 0 && len < size) {
        snprintf(sentence + len, size - len,
                 "%sa transaction that the role %s prepared %lld s ago keeps its locks: as a "
                 "superuser, ROLLBACK PREPARED %s",
                 before, pg_text(rows, 0, 1) ?: "", (long long)pg_int(rows, 0, 2),
                 pg_text(rows, 0, 0) ?: "");
    }
    pg_rows_free(rows);
    return class;
}

// ---- After a step of the schema -----------------------------------------------------------------

enum failure_class sessions_renew(struct pg *pg, const char *schema, struct sessions *others) {
    struct pg_rows *rows;
    const struct sessions none = {0};
    others->count = 0;
    pg_say_what(pg, "to end the sessions of shippers");
    enum failure_class class =
        ask(pg,
            "SELECT a.pid, NULL, r.rolname, 0, " MAY_END "::integer, (SELECT CASE WHEN "
            "count(DISTINCT s.host) = 1 THEN min(s.host) END FROM @.stores AS s WHERE s.owner = "
            "r.rolname), CASE WHEN " MAY_END
            " THEN pg_terminate_backend(a.pid) END " OF_SHIPPERS IS_SHIPPER " ORDER BY 5, 1",
            schema, &rows);
    for (size_t i = 0; class == FAILURE_NONE && i < pg_rows_count(rows) && !pg_int(rows, i, 4) &&
                       i < SESSIONS_MOST;
         i++) {
        take(others, &none, rows, i);
        snprintf(others->open[i].host, sizeof(others->open[i].host), "%s",
                 pg_text(rows, i, 5) ?: "");
    }
    pg_rows_free(rows);
    return class;
}

// Leaves those that are there still.
static enum failure_class look_again(struct pg *pg, struct sessions *sessions) {
    size_t kept = 0;
    for (size_t i = 0; i < sessions->count; i++) {
        char pid[24];
        struct pg_rows *rows;
        const char *values[] = {pid, sessions->open[i].role};
        snprintf(pid, sizeof(pid), "%lld", (long long)sessions->open[i].pid);
        enum failure_class class =
            pg_ask(pg, "SELECT FROM pg_stat_activity WHERE pid = $1::integer AND usename = $2",
                   values, 2, &rows);
        if (class) {
            return class;
        }
        if (pg_rows_count(rows) > 0) {
            sessions->open[kept++] = sessions->open[i];
        }
        pg_rows_free(rows);
    }
    sessions->count = kept;
    return FAILURE_NONE;
}

enum failure_class sessions_wait(struct pg *pg, struct sessions *sessions, int64_t most_ms) {
    int64_t until = nvtxt_monotonic_ms() + most_ms;
    enum failure_class class = look_again(pg, sessions);
    while (class == FAILURE_NONE && sessions->count > 0 && nvtxt_monotonic_ms() < until) {
        class = pg_run(pg, "SELECT pg_sleep(0.1)");
        class = class ?: look_again(pg, sessions);
    }
    return class;
}

void sessions_list(const struct sessions *sessions, char *sentence, size_t size) {
    size_t len = strlen(sentence);
    for (size_t i = 0; i < sessions->count && i < LISTED_MOST && len < size; i++) {
        const struct sessions_open *open = &sessions->open[i];
        const char *host = open->host;
        len += (size_t)snprintf(sentence + len, size - len, "%sprocess %lld of the role %s%s%s%s",
                                i ? ", " : "", (long long)open->pid, open->role,
                                *host ? " (host " : "", host, *host ? ")" : "");
    }
    if (sessions->count > LISTED_MOST && len < size) {
        snprintf(sentence + len, size - len, " and %s%zu more",
                 sessions->count == SESSIONS_MOST ? "at least " : "",
                 sessions->count - LISTED_MOST);
    }
}
