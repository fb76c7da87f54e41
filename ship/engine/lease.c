// SPDX-License-Identifier: Apache-2.0
//
// Taking it is one UPDATE that holds only if holder and time are still those that were judged; when
// somebody was faster they are judged again. The UPDATE may wait for a lock, and this process may
// end meanwhile: the engine would still run it to its end, so it has a transaction, whose COMMIT
// only a living process sends. Times are the engine's clock. What identifies the machine here is
// for comparing only: the id is that which systemd derives for this program, or empty, since the
// boot id is as unique.
#include "ship/engine/lease.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/base/clock.h"
#include "ship/engine/cursor.h"

#define TRIES 5

// A time to compare with, bit by bit: as text it may be read as another one than was written, since
// a database says how its times look (DateStyle), and some names of zones have two meanings.
#define SEEN "encode(timestamptz_send(seen), 'hex')"

// ---- Holders ------------------------------------------------------------------------------------

// Field 22 of /proc/PID/stat, counted after the name, which may hold anything.
static bool start_of(int64_t pid, char *start, size_t size) {
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) {
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    if (!at) {
        return false;
    }
    snprintf(start, size, "%.*s", (int)strcspn(at + 1, " \n"), at + 1);
    return true;
}

bool lease_is_alive(int64_t pid, const char *start) {
    char now[32];
    return start_of(pid, now, sizeof(now)) && strcmp(now, start) == 0;
}

void lease_self(char holder[LEASE_HOLDER_SIZE]) {
    char machine[IDENTITY_MACHINE_SIZE], boot[64], space[64] = "", start[32] = "0";
    identity_machine(machine);
    identity_boot(boot, sizeof(boot));
    ssize_t n = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);
    space[n > 0 ? n : 0] = '\0';
    const char *number = strchr(space, '[');
    start_of(getpid(), start, sizeof(start));
    snprintf(holder, LEASE_HOLDER_SIZE, "%s:%s:%.*s:%d:%s", machine, boot,
             number ? (int)strcspn(number + 1, "]") : 0, number ? number + 1 : "", (int)getpid(),
             start);
}

// Where the last two parts begin; NULL when there are no five.
static const char *process_part(const char *holder) {
    const char *last = NULL;
    size_t colons = 0;
    for (const char *at = holder; *at; at++) {
        colons += *at == ':';
        last = *at == ':' && colons == 3 ? at + 1 : last;
    }
    return colons == 4 ? last : NULL;
}

int64_t lease_pid(const char *holder) {
    const char *part = process_part(holder);
    size_t digits = part ? strspn(part, "0123456789") : 0;
    return digits > 0 && digits < 11 && part[digits] == ':' ? strtoll(part, NULL, 10) : 0;
}

enum lease_state lease_judge(const char *holder, const char *self, int64_t age_ms, int64_t lease_ms,
                             bool (*is_alive)(int64_t pid, const char *start)) {
    if (!holder) {
        return LEASE_FREE;
    }
    if (strcmp(holder, self) == 0) {
        return LEASE_OURS;
    }
    const char *process = process_part(holder);
    const char *own = process_part(self);
    int64_t pid = lease_pid(holder);
    bool is_here = process && own && pid > 0 && process - holder == own - self &&
                   memcmp(holder, self, (size_t)(own - self)) == 0;
    if (is_here && !is_alive(pid, strchr(process, ':') + 1)) {
        return LEASE_DEAD;
    }
    return age_ms >= lease_ms ? LEASE_OLD : LEASE_TAKEN;
}

// ---- Statements ---------------------------------------------------------------------------------

static enum failure_class refuse_lease(struct failure *failure, const char *holder, int64_t age_ms,
                                       const char *host) {
    int64_t pid = lease_pid(holder);
    int64_t seconds = age_ms < 0 ? 0 : age_ms / 1000; // the engine's clock may have gone back
    if (pid == 0) {
        return failure_set(failure, FAILURE_OTHER,
                           "the store of %s is being shipped by '%.64s', seen %" PRId64 " s ago",
                           host, holder, seconds);
    }
    return failure_set(failure, FAILURE_OTHER,
                       "the store of %s is being shipped by process %" PRId64 ", seen %" PRId64
                       " s ago",
                       host, pid, seconds);
}

