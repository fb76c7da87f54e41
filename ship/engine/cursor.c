// SPDX-License-Identifier: Apache-2.0
//
// Numbers go as text in both directions. A transaction sets its own limits, so that the engine lets
// the row go when this process falls silent; nothing outlives it, as a pooler demands.
#include "ship/engine/cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_SIZE 24

static const char *number(char text[NUMBER_SIZE], int64_t value) {
    snprintf(text, NUMBER_SIZE, "%" PRId64, value);
    return text;
}

// While a COPY waits for rows only the network's limits count, and on a Unix socket none.
enum failure_class cursor_begin(struct pg *pg) {
    return pg_run(pg, "BEGIN; SET LOCAL statement_timeout = '60s'; SET LOCAL lock_timeout = '15s'; "
                      "SET LOCAL idle_in_transaction_session_timeout = '10s'; "
                      "SET LOCAL tcp_keepalives_idle = 5; SET LOCAL tcp_keepalives_interval = 1; "
                      "SET LOCAL tcp_keepalives_count = 5; SET LOCAL tcp_user_timeout = '10s'; "
                      "SET LOCAL array_nulls = on");
}

enum failure_class cursor_read(struct pg *pg, const char *store, struct cursor *cursor) {
    struct pg_rows *rows;
    const char *values[] = {store};
    *cursor = (struct cursor){0};
    enum failure_class class =
        pg_ask(pg,
               "SELECT c.store_id, c.segment, c.event_row, c.diagnostic_row, c.loss_row, c.batch, "
               "c.batch_ns, c.base, s.host, (s.owner = session_user)::integer FROM @.stores AS s "
               "JOIN @.cursors AS c ON "
               "c.store_id = s.store_id WHERE s.store = $1::uuid",
               values, 1, &rows);
    if (class == FAILURE_NONE && pg_rows_count(rows) > 0) {
        cursor->store_id = pg_int(rows, 0, 0);
        cursor->is_ours = pg_int(rows, 0, 9) != 0;
        cursor->place = (struct store_place){.segment = (uint64_t)pg_int(rows, 0, 1),
                                             .event_row = pg_int(rows, 0, 2),
                                             .diagnostic_row = pg_int(rows, 0, 3),
                                             .loss_row = pg_int(rows, 0, 4),
                                             .batch = pg_int(rows, 0, 5),
                                             .batch_ns = pg_int(rows, 0, 6),
                                             .base = pg_int(rows, 0, 7)};
        snprintf(cursor->host, sizeof(cursor->host), "%s", pg_text(rows, 0, 8));
    }
    pg_rows_free(rows);
    return class;
}

static enum failure_class add_rows(struct pg *pg, const struct identity *identity,
                                   const struct store_place *place, bool *added) {
    char segment[NUMBER_SIZE], row[NUMBER_SIZE], diagnostic[NUMBER_SIZE], loss[NUMBER_SIZE],
        batch[NUMBER_SIZE], batch_ns[NUMBER_SIZE], base[NUMBER_SIZE];
    struct pg_rows *rows;
    const char *values[] = {identity->store,
                            identity->host,
                            identity->labels,
                            identity->machine,
                            identity->path,
                            identity->product,
                            number(segment, (int64_t)place->segment),
                            number(row, place->event_row),
                            number(diagnostic, place->diagnostic_row),
                            number(loss, place->loss_row),
                            number(batch, place->batch),
                            number(batch_ns, place->batch_ns),
                            number(base, place->base)};
    enum failure_class class =
        pg_ask(pg,
               "INSERT INTO @.stores (store, host, labels, machine, path, product) VALUES "
               "($1::uuid, $2, $3::jsonb, $4, $5, $6) ON CONFLICT (store) DO NOTHING",
               values, 6, &rows);
    *added = class == FAILURE_NONE && pg_rows_changed(rows) > 0;
    pg_rows_free(rows);
    if (class || !*added) {
        return class;
    }
    return pg_ask(pg,
                  "INSERT INTO @.cursors (store_id, segment, event_row, diagnostic_row, loss_row, "
                  "batch, batch_ns, base) SELECT s.store_id, $2::bigint, $3::bigint, $4::bigint, "
                  "$5::bigint, $6::bigint, $7::bigint, $8::bigint FROM @.stores AS s WHERE "
                  "s.store = $1::uuid",
                  (const char *[]){values[0], values[6], values[7], values[8], values[9],
                                   values[10], values[11], values[12]},
                  8, NULL);
}

