// SPDX-License-Identifier: Apache-2.0
//
// Numbers go as text in both directions. A transaction sets its own limits, so that the engine lets
// the row go when this process falls silent; nothing outlives it, as a pooler demands.
#include "ship/engine/cursor.h"

#include <stdio.h>
#include <string.h>

// While a COPY waits for rows only the network's limits count, and on a Unix socket none.
enum failure_class cursor_begin(struct pg *pg) {
    return pg_run(pg, "BEGIN; SET LOCAL statement_timeout = '60s'; SET LOCAL lock_timeout = '15s'; "
                      "SET LOCAL idle_in_transaction_session_timeout = '10s'; "
                      "SET LOCAL tcp_keepalives_idle = 5; SET LOCAL tcp_keepalives_interval = 1; "
                      "SET LOCAL tcp_keepalives_count = 5; SET LOCAL tcp_user_timeout = '10s'; "
                      "SET LOCAL array_nulls = on");
}

// The number of the store, or 0; whose it is.
static enum failure_class find_store(struct pg *pg, const char *store, struct cursor *cursor) {
    struct pg_rows *rows;
    enum failure_class class =
        pg_ask(pg,
               "SELECT s.store_id, s.host, (s.owner = session_user)::integer FROM @.stores AS s "
               "WHERE s.store = $1::uuid",
               &store, 1, &rows);
    if (class == FAILURE_NONE && pg_rows_count(rows) > 0) {
        cursor->store_id = pg_int(rows, 0, 0);
        snprintf(cursor->host, sizeof(cursor->host), "%s", pg_text(rows, 0, 1));
        cursor->is_ours = pg_int(rows, 0, 2) != 0;
    }
    pg_rows_free(rows);
    return class;
}

// Two statements: the first one asks for a row that every machine has, and with the number that it
// gives the second one is a question to one machine.
enum failure_class cursor_read(struct pg *pg, const char *store, struct cursor *cursor) {
    char id[PG_NUMBER_SIZE];
    struct pg_rows *rows;
    *cursor = (struct cursor){0};
    enum failure_class class = find_store(pg, store, cursor);
    if (class || cursor->store_id == 0) {
        return class;
    }
    const char *values[] = {pg_number(id, cursor->store_id)};
    class = pg_ask(pg,
                   "SELECT c.segment, c.event_row, c.diagnostic_row, c.loss_row, c.batch, "
                   "c.batch_ns, c.base FROM @.cursors AS c WHERE c.store_id = $1::integer",
                   values, 1, &rows);
    if (class || pg_rows_count(rows) == 0) {
        *cursor = (struct cursor){0};
    } else {
        cursor->place = (struct store_place){.segment = (uint64_t)pg_int(rows, 0, 0),
                                             .event_row = pg_int(rows, 0, 1),
                                             .diagnostic_row = pg_int(rows, 0, 2),
                                             .loss_row = pg_int(rows, 0, 3),
                                             .batch = pg_int(rows, 0, 4),
                                             .batch_ns = pg_int(rows, 0, 5),
                                             .base = pg_int(rows, 0, 6)};
    }
    pg_rows_free(rows);
    return class;
}

enum failure_class cursor_last_key(struct pg *pg, const struct cursor *cursor, int64_t *row) {
    char numbers[2][PG_NUMBER_SIZE];
    const char *values[] = {pg_number(numbers[0], cursor->store_id),
                            pg_number(numbers[1], (int64_t)cursor->place.segment)};
    struct pg_rows *rows;
    enum failure_class class =
        pg_ask(pg,
               "SELECT coalesce(max(row_id), 0) FROM @.range_keys WHERE store_id = $1::integer AND "
               "segment = $2::bigint",
               values, 2, &rows);
    *row = class == FAILURE_NONE ? pg_int(rows, 0, 0) : 0;
    pg_rows_free(rows);
    return class;
}

enum failure_class cursor_lock(struct pg *pg, const struct cursor *cursor, const char *shipper,
                               struct cursor_span *span) {
    char id[PG_NUMBER_SIZE];
    struct pg_rows *rows;
    const char *values[] = {pg_number(id, cursor->store_id)};
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
    char text[11][PG_NUMBER_SIZE];
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
        values[i] = pg_number(text[i], numbers[i]);
    }
    return pg_ask(pg,
                  "UPDATE @.cursors SET segment = $2::bigint, event_row = $3::bigint, "
                  "diagnostic_row = $4::bigint, loss_row = $5::bigint, batch = $6::bigint, "
                  "batch_ns = $7::bigint, base = $8::bigint, events = events + $9::bigint, "
                  "committed = coalesce(@.at(nullif($10::bigint, 0)), committed), "
                  "behind_rows = $11::bigint, seen = statement_timestamp() WHERE store_id = "
                  "$1::integer",
                  values, 11, NULL);
}

