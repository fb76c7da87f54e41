// SPDX-License-Identifier: Apache-2.0
//
// A read walks along a range of rowids, which needs no index; NVTXT_TIMELINE finds the names. This
// runs on the writer's thread, so it looks at a bounded number of rows and does not keep the
// writer; the cursor says where the next step begins.
//
// A cursor may stand in a segment that the link left, when the store was rotated after it. That
// segment is opened for the step, and at its end the cursor moves on into the next one.
#include "store/read/older_segments.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/table/arrays.h"
#include "store/db/connection.h"
#include "store/db/sql.h"
#include "store/segment/segments.h"

// The view has the payload, but not its type. JSON may stand beside it.
#define PAYLOAD_TYPE                                                                               \
    "(SELECT CASE WHEN uint64Value IS NOT NULL THEN 'u64' WHEN int64Value IS NOT NULL THEN 'i64' " \
    "WHEN doubleValue IS NOT NULL THEN 'f64' WHEN uint32Value IS NOT NULL THEN 'u32' "             \
    "WHEN int32Value IS NOT NULL THEN 'i32' WHEN floatValue IS NOT NULL THEN 'f32' END "           \
    "FROM NVTX_EVENTS WHERE rowid = eventRow)"

#define ROWS(level, order)                                                                         \
    "SELECT eventRow, start, duration, pid, tid, categoryId, ifnull(sourceId, 0), kind, message, " \
    "category, process, thread, source, domain, color, payload, " PAYLOAD_TYPE ", "                \
    "(SELECT jsonText FROM NVTX_EVENTS WHERE rowid = eventRow), " level " FROM NVTXT_TIMELINE "    \
    "WHERE eventRow > ?1 AND eventRow <= ?2 AND (?3 < 0 OR pid = ?3) "                             \
    "AND (?4 < 0 OR categoryId = ?4) AND (?5 IS NULL OR category = ?5) AND (?6 IS NULL OR "        \
    "instr(message, ?6) > 0) "                                                                     \
    "AND (?7 IS NULL OR kind = ?7 OR (?7 = 'range' AND kind <> 'mark')) "                          \
    "ORDER BY eventRow " order " LIMIT ?8"

// A segment that an older version left has no levels.
static const char *const queries[2][2] = {
    {ROWS("level", ""), ROWS("NULL", "")},
    {ROWS("level", "DESC"), ROWS("NULL", "DESC")},
};

#define FIRST_TEXT 7
#define TEXTS 12

static int prepare(sqlite3 *db, const struct store_event_query *query, sqlite3_stmt **stmt) {
    const char *const *texts = queries[query->backward];
    int rc = sqlite3_prepare_v2(db, texts[0], -1, stmt, NULL);
    return (rc & 0xff) == SQLITE_ERROR ? sqlite3_prepare_v2(db, texts[1], -1, stmt, NULL) : rc;
}

// ---- Rows ---------------------------------------------------------------------------------------

static int copy_texts(sqlite3_stmt *stmt, struct store_event_row *row, size_t *bytes) {
    struct nvtxt_slice *slices[TEXTS] = {&row->kind,         &row->message, &row->category_name,
                                         &row->process,      &row->thread,  &row->source,
                                         &row->domain,       &row->color,   &row->payload,
                                         &row->payload_type, &row->json,    &row->level};
    size_t len = 0;
    for (int i = 0; i < TEXTS; i++) {
        slices[i]->data = (const char *)sqlite3_column_text(stmt, FIRST_TEXT + i);
        slices[i]->len = (size_t)sqlite3_column_bytes(stmt, FIRST_TEXT + i);
        len += slices[i]->len;
    }
    row->texts = malloc(len + 1);
    if (!row->texts) {
        return SQLITE_NOMEM;
    }
    char *to = row->texts;
    for (int i = 0; i < TEXTS; i++) {
        if (slices[i]->len > 0) {
            memcpy(to, slices[i]->data, slices[i]->len);
        }
        slices[i]->data = to;
        to += slices[i]->len;
    }
    *bytes += len;
    return SQLITE_OK;
}

static int take_row(sqlite3_stmt *stmt, struct store_events *events, size_t *bytes) {
    struct store_event_row *row = nvtxt_add(&events->rows, &events->count, sizeof(*row));
    if (!row) {
        return SQLITE_NOMEM;
    }
    *row = (struct store_event_row){
        .row = sqlite3_column_int64(stmt, 0),
        .start_ns = sqlite3_column_int64(stmt, 1),
        .duration_ns = sqlite3_column_int64(stmt, 2),
        .pid = sqlite3_column_int64(stmt, 3),
        .tid = sqlite3_column_int64(stmt, 4),
        .category = sqlite3_column_int64(stmt, 5),
        .source_id = sqlite3_column_int64(stmt, 6),
    };
    int rc = copy_texts(stmt, row, bytes);
    events->count -= rc != SQLITE_OK;
    return rc;
}

// ---- One step in one segment --------------------------------------------------------------------

int store_events_last(sqlite3 *db, int64_t *row) {
    return store_sql_int(db, "SELECT ifnull(max(rowid), 0) FROM NVTX_EVENTS", row);
}