// Writes ourselves over `holder` as it was seen `seen`. `*done`: nobody was faster.
static enum failure_class write_over(struct pg *pg, int64_t store_id, const char *self,
                                     const char *holder, const char *seen, bool *done) {
    char id[PG_NUMBER_SIZE];
    struct pg_rows *rows;
    const char *values[] = {pg_number(id, store_id), self, holder, seen};
    enum failure_class class = cursor_begin(pg);
    if (class) {
        return class;
    }
    class = pg_ask(
        pg,
        "UPDATE @.cursors SET shipper = $2, seen = statement_timestamp() WHERE store_id = "
        "$1::integer AND shipper IS NOT DISTINCT FROM $3 AND " SEEN " IS NOT DISTINCT FROM $4",
        values, 4, &rows);
    bool changed = class == FAILURE_NONE && pg_rows_changed(rows) > 0;
    pg_rows_free(rows);
    if (class) {
        pg_rollback(pg); // keeps the failure
        return class;
    }
    class = pg_run(pg, "COMMIT");
    *done = class == FAILURE_NONE && changed;
    return class;
}

// The lease may be taken, and the row is locked. If the engine waits for another shipper's rows, no
// limit ends that: whoever sends them is stopped, or cannot be reached. Its transaction is undone.
// FAILURE_ENGINE: it is not so, or the engine does not say: one of several machines does not join
// its own sessions with rows of others.
static enum failure_class end_silent(struct pg *pg, int64_t store_id) {
    char id[PG_NUMBER_SIZE];
    struct pg_rows *rows;
    const char *values[] = {pg_number(id, store_id)};
    enum failure_class class =
        pg_ask(pg,
               "SELECT pg_terminate_backend(a.pid) FROM @.cursors AS c JOIN pg_locks AS l ON "
               "l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted AND "
               "l.transactionid = c.xmax JOIN pg_stat_activity AS a ON a.pid = l.pid WHERE "
               "c.store_id = $1::integer AND a.usename = session_user AND a.wait_event = "
               "'ClientRead' AND a.application_name = current_setting('application_name')",
               values, 1, &rows);
    bool ended = class == FAILURE_NONE && pg_rows_count(rows) > 0;
    pg_rows_free(rows);
    bool broke = class == FAILURE_GONE || class == FAILURE_MEMORY;
    return ended ? FAILURE_NONE : broke ? class : FAILURE_ENGINE;
}

// The lease may be taken. That its row is locked stays the failure, whatever is said to the
// question by whom.
static enum failure_class replace(struct pg *pg, int64_t store_id, const char *self,
                                  const char *holder, const char *seen, struct failure *failure,
                                  bool *done) {
    enum failure_class class = write_over(pg, store_id, self, holder, seen, done);
    if (class) {
        *failure = *pg_failure(pg);
    }
    if (class == FAILURE_ENGINE && strcmp(failure->state, FAILURE_LOCK_TIMEOUT) == 0) {
        class = end_silent(pg, store_id);
        if (class && class != FAILURE_ENGINE) {
            *failure = *pg_failure(pg);
        }
    }
    return class;
}

static enum failure_class try_once(struct pg *pg, int64_t store_id, const char *self,
                                   int64_t lease_ms, const char *host, struct failure *failure,
                                   bool *done) {
    char id[PG_NUMBER_SIZE];
    struct pg_rows *rows;
    const char *values[] = {pg_number(id, store_id)};
    enum failure_class class = pg_ask(
        pg,
        "SELECT shipper, " SEEN ", (SELECT extract(epoch FROM clock_timestamp() - c.seen) * 1000 "
        "WHERE isfinite(c.seen))::bigint, coalesce(c.seen, '-infinity') = '-infinity' FROM "
        "@.cursors AS c WHERE c.store_id = $1::integer",
        values, 1, &rows);
    if (class) {
        *failure = *pg_failure(pg);
    } else if (pg_rows_count(rows) == 0) {
        class = failure_set(failure, FAILURE_MOVED, "the store's cursor is gone");
    } else {
        const char *holder = pg_text(rows, 0, 0);
        const char *never = pg_text(rows, 0, 3);
        int64_t age_ms = never && *never == 't' ? INT64_MAX : pg_int(rows, 0, 2);
        enum lease_state state = lease_judge(holder, self, age_ms, lease_ms, lease_is_alive);
        if (state != LEASE_TAKEN) {
            class = replace(pg, store_id, self, holder, pg_text(rows, 0, 1), failure, done);
        }
        bool is_locked =
            class == FAILURE_ENGINE && strcmp(failure->state, FAILURE_LOCK_TIMEOUT) == 0;
        if (state == LEASE_TAKEN || (state == LEASE_OLD && is_locked)) {
            class = refuse_lease(failure, holder, age_ms, host);
        }
    }
    pg_rows_free(rows);
    return class;
}