// While more rows follow at once, nobody waits for the engine's disk: if the engine dies, rows and
// cursor are gone together, and the store still has the rows. The last round of a segment, and of a
// backlog, waits, also for those before it.
enum failure_class cursor_commit(struct pg *pg, bool goes_on) {
    return pg_run(pg, goes_on ? "SET LOCAL synchronous_commit = off; COMMIT" : "COMMIT");
}

// The days of $1 to $2, in ns, as they are in the two statements.
#define FIRST_DAY "(@.at($1::bigint) AT TIME ZONE 'UTC')::date"
#define LAST_DAY "(@.at($2::bigint) AT TIME ZONE 'UTC')::date"

// Others may have made them meanwhile, so what is there counts, not what was made.
static enum failure_class make_days(struct pg *pg, const char *const *values, int64_t *made,
                                    bool *there) {
    struct pg_rows *rows;
    enum failure_class class = pg_ask(pg,
                                      "SELECT @.make_partitions(" FIRST_DAY ", greatest(" LAST_DAY
                                      ", (now() AT TIME ZONE 'UTC')::date + 7))",
                                      values, 2, &rows);
    if (class == 0) {
        *made = pg_int(rows, 0, 0);
        pg_rows_free(rows);
        class = pg_ask(pg,
                       "SELECT count(*) FROM generate_series(0, " LAST_DAY " - " FIRST_DAY
                       ") AS n WHERE NOT EXISTS (SELECT FROM pg_inherits AS i JOIN pg_class AS "
                       "c ON c.oid = i.inhrelid WHERE i.inhparent = '@.events'::regclass AND "
                       "c.relname = 'events_' || to_char(" FIRST_DAY " + n, 'YYYYMMDD'))",
                       values, 2, &rows);
    }
    if (class == FAILURE_NONE) {
        *there = pg_rows_count(rows) == 1 && pg_int(rows, 0, 0) == 0;
        pg_rows_free(rows);
    }
    return class;
}

enum failure_class cursor_make_partitions(struct pg *pg, int64_t first_ns, int64_t last_ns,
                                          int64_t *made, bool *there) {
    char first[PG_NUMBER_SIZE], last[PG_NUMBER_SIZE];
    const char *values[] = {pg_number(first, first_ns), pg_number(last, last_ns)};
    enum failure_class class = cursor_begin(pg);
    class = class ?: make_days(pg, values, made, there);
    class = class ?: pg_run(pg, "COMMIT");
    if (class) {
        pg_rollback(pg); // keeps the failure
    }
    return class;
}

enum failure_class cursor_reads_all(struct pg *pg, bool *all) {
    struct pg_rows *rows;
    enum failure_class class =
        pg_ask(pg, "SELECT has_table_privilege('@.fleet', 'SELECT')::integer", NULL, 0, &rows);
    *all = class == FAILURE_NONE && pg_int(rows, 0, 0);
    pg_rows_free(rows);
    return class;
}