enum failure_class cursor_refuse(struct pg *pg, const char *store, struct failure *failure) {
    return failure_set(failure, FAILURE_NOT_OURS, "the store %s belongs to another role than %s",
                       store, pg_user(pg));
}

// A store that cannot be added is one that was added meanwhile, or one that row security hides.
static enum failure_class look_for_other(struct pg *pg, const char *store,
                                         struct failure *failure) {
    struct pg_rows *rows;
    enum failure_class class =
        pg_ask(pg,
               "SELECT c.store_id FROM @.stores AS s LEFT JOIN @.cursors AS c ON c.store_id = "
               "s.store_id WHERE s.store = $1::uuid",
               &store, 1, &rows);
    if (class) {
        *failure = *pg_failure(pg);
    } else if (pg_rows_count(rows) == 0) {
        class = cursor_refuse(pg, store, failure);
    } else if (!pg_text(rows, 0, 0)) {
        class = failure_set(failure, FAILURE_NOT_OURS,
                            "the store %s has no row in cursors: how far it is shipped is not "
                            "known",
                            store);
    }
    pg_rows_free(rows);
    return class;
}

enum failure_class cursor_check_new(struct pg *pg, const char *store, struct failure *failure) {
    struct pg_rows *rows = NULL;
    enum failure_class class = cursor_begin(pg);
    // With a number below 0 it takes none from those that stores get.
    class = class
                ?: pg_ask(pg,
                          "INSERT INTO @.stores (store_id, store, host) OVERRIDING SYSTEM VALUE "
                          "VALUES (-1 - floor(random() * 2147483647)::integer, $1::uuid, '') ON "
                          "CONFLICT (store) DO NOTHING",
                          &store, 1, &rows);
    bool added = class == FAILURE_NONE && pg_rows_changed(rows) > 0;
    pg_rows_free(rows);
    if (class) {
        *failure = *pg_failure(pg);
    }
    enum failure_class undone = pg_rollback(pg);
    if (undone && class == FAILURE_NONE) {
        *failure = *pg_failure(pg);
        class = undone;
    }
    return class || added ? class : look_for_other(pg, store, failure);
}

enum failure_class cursor_add(struct pg *pg, const struct identity *identity,
                              const struct store_place *place, struct failure *failure) {
    bool added = false;
    enum failure_class class = cursor_begin(pg);
    class = class ?: add_rows(pg, identity, place, &added);
    class = class ?: pg_run(pg, "COMMIT");
    if (class) {
        *failure = *pg_failure(pg);
        pg_rollback(pg);
        return class;
    }
    return added ? FAILURE_NONE : look_for_other(pg, identity->store, failure);
}

enum failure_class cursor_describe(struct pg *pg, int64_t store_id,
                                   const struct identity *identity) {
    char id[NUMBER_SIZE];
    const char *values[] = {number(id, store_id), identity->host, identity->labels,
                            identity->machine,    identity->path, identity->product};
    return pg_ask(pg,
                  "UPDATE @.stores SET host = $2, labels = $3::jsonb, machine = $4, path = $5, "
                  "product = $6 WHERE store_id = $1::integer AND (host, labels, machine, path, "
                  "product) IS DISTINCT FROM ($2, $3::jsonb, $4, $5, $6)",
                  values, 6, NULL);
}

enum failure_class cursor_drop_open_ranges(struct pg *pg, int64_t store_id) {
    char id[NUMBER_SIZE];
    const char *values[] = {number(id, store_id)};
    return pg_ask(pg, "DELETE FROM @.open_ranges WHERE store_id = $1::integer", values, 1, NULL);
}

