// SPDX-License-Identifier: Apache-2.0
//
// What the engine has of simulated hosts. Their identities are a span of UUIDs that no random one
// is in: the version stands in it, and is 8. Rows are counted on the engine, a store at a time.
#include <inttypes.h>
#include <stdio.h>

#include "ship/simulate/inner.h"

// All that may ever be one.
#define FIRST_UUID "'" UUID_OF_STORES "000000000000'"
#define LAST_UUID "'" UUID_OF_STORES "ffffffffffff'"

enum failure_class check_stores(struct pg *pg, const char *schema, struct failure *failure) {
    struct pg_rows *rows;
    enum failure_class class =
        pg_ask(pg,
               "SELECT count(*), min(host) FROM @.stores WHERE store NOT BETWEEN " FIRST_UUID
               " AND " LAST_UUID,
               NULL, 0, &rows);
    if (class) {
        *failure = *pg_failure(pg);
        return class;
    }
    int64_t others = pg_int(rows, 0, 0);
    if (others > 0) {
        class = failure_set(failure, FAILURE_TARGET,
                            "the schema %s has %" PRId64 " store%s that no simulation made, such "
                            "as that of %.128s: name another --schema, or say --mixed",
                            schema, others, others == 1 ? "" : "s", pg_text(rows, 0, 1));
    }
    pg_rows_free(rows);
    return class;
}

// A store has the rows 1 to event_row of its cursor. From one that is older than what is kept, the
// first ones may be gone.
static const char count_rows[] =
    "SELECT count(*), coalesce(sum(event_row), 0), coalesce(sum(n), 0), coalesce(sum(event_row - "
    "first + 1 - known), 0), coalesce(sum(n - d), 0), coalesce(sum(d - known), 0) FROM (SELECT "
    "c.event_row, coalesce(e.n, 0) AS n, coalesce(e.d, 0) AS d, coalesce(e.d, 0) - "
    "coalesce(e.beyond, 0) AS known, CASE WHEN s.first_seen < now() - m.keep_days * interval '1 "
    "day' THEN coalesce(e.low, c.event_row + 1) ELSE 1 END AS first FROM @.stores AS s CROSS JOIN "
    "@.meta AS m JOIN @.cursors AS c ON c.store_id = s.store_id LEFT JOIN (SELECT v.store_id, "
    "count(*) AS n, count(DISTINCT v.row_id) AS d, count(DISTINCT v.row_id) FILTER (WHERE v.row_id "
    "< 1 OR v.row_id > k.event_row) AS beyond, min(v.row_id) AS low FROM @.events AS v JOIN "
    "@.cursors AS k ON k.store_id = v.store_id WHERE v.store_id BETWEEN $3::integer AND "
    "$4::integer GROUP BY v.store_id) AS e ON e.store_id = s.store_id WHERE s.store BETWEEN "
    "$1::uuid AND $2::uuid) AS t";

static enum failure_class judge(const struct run *run, const struct pg_rows *rows,
                                struct failure *failure) {
    struct simulate_result *result = run->result;
    int64_t shipped = 0;
    for (int64_t i = 0; i < run->wishes->hosts; i++) {
        shipped += run->hosts[i].place.event_row;
    }
    result->is_checked = true;
    result->checked = pg_int(rows, 0, 2);
    result->missing = pg_int(rows, 0, 3);
    result->doubled = pg_int(rows, 0, 4);
    result->strange = pg_int(rows, 0, 5);
    bool is_whole = run->present == run->wishes->hosts && run->result->failures == 0;
    if (is_whole && (pg_int(rows, 0, 0) != run->present || pg_int(rows, 0, 1) != shipped)) {
        return failure_set(failure, FAILURE_MOVED,
                           "the cursors of simulated hosts were moved by another one");
    }
    return FAILURE_NONE;
}

enum failure_class check_rows(struct pg *pg, struct run *run, struct failure *failure) {
    char uuid[64], low[PG_NUMBER_SIZE], high[PG_NUMBER_SIZE];
    int64_t first = INT32_MAX, last = 0;
    struct pg_rows *rows;
    snprintf(uuid, sizeof(uuid), UUID_OF_STORES "%012" PRIx64, (uint64_t)run->wishes->hosts);
    for (int64_t i = 0; i < run->wishes->hosts; i++) {
        int64_t id = run->hosts[i].store_id;
        first = id && id < first ? id : first;
        last = id > last ? id : last;
    }
    const char *values[] = {UUID_OF_STORES "000000000001", uuid, pg_number(low, first),
                            pg_number(high, last)};
    pg_say_what(pg, "to count the rows of simulated hosts");
    enum failure_class class = pg_ask(pg, count_rows, values, 4, &rows);
    if (class) {
        *failure = *pg_failure(pg);
        return class;
    }
    class = judge(run, rows, failure);
    pg_rows_free(rows);
    return class;
}