// Reads the matching rows of (first, last]. `*full`: it ended before the last of them.
static int scan(sqlite3 *db, const struct store_event_query *query, int64_t first, int64_t last,
                struct store_events *events, bool *full) {
    sqlite3_stmt *stmt = NULL;
    size_t bytes = 0;
    size_t room = query->limit - events->count;
    int rc = prepare(db, query, &stmt);
    if (rc == 0) {
        rc = store_sql_bind(stmt, "iiiittti", first, last, query->pid, query->category,
                            query->category_name, query->message, query->kind, (int64_t)room);
    }
    while (bytes < STORE_EVENTS_BYTES && store_sql_next(stmt, &rc)) {
        rc = take_row(stmt, events, &bytes);
    }
    *full = events->count >= query->limit || bytes >= STORE_EVENTS_BYTES;
    sqlite3_finalize(stmt);
    return rc;
}

// Reads after `next`, at most to the segment's last row.
static int step_forward(const struct store_events_place *place,
                        const struct store_event_query *query, struct store_events *events) {
    int64_t *row = &events->next.row;
    if (*row > place->last_row) {
        events->gone = true; // another store has taken its place
        *row = 0;
    }
    if (place->last_row - *row > STORE_EVENTS_LAG) {
        int64_t from = place->last_row - STORE_EVENTS_SCANNED;
        events->skipped += (uint64_t)(from - *row);
        *row = from;
    }
    int64_t last = place->last_row - *row > STORE_EVENTS_SCANNED ? *row + STORE_EVENTS_SCANNED
                                                                 : place->last_row;
    bool full = false;
    int rc = scan(place->db, query, *row, last, events, &full);
    *row = full ? events->rows[events->count - 1].row : last;
    events->more = *row < place->last_row;
    return rc;
}

// Reads backward before `next`.
static int step_backward(const struct store_events_place *place,
                         const struct store_event_query *query, struct store_events *events) {
    int64_t *row = &events->next.row;
    if (*row > place->last_row) {
        *row = place->last_row;
    }
    int64_t first = *row > STORE_EVENTS_SCANNED ? *row - STORE_EVENTS_SCANNED : 0;
    bool full = false;
    int rc = scan(place->db, query, first, *row, events, &full);
    *row = full ? events->rows[events->count - 1].row - 1 : first;
    events->more = *row > 0;
    return rc;
}

static int step(const struct store_events_place *place, const struct store_event_query *query,
                struct store_events *events) {
    return query->backward ? step_backward(place, query, events)
                           : step_forward(place, query, events);
}

// ---- Segments -----------------------------------------------------------------------------------

// Skips a segment that cannot be read, perhaps because it was removed just now.
static int step_old(const char *path, const struct store_event_query *query,
                    struct store_events *events) {
    struct store_events_place place = {0};
    int rc = store_connection_read_left(&place.db, path);
    rc = rc ?: store_events_last(place.db, &place.last_row);
    rc = rc ?: step(&place, query, events);
    sqlite3_close(place.db);
    if (rc != SQLITE_OK && rc != SQLITE_NOMEM) {
        events->gone = true;
        events->more = false;
        return SQLITE_OK;
    }
    return rc;
}

// Where in the list `next` is: its segment, or else the first one after it (backward: the last one
// before it). SIZE_MAX: none.
static size_t find_segment(const struct store_segments *segments, bool backward,
                           struct store_events *events) {
    struct store_cursor *next = &events->next;
    size_t at = 0;
    while (at < segments->count && segments->rows[at].number < next->segment) {
        at++;
    }
    if (at < segments->count && segments->rows[at].number == next->segment) {
        return at;
    }
    events->gone = true;
    if (backward) {
        *next = (struct store_cursor){at > 0 ? segments->rows[at - 1].number : 0, INT64_MAX};
        return at - 1; // SIZE_MAX for the first one
    }
    at = at < segments->count ? at : segments->count - 1; // a store that began anew
    *next = (struct store_cursor){segments->rows[at].number, 0};
    return at;
}

// At the end of a segment: moves into the next one (backward: the one before). False when there is
// none.
static bool move_on(const struct store_segments *segments, bool backward, size_t at,
                    struct store_events *events) {
    if (events->more || (backward ? at == 0 : at + 1 == segments->count)) {
        return false;
    }
    events->next.segment = segments->rows[backward ? at - 1 : at + 1].number;
    events->next.row = backward ? INT64_MAX : 0;
    events->more = true;
    return true;
}

static int read_segments(const struct store_events_place *active,
                         const struct store_segments *segments,
                         const struct store_event_query *query, struct store_events *events) {
    int rc = SQLITE_OK;
    bool moved = true;
    for (int steps = 0; rc == SQLITE_OK && moved && steps < 2; steps++) {
        size_t at = find_segment(segments, query->backward, events);
        if (at == SIZE_MAX) {
            return SQLITE_OK;
        }
        rc = at + 1 == segments->count ? step(active, query, events)
                                       : step_old(segments->rows[at].path, query, events);
        moved = rc == SQLITE_OK && move_on(segments, query->backward, at, events);
        moved = moved && events->count < query->limit;
    }
    return rc;
}

int store_events_read(const struct store_events_place *active, const char *path,
                      const struct store_event_query *query, struct store_events *events) {
    struct store_segments segments = {0};
    int r = store_segments_list(path, &segments);
    if (r < 0 || segments.count == 0) {
        store_segments_deinit(&segments);
        return r < 0 ? store_result_rc(r) : SQLITE_CANTOPEN;
    }
    events->end = (struct store_cursor){segments.rows[segments.count - 1].number, active->last_row};
    events->next = query->cursor.segment == UINT64_MAX ? events->end : query->cursor;
    int rc = read_segments(active, &segments, query, events);
    store_segments_deinit(&segments);
    return rc;
}