enum failure_class cursor_lock(struct pg *pg, const struct cursor *cursor, const char *shipper,
                               struct cursor_span *span) {
    char id[NUMBER_SIZE];
    struct pg_rows *rows;
    const char *values[] = {number(id, cursor->store_id)};
    enum failure_class class = cursor_begin(pg);
    if (class) {
        return class;
    }
    class = pg_ask(pg,
                   "SELECT c.segment, c.event_row, c.shipper, @.ns(((now() AT TIME ZONE 'UTC')"
                   "::date - (SELECT keep_days FROM @.meta))::timestamp AT TIME ZONE 'UTC'), "
                   "@.ns(((now() AT TIME ZONE 'UTC')::date + 3)::timestamp AT TIME ZONE 'UTC') - 1 "
                   "FROM @.cursors AS c WHERE c.store_id = $1::integer FOR UPDATE",
                   values, 1, &rows);
    if (class) {
        return class;
    }
    const char *holder = pg_rows_count(rows) ? pg_text(rows, 0, 2) : NULL;
    bool same = holder && strcmp(holder, shipper) == 0 &&
                pg_int(rows, 0, 0) == (int64_t)cursor->place.segment &&
                pg_int(rows, 0, 1) == cursor->place.event_row;
    *span = same ? (struct cursor_span){pg_int(rows, 0, 3), pg_int(rows, 0, 4)}
                 : (struct cursor_span){0};
    pg_rows_free(rows);
    return same ? FAILURE_NONE : FAILURE_MOVED;
}

enum failure_class cursor_move(struct pg *pg, int64_t store_id, const struct cursor_step *step) {
    char text[11][NUMBER_SIZE];
    const int64_t numbers[] = {store_id,
                               (int64_t)step->place.segment,
                               step->place.event_row,
                               step->place.diagnostic_row,
                               step->place.loss_row,
                               step->place.batch,
                               step->place.batch_ns,
                               step->place.base,
                               step->events,
                               step->committed_ns,
                               step->behind_rows};
    const char *values[11];
    for (size_t i = 0; i < 11; i++) {
        values[i] = number(text[i], numbers[i]);
    }
    return pg_ask(pg,
                  "UPDATE @.cursors SET segment = $2::bigint, event_row = $3::bigint, "
                  "diagnostic_row = $4::bigint, loss_row = $5::bigint, batch = $6::bigint, "
                  "batch_ns = $7::bigint, base = $8::bigint, events = events + $9::bigint, "
                  "committed = coalesce(@.at(nullif($10::bigint, 0)), committed), "
                  "behind_rows = $11::bigint, seen = clock_timestamp() WHERE store_id = "
                  "$1::integer",
                  values, 11, NULL);
}

enum failure_class cursor_make_partitions(struct pg *pg, int64_t first_ns, int64_t last_ns,
                                          int64_t *made) {
    char first[NUMBER_SIZE], last[NUMBER_SIZE];
    struct pg_rows *rows;
    const char *values[] = {number(first, first_ns), number(last, last_ns)};
    *made = 0;
    enum failure_class class = cursor_begin(pg);
    if (class) {
        return class;
    }
    class = pg_ask(pg,
                   "SELECT @.make_partitions((@.at($1::bigint) AT TIME ZONE 'UTC')::date, "
                   "(@.at($2::bigint) AT TIME ZONE 'UTC')::date)",
                   values, 2, &rows);
    int64_t count = class ? 0 : pg_int(rows, 0, 0);
    pg_rows_free(rows);
    class = class ?: pg_run(pg, "COMMIT");
    if (class) {
        pg_rollback(pg); // keeps the failure
        return class;
    }
    *made = count;
    return FAILURE_NONE;
}