// The first right that is missing, or NULL, what gives it, and whether nothing can be written. $1
// is the schema, $2 its version. Members of its role may lack what the role lacks; there may be no
// such role. Rights to update are of columns; "init" gives them all.
static const char missing_right[] =
    "SELECT m.lacks, CASE WHEN NOT pg_has_role(r.oid, 'USAGE') THEN format('GRANT %I TO %I', "
    "r.rolname, current_user) ELSE format('GRANT %s TO %I', m.granted, coalesce(r.rolname, "
    "current_user)) END, (current_setting('transaction_read_only') = 'on')::integer FROM (SELECT) "
    "AS one LEFT JOIN (SELECT a.what || ' on ' || split_part(a.name, '(', 1) AS lacks, "
    "format('%s ON %s%I.%s', a.granted, a.kind, $1::text, a.name) AS granted FROM ("
    "SELECT p.what, p.what AS granted, '' AS kind, t.name FROM (VALUES "
    "('INSERT', '{events,diagnostics,losses,segments,sources,domains,categories,threads,processes,"
    "open_ranges}'::text[]), "
    "('SELECT', '{stores,cursors,segments,sources,domains,categories,threads,processes,"
    "open_ranges}'), ('INSERT', CASE WHEN $2::integer > 2 THEN "
    "'{source_parents,range_keys}'::text[] "
    "END), ('SELECT', CASE WHEN $2::integer > 2 THEN '{range_keys}'::text[] END)) AS p (what, "
    "names), "
    "unnest(p.names) AS t (name) "
    "WHERE NOT has_any_column_privilege('@.' || t.name, p.what) "
    "UNION ALL SELECT 'UPDATE', format('UPDATE (%s)', string_agg(c.attname, ', ' ORDER BY "
    "c.attnum) "
    "FILTER (WHERE k.conrelid IS NULL OR t.name = 'open_ranges' AND c.attname <> 'store_id')), '', "
    "t.name FROM unnest('{cursors,segments,sources,domains,categories,threads,processes,"
    "open_ranges}'::text[]) AS t (name) JOIN pg_attribute AS c ON c.attrelid = ('@.' || "
    "t.name)::regclass AND c.attnum > 0 AND NOT c.attisdropped LEFT JOIN pg_constraint AS k ON "
    "k.conrelid = c.attrelid AND k.contype = 'p' AND c.attnum = ANY (k.conkey) "
    "GROUP BY t.name HAVING NOT has_any_column_privilege('@.' || t.name, 'UPDATE') "
    "UNION ALL SELECT 'EXECUTE', 'EXECUTE', 'FUNCTION ', f.name FROM unnest(CASE WHEN $2::integer "
    "> 1 THEN "
    "ARRAY['register_store(uuid, text, jsonb, text, text, text, bigint, bigint, bigint, bigint, "
    "bigint, bigint, bigint)', 'describe_store(integer, text, jsonb, text, text, text)', "
    "'check_store(uuid, text)'] END) AS f (name) WHERE NOT has_function_privilege('@.' || f.name, "
    "'EXECUTE') "
    "UNION ALL SELECT 'EXECUTE', 'EXECUTE', 'FUNCTION ', 'make_partitions(date, date)' WHERE 'p' = "
    "(SELECT relkind FROM pg_class WHERE oid = '@.events'::regclass) AND NOT "
    "has_function_privilege('@.make_partitions(date, date)', 'EXECUTE') "
    "UNION ALL SELECT 'EXECUTE', 'EXECUTE', 'FUNCTION ', 'mine(integer)' WHERE ((SELECT "
    "relrowsecurity FROM pg_class WHERE oid = '@.stores'::regclass) OR EXISTS (SELECT FROM "
    "pg_trigger WHERE tgname = 'own_rows' AND tgrelid = '@.events'::regclass)) AND NOT "
    "has_function_privilege('@.mine(integer)', 'EXECUTE') "
    "UNION ALL SELECT p.what, p.what, p.kind, p.name FROM (VALUES ('INSERT', '', 'stores', "
    "has_any_column_privilege('@.stores', 'INSERT')), ('INSERT', '', 'cursors', "
    "has_any_column_privilege('@.cursors', 'INSERT')), ('UPDATE', '', 'stores', "
    "has_any_column_privilege('@.stores', 'UPDATE')), ('DELETE', '', 'open_ranges', "
    "has_table_privilege('@.open_ranges', 'DELETE')), ('SELECT', 'SEQUENCE ', "
    "'stores_store_id_seq', has_sequence_privilege(to_regclass('@.stores_store_id_seq'), "
    "'SELECT'))) AS p "
    "(what, kind, name, has) WHERE $2::integer < 2 AND NOT p.has) AS a LIMIT 1) AS m ON true "
    "LEFT JOIN pg_roles AS r ON r.rolname = $1::text || '_ship'";

enum failure_class cursor_check_rights(struct pg *pg, const char *schema, int64_t version,
                                       bool writes, struct failure *failure) {
    char text[PG_NUMBER_SIZE];
    struct pg_rows *rows;
    const char *values[] = {schema, pg_number(text, version)};
    enum failure_class class = pg_ask(pg, missing_right, values, 2, &rows);
    if (class) {
        *failure = *pg_failure(pg);
        return class;
    }
    const char *missing = pg_text(rows, 0, 0);
    if (missing) {
        class = failure_set(failure, FAILURE_REFUSED, "the role may not ship, it lacks %s: %s",
                            missing, pg_text(rows, 0, 1));
    } else if (writes && pg_int(rows, 0, 2)) {
        class = failure_set(failure, FAILURE_ENGINE,
                            "nothing can be written: the database, or "
                            "the role there, is read-only");
    }
    pg_rows_free(rows);
    return class;
}
