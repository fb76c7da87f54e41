// SPDX-License-Identifier: Apache-2.0
//
// Open ranges never change, they come and go. So their keys are compared with those of the last
// time; only those that came are read whole.
#include <stdlib.h>
#include <string.h>

#include "store/db/sql.h"
#include "store/follow/follow.h"
#include "store/follow/follow_state.h"
#include "store/value/codes.h"

typedef struct store_follow_range_key range_key;

static const char keys[] =
    "SELECT sourceId, seq FROM NVTXT_OPEN_RANGES ORDER BY start, sourceId, seq LIMIT ?1";
static const char row[] = "SELECT sourceId, seq, globalTid, kind, start, domainId, category, "
                          "color, text FROM NVTXT_OPEN_RANGES WHERE sourceId = ?1 AND seq = ?2";

static int compare(const void *a, const void *b) {
    const range_key *left = a, *right = b;
    return NVTXT_ORDER(left->source_id, right->source_id) ?: NVTXT_ORDER(left->seq, right->seq);
}

void store_follow_forget_open(struct store_follow *follow) {
    free(follow->open);
    free(follow->came);
    free(follow->went);
    follow->open = follow->came = follow->went = NULL;
    follow->open_count = follow->came_count = follow->went_count = 0;
    follow->came_at = 0;
    follow->open_is_on = false;
}

static int read_keys(struct store_follow *follow, range_key *now, size_t *count) {
    sqlite3_stmt **stmt = &follow->stmts[STORE_FOLLOW_OPEN_KEYS];
    *count = 0;
    int rc = store_sql_prepare(follow->db, stmt, keys);
    rc = rc ?: store_sql_bind(*stmt, "i", (int64_t)STORE_FOLLOW_OPEN);
    while (store_sql_next(*stmt, &rc)) {
        now[(*count)++] =
            (range_key){sqlite3_column_int64(*stmt, 0), sqlite3_column_int64(*stmt, 1)};
    }
    return *stmt ? store_sql_done(*stmt, rc) : rc;
}

// Fills `came` and `went` with the differences of two ordered lists.
static void compare_lists(struct store_follow *follow, const range_key *now, size_t count) {
    size_t i = 0, j = 0;
    follow->came_count = follow->went_count = follow->came_at = 0;
    while (i < count || j < follow->open_count) {
        int order = i == count                ? 1
                    : j == follow->open_count ? -1
                                              : compare(&now[i], &follow->open[j]);
        if (order < 0) {
            follow->came[follow->came_count++] = now[i];
        } else if (order > 0) {
            follow->went[follow->went_count++] = follow->open[j];
        }
        i += order <= 0;
        j += order >= 0;
    }
}

static int make_lists(struct store_follow *follow) {
    if (follow->open && follow->came && follow->went) {
        return SQLITE_OK;
    }
    store_follow_forget_open(follow);
    follow->open = calloc(STORE_FOLLOW_OPEN, sizeof(range_key));
    follow->came = calloc(STORE_FOLLOW_OPEN, sizeof(range_key));
    follow->went = calloc(STORE_FOLLOW_OPEN, sizeof(range_key));
    return follow->open && follow->came && follow->went ? SQLITE_OK : SQLITE_NOMEM;
}

static int begin(struct store_follow *follow) {
    size_t count;
    int rc = make_lists(follow);
    range_key *now = calloc(STORE_FOLLOW_OPEN, sizeof(range_key));
    rc = rc ?: now ? SQLITE_OK : SQLITE_NOMEM;
    rc = rc ?: read_keys(follow, now, &count);
    if (rc == SQLITE_OK) {
        qsort(now, count, sizeof(*now), compare);
        follow->open_count = follow->open_is_new ? 0 : follow->open_count;
        compare_lists(follow, now, count);
        memcpy(follow->open, now, count * sizeof(*now));
        follow->open_count = count;
    }
    free(now);
    return rc;
}

static int take_range(struct store_follow *follow, sqlite3_stmt *stmt, size_t at) {
    struct store_follow_range *range = (struct store_follow_range *)follow->rows + at;
    *range = (struct store_follow_range){
        .key = {sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1)},
        .global_tid = store_follow_maybe(stmt, 2),
        .event_type = store_follow_maybe(stmt, 3),
        .start_ns = store_follow_maybe(stmt, 4),
        .domain_id = store_follow_maybe(stmt, 5),
        .category = store_follow_maybe(stmt, 6),
        .color = store_follow_maybe(stmt, 7),
    };
    return store_follow_text(follow, stmt, 8, &range->text);
}

// In a transaction. A range that ended meanwhile is left out; the next time it will have gone.
static int read_ranges(struct store_follow *follow, size_t *count) {
    sqlite3_stmt **stmt = &follow->stmts[STORE_FOLLOW_OPEN_ROW];
    int rc = store_sql_prepare(follow->db, stmt, row);
    while (rc == SQLITE_OK && follow->came_at < follow->came_count && *count < STORE_FOLLOW_ROWS &&
           store_arena_used(&follow->texts) < STORE_FOLLOW_TEXT) {
        const range_key *key = &follow->came[follow->came_at];
        rc = store_sql_bind(*stmt, "ii", key->source_id, key->seq);
        if (store_sql_next(*stmt, &rc)) {
            rc = take_range(follow, *stmt, *count);
            *count += rc == SQLITE_OK;
        }
        rc = store_sql_done(*stmt, rc);
        follow->came_at++;
    }
    return rc;
}

static int read_all(struct store_follow *follow, size_t *count) {
    int rc = follow->open_is_on ? SQLITE_OK : begin(follow);
    return rc ?: read_ranges(follow, count);
}

int store_follow_open_ranges(struct store_follow *follow, struct store_follow_opens *open) {
    bool first = !follow->open_is_on;
    *open = (struct store_follow_opens){0};
    if (!follow->reader) {
        return STORE_NOT_FOUND;
    }
    if (!first && follow->came_at == follow->came_count) {
        follow->open_is_on = false;
        store_follow_room(follow);
        return STORE_NOT_FOUND;
    }
    int rc = store_follow_room(follow) ? SQLITE_OK : SQLITE_NOMEM;
    rc = rc ?: store_sql_exec(follow->db, "BEGIN");
    rc = rc ?: store_sql_commit(follow->db, read_all(follow, &open->came_count));
    if (rc != SQLITE_OK) { // all of them come again
        follow->open_is_new = true;
        follow->open_is_on = false;
        *open = (struct store_follow_opens){0};
        return store_follow_translate(follow, rc);
    }
    open->came = follow->rows;
    if (first) {
        open->all = follow->open_is_new;
        open->went = follow->went;
        open->went_count = follow->went_count;
        follow->open_is_new = false;
    }
    follow->open_is_on = open->came_count > 0 || open->went_count > 0 || open->all;
    return follow->open_is_on ? STORE_DONE : STORE_NOT_FOUND;
}
