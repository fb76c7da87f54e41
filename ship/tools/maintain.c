// SPDX-License-Identifier: Apache-2.0
//
// A partition is detached CONCURRENTLY, which waits for nobody who writes and must be a statement
// of its own; a break between its two transactions leaves it pending, a break after it a table of
// that name. So all tables of such names are looked at, each with what is left to do. Another
// maintain may run at the same time: a step that it took is no failure. DETACH waits for each
// transaction that wrote events, of any day; so those of shippers that stay open are ended.
#include "ship/tools/tools.h"

#include <stdio.h>
#include <string.h>

#include "protocol/base/clock.h"

#define PATIENCE_MS 15000 // longer than a lock is waited for, twice
#define TRIES 10          // without less work

enum step { ATTACHED, PENDING, DETACHED };

// On several machines at once: there is no DETACH ... CONCURRENTLY there. A limit is handed on to
// the others as the text of its statement, so it is one of its own.
static enum failure_class remove_cut_day(struct pg *pg, const char *name) {
    char drop[128];
    snprintf(drop, sizeof(drop), "DROP TABLE @.%s", name);
    const char *const statements[] = {"BEGIN", "SET LOCAL citus.propagate_set_commands = 'local'",
                                      "SET LOCAL lock_timeout = '5s'", drop, "COMMIT"};
    enum failure_class class = FAILURE_NONE;
    for (size_t i = 0; class == FAILURE_NONE && i < sizeof(statements) / sizeof(statements[0]);
         i++) {
        class = pg_run(pg, statements[i]);
    }
    if (class) {
        pg_rollback(pg); // keeps the failure
    }
    return class;
}

static enum failure_class remove_day(struct pg *pg, const char *name, enum step step, bool is_cut) {
    char sql[256];
    enum failure_class class = FAILURE_NONE;
    pg_say_what(pg, "to remove the partition %s", name);
    if (is_cut) {
        return remove_cut_day(pg, name);
    }
    if (step != DETACHED) {
        snprintf(sql, sizeof(sql), "ALTER TABLE @.events DETACH PARTITION @.%s %s", name,
                 step == PENDING ? "FINALIZE" : "CONCURRENTLY");
        class = pg_run(pg, sql);
    }
    snprintf(sql, sizeof(sql), "DROP TABLE @.%s", name);
    return class ?: pg_run(pg, sql);
}

#define OLD_DAY "(now() AT TIME ZONE 'UTC')::date - (SELECT keep_days FROM @.meta)"

// `*work`: how many steps are left.
static enum failure_class list_days(struct pg *pg, struct pg_rows **rows, int64_t *work) {
    // A pending one first: only one of a table may be.
    enum failure_class class =
        pg_ask(pg,
               "SELECT c.relname, CASE WHEN i.inhrelid IS NULL THEN 2 WHEN i.inhdetachpending "
               "THEN 1 ELSE 0 END FROM pg_class AS c LEFT JOIN pg_inherits AS i ON i.inhrelid = "
               "c.oid WHERE c.relkind = 'r' AND c.relnamespace = '@'::regnamespace AND c.relname ~ "
               "'^events_[0-9]{8}$' AND substr(c.relname, 8) < to_char(" OLD_DAY
               ", 'YYYYMMDD') ORDER BY i.inhdetachpending DESC NULLS LAST, 1",
               NULL, 0, rows);
    *work = 0;
    for (size_t i = 0; class == FAILURE_NONE && i < pg_rows_count(*rows); i++) {
        *work += DETACHED + 1 - pg_int(*rows, i, 1);
    }
    return class;
}

static enum failure_class remove_listed(struct pg *pg, const struct pg_rows *rows, bool is_cut) {
    enum failure_class class = FAILURE_NONE;
    for (size_t i = 0; class == FAILURE_NONE && i < pg_rows_count(rows); i++) {
        class = remove_day(pg, pg_text(rows, i, 0), (enum step)pg_int(rows, i, 1), is_cut);
    }
    return class;
}