enum failure_class cursor_reads_all(struct pg *pg, bool *all) {
    struct pg_rows *rows;
    enum failure_class class =
        pg_ask(pg, "SELECT has_table_privilege('@.fleet', 'SELECT')", NULL, 0, &rows);
    *all = class == FAILURE_NONE && strcmp(pg_text(rows, 0, 0), "t") == 0;
    pg_rows_free(rows);
    return class;
}

// The first right that is missing, or NULL, the GRANT for it, and whether nothing can be written.
// $1 is the schema. Members of its role may lack what the role lacks; there may be no such role.
static const char missing_right[] =
    "SELECT m.lacks, CASE WHEN NOT pg_has_role(r.oid, 'USAGE') THEN format('GRANT %I TO %I', "
    "r.rolname, current_user) ELSE format('GRANT %s TO %I', m.granted, coalesce(r.rolname, "
    "current_user)) END, current_setting('transaction_read_only') = 'on' FROM (SELECT) AS one "
    "LEFT JOIN (SELECT a.what || ' on ' || split_part(a.name, '(', 1) AS lacks, "
    "format('%s ON %s%I.%s', a.what, a.kind, $1::text, a.name) AS granted FROM ("
    "SELECT p.what, '' AS kind, t.name FROM (VALUES "
    "('INSERT', '{events,diagnostics,losses,stores,cursors,segments,sources,domains,categories,"
    "threads,processes,open_ranges}'::text[]), "
    "('SELECT', '{stores,cursors,segments,sources,domains,categories,threads,processes,"
    "open_ranges}'), "
    "('UPDATE', '{stores,cursors,segments,sources,domains,categories,threads,processes,"
    "open_ranges}'), "
    "('DELETE', '{open_ranges}')) AS p (what, names), unnest(p.names) AS t (name) "
    "WHERE NOT CASE p.what WHEN 'DELETE' THEN has_table_privilege('@.' || t.name, p.what) "
    "ELSE has_any_column_privilege('@.' || t.name, p.what) END "
    "UNION ALL SELECT 'EXECUTE', 'FUNCTION ', 'make_partitions(date, date)' WHERE 'p' = (SELECT "
    "relkind FROM pg_class WHERE oid = '@.events'::regclass) AND NOT "
    "has_function_privilege('@.make_partitions(date, date)', 'EXECUTE') "
    "UNION ALL SELECT 'EXECUTE', 'FUNCTION ', 'mine(integer)' WHERE ((SELECT relrowsecurity FROM "
    "pg_class WHERE oid = '@.stores'::regclass) OR EXISTS (SELECT FROM pg_trigger WHERE tgname = "
    "'own_rows' AND tgrelid = '@.events'::regclass)) AND NOT "
    "has_function_privilege('@.mine(integer)', 'EXECUTE') "
    "UNION ALL SELECT 'SELECT', 'SEQUENCE ', 'stores_store_id_seq' WHERE EXISTS (SELECT FROM "
    "pg_policy WHERE polname = 'own_number' AND polrelid = '@.stores'::regclass) AND NOT "
    "has_sequence_privilege('@.stores_store_id_seq', 'SELECT')) AS a LIMIT 1) AS m ON true "
    "LEFT JOIN pg_roles AS r ON r.rolname = $1::text || '_ship'";

enum failure_class cursor_check_rights(struct pg *pg, const char *schema, bool writes,
                                       struct failure *failure) {
    struct pg_rows *rows;
    enum failure_class class = pg_ask(pg, missing_right, &schema, 1, &rows);
    if (class) {
        *failure = *pg_failure(pg);
        return class;
    }
    const char *missing = pg_text(rows, 0, 0);
    if (missing) {
        class = failure_set(failure, FAILURE_REFUSED, "the role may not ship, it lacks %s: %s",
                            missing, pg_text(rows, 0, 1));
    } else if (writes && strcmp(pg_text(rows, 0, 2), "t") == 0) {
        class = failure_set(failure, FAILURE_ENGINE,
                            "nothing can be written: the database, or "
                            "the role there, is read-only");
    }
    pg_rows_free(rows);
    return class;
}