enum failure_class lease_take(struct pg *pg, int64_t store_id, const char *self, int64_t lease_ms,
                              const char *host, struct failure *failure) {
    for (int i = 0; i < TRIES; i++) {
        bool done = false;
        enum failure_class class = try_once(pg, store_id, self, lease_ms, host, failure, &done);
        if (class || done) {
            return class;
        }
    }
    return failure_set(failure, FAILURE_OTHER, "the store of %s is being shipped by others", host);
}

enum failure_class lease_renew(struct pg *pg, int64_t store_id, const char *self,
                               int64_t behind_rows) {
    char id[PG_NUMBER_SIZE], behind[PG_NUMBER_SIZE];
    struct pg_rows *rows;
    const char *values[] = {pg_number(id, store_id), self, pg_number(behind, behind_rows)};
    enum failure_class class =
        pg_ask(pg,
               "UPDATE @.cursors SET seen = statement_timestamp(), behind_rows = $3::bigint WHERE "
               "store_id = $1::integer AND shipper = $2",
               values, 3, &rows);
    if (class == FAILURE_NONE && pg_rows_changed(rows) == 0) {
        class = FAILURE_MOVED;
    }
    pg_rows_free(rows);
    return class;
}

// Whoever holds the row is waited for, with no other row held.
static enum failure_class take_one_back(struct pg *pg, const char *const *values, size_t *kept) {
    enum failure_class class = pg_run(pg, "BEGIN; SET LOCAL lock_timeout = '5s'");
    if (class == 0) {
        class = pg_ask(pg,
                       "UPDATE @.cursors SET shipper = NULL WHERE store_id = $1::integer AND "
                       "shipper = $2",
                       values, 2, NULL);
    }
    if (class == FAILURE_NONE) {
        return pg_run(pg, "COMMIT");
    }
    bool is_held = strcmp(pg_failure(pg)->state, FAILURE_LOCK_TIMEOUT) == 0;
    pg_rollback(pg); // keeps the failure
    *kept += is_held;
    return is_held ? FAILURE_NONE : class;
}

enum failure_class lease_take_back(struct pg *pg, int64_t most_ms, size_t *kept) {
    struct pg_rows *rows;
    *kept = 0;
    int64_t until = nvtxt_monotonic_ms() + most_ms;
    pg_say_what(pg, "to take the leases of shippers back");
    enum failure_class class =
        pg_ask(pg,
               "WITH free AS (SELECT store_id FROM @.cursors WHERE shipper IS NOT NULL FOR UPDATE "
               "SKIP LOCKED), taken AS (UPDATE @.cursors SET shipper = NULL WHERE store_id IN "
               "(SELECT store_id FROM free)) SELECT store_id, shipper FROM @.cursors WHERE shipper "
               "IS NOT NULL AND store_id NOT IN (SELECT store_id FROM free)",
               NULL, 0, &rows);
    for (size_t i = 0; class == FAILURE_NONE && i < pg_rows_count(rows); i++) {
        const char *values[] = {pg_text(rows, i, 0), pg_text(rows, i, 1)};
        if (nvtxt_monotonic_ms() < until) {
            class = take_one_back(pg, values, kept);
        } else {
            ++*kept;
        }
    }
    pg_rows_free(rows);
    return class;
}

enum failure_class lease_give_back(struct pg *pg, int64_t store_id, const char *self) {
    char id[PG_NUMBER_SIZE];
    const char *values[] = {pg_number(id, store_id), self};
    return pg_ask(pg,
                  "UPDATE @.cursors SET shipper = NULL WHERE store_id = $1::integer AND "
                  "shipper = $2",
                  values, 2, NULL);
}