// It does not exist, is not as it must be, or a deadlock.
static bool may_be_of_another(const struct pg *pg) {
    const char *state = pg_failure(pg)->state;
    return strcmp(state, "42P01") == 0 || strcmp(state, "55000") == 0 ||
           strcmp(state, "40P01") == 0;
}

// What fails because another maintain is at it leaves less work than before, now or soon.
static enum failure_class remove_days(struct pg *pg, bool is_cut) {
    enum failure_class failed = FAILURE_NONE;
    int64_t work, before = INT64_MAX;
    for (int tries = 0;; before = work) {
        struct pg_rows *rows;
        enum failure_class class = list_days(pg, &rows, &work);
        tries = work < before ? 0 : tries + 1;
        if (class || tries > TRIES) {
            pg_rows_free(rows);
            return class ?: failed;
        }
        failed = remove_listed(pg, rows, is_cut);
        pg_rows_free(rows);
        if (failed == FAILURE_NONE || !may_be_of_another(pg)) {
            return failed;
        }
        class = pg_run(pg, "SELECT pg_sleep(0.1)");
        if (class) {
            return class;
        }
    }
}

// A segment that its store's cursor has left gets no more rows, also when retention took the rest
// of it, so that it never became complete. One without events is as old as its beginning.
static enum failure_class remove_segments(struct pg *pg) {
    return pg_run(pg, "DELETE FROM @.segments AS s USING @.cursors AS c WHERE c.store_id = "
                      "s.store_id AND (s.complete OR s.segment < c.segment) AND "
                      "coalesce(s.last, s.started) < (" OLD_DAY ")::timestamp AT TIME ZONE 'UTC'");
}

// The next days first: whatever fails later, hosts can go on.
static enum failure_class run_all(struct pg *pg, const struct schema_facts *facts) {
    pg_say_what(pg, "to make the partitions of the next days");
    enum failure_class class =
        pg_run(pg, "SET lock_timeout = '5s'; SET statement_timeout = 0; "
                   "SELECT @.make_partitions((now() AT TIME ZONE 'UTC')::date, "
                   "(now() AT TIME ZONE 'UTC')::date + 7)");
    pg_say_what(pg, "to say which days are old");
    if (!facts->plain_events) {
        class = class ?: remove_days(pg, facts->is_cut);
        pg_say_what(pg, "to remove the segments of old days");
        class = class ?: remove_segments(pg);
    }
    pg_say_what(pg, "to remove old diagnostics and losses");
    if (class == 0) {
        class = pg_run(pg, "DELETE FROM @.diagnostics WHERE at < (" OLD_DAY
                           ")::timestamp AT TIME ZONE 'UTC'");
    }
    if (class != 0) {
        return class;
    }
    return pg_run(pg,
                  "DELETE FROM @.losses WHERE at < (" OLD_DAY ")::timestamp AT TIME ZONE 'UTC'");
}

// What waited for a lock in vain is done anew for as long as an open transaction may be the reason
// that becomes old enough to be ended.
static enum failure_class run_until_done(struct pg *pg, const struct schema_facts *facts,
                                         const char *schema, struct sessions *sessions) {
    int64_t until = nvtxt_monotonic_ms() + SESSIONS_OLD_MS + PATIENCE_MS;
    for (;;) {
        enum failure_class class = sessions_look(pg, schema, sessions);
        size_t open = sessions->count;
        class = class ?: run_all(pg, facts);
        bool waited = class && strcmp(pg_failure(pg)->state, FAILURE_LOCK_TIMEOUT) == 0;
        if (!waited || open == 0 || nvtxt_monotonic_ms() > until) {
            return class;
        }
    }
}

enum failure_class maintain_run(struct pg *pg, const struct schema_facts *facts, const char *schema,
                                struct sessions *sessions) {
    enum failure_class class = run_until_done(pg, facts, schema, sessions);
    // A pooler gives the connection to others, who have limits of their own.
    enum failure_class reset =
        class == FAILURE_GONE ? class : pg_run(pg, "RESET lock_timeout; RESET statement_timeout");
    return class ?: reset;
}
