// SPDX-License-Identifier: Apache-2.0
//
// A chunk of events with what stands in other tables about them: its batches, its sources, and
// which of its rows were never closed. All of these are in the order of the rows, so one walk
// beside the events joins each of them. The walk over the batches goes on where that of the chunk
// before it ended; the table has no index on rows.
#include <stdlib.h>

#include "store/db/sql.h"
#include "store/follow/follow.h"
#include "store/follow/follow_state.h"
#include "store/value/codes.h"

static const char batches[] = "SELECT id, firstRow, lastRow, committedNs FROM NVTXT_BATCHES "
                              "WHERE id > ?1 ORDER BY id";
static const char sources[] =
    "SELECT firstRow, lastRow, sourceId FROM NVTXT_EVENT_SOURCES WHERE firstRow >= "
    "(SELECT ifnull(max(firstRow), 0) FROM NVTXT_EVENT_SOURCES WHERE firstRow <= ?1) "
    "AND firstRow <= ?2 ORDER BY firstRow";
static const char unclosed[] =
    "SELECT eventRow FROM NVTXT_UNCLOSED WHERE eventRow BETWEEN ?1 AND ?2 ORDER BY eventRow";

// What has a longer text is not kept: until it is handed out, other tables need memory for theirs.
#define AHEAD_BYTES (2 * STORE_FOLLOW_TEXT)

static sqlite3_stmt *prepare(struct store_follow *follow, enum store_follow_stmt which,
                             const char *text, int *rc) {
    *rc = *rc ?: store_sql_prepare(follow->db, &follow->stmts[which], text);
    return follow->stmts[which];
}

// A row that no batch has is taken for one of the next batch, or of the last one.
static int join_batches(struct store_follow *follow, size_t count) {
    int rc = SQLITE_OK;
    bool more = true;
    struct store_follow_batch *batch = &follow->batch;
    sqlite3_stmt *stmt = prepare(follow, STORE_FOLLOW_BATCHES, batches, &rc);
    rc = rc ?: store_sql_bind(stmt, "i", batch->id);
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++) {
        struct store_follow_event *event = &follow->events[i];
        while (more && batch->last < event->event.row && (more = store_sql_next(stmt, &rc))) {
            *batch = (struct store_follow_batch){
                sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1),
                sqlite3_column_int64(stmt, 2), sqlite3_column_int64(stmt, 3)};
        }
        event->batch = batch->id;
        event->committed_ns = batch->id ? batch->committed_ns : follow->facts.started_ns;
    }
    return stmt ? store_sql_done(stmt, rc) : rc;
}

static int join_sources(struct store_follow *follow, size_t count) {
    int rc = SQLITE_OK;
    bool more = true;
    struct store_span rows = {0, 0};
    int64_t id = 0;
    sqlite3_stmt *stmt = prepare(follow, STORE_FOLLOW_EVENT_SOURCES, sources, &rc);
    if (rc == 0) {
        rc = store_sql_bind(stmt, "ii", follow->events[0].event.row,
                            follow->events[count - 1].event.row);
    }
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++) {
        struct store_follow_event *event = &follow->events[i];
        while (more && rows.last < event->event.row && (more = store_sql_next(stmt, &rc))) {
            rows =
                (struct store_span){sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1)};
            id = sqlite3_column_int64(stmt, 2);
        }
        bool is_its = event->event.row >= rows.first && event->event.row <= rows.last;
        event->source_id = is_its ? id : 0;
    }
    return stmt ? store_sql_done(stmt, rc) : rc;
}

static int join_unclosed(struct store_follow *follow, size_t count) {
    int rc = SQLITE_OK;
    size_t i = 0;
    sqlite3_stmt *stmt = prepare(follow, STORE_FOLLOW_UNCLOSED, unclosed, &rc);
    if (rc == 0) {
        rc = store_sql_bind(stmt, "ii", follow->events[0].event.row,
                            follow->events[count - 1].event.row);
    }
    while (store_sql_next(stmt, &rc)) {
        int64_t row = sqlite3_column_int64(stmt, 0);
        while (i < count && follow->events[i].event.row < row) {
            i++;
        }
        if (i < count && follow->events[i].event.row == row) {
            follow->events[i].unclosed = true;
        }
    }
    return stmt ? store_sql_done(stmt, rc) : rc;
}

// In a transaction.
static int read_chunk(struct store_follow *follow, struct store_read_rows *rows) {
    int64_t last = store_follow_end_of(follow, follow->limit.event_row);
    int rc = store_read_rows_after(follow->reader, follow->scanned, last, rows);
    for (size_t i = 0; i < rows->count && rc == SQLITE_OK; i++) {
        struct store_follow_event *event = &follow->events[i];
        *event = (struct store_follow_event){.event = rows->events[i],
                                             .range_id = rows->events[i].range_id};
        if (event->event.json.len == 0) {
            event->event.json.data = NULL;
        }
    }
    if (rc != SQLITE_OK || rows->count == 0) {
        return rc;
    }
    rc = join_batches(follow, rows->count);
    rc = rc ?: join_sources(follow, rows->count);
    return rc ?: join_unclosed(follow, rows->count);
}

static int read_events(struct store_follow *follow, struct store_follow_chunk *chunk) {
    struct store_follow_batch before = follow->batch;
    *chunk = (struct store_follow_chunk){.is_there = false};
    if (!follow->events) {
        follow->events = calloc(STORE_FOLLOW_ROWS, sizeof(*follow->events));
    }
    int rc = follow->events ? store_sql_exec(follow->db, "BEGIN") : SQLITE_NOMEM;
    rc = rc ?: store_sql_commit(follow->db, read_chunk(follow, &chunk->rows));
    chunk->is_there = rc == SQLITE_OK;
    chunk->batch = follow->batch;
    follow->batch = before;
    return rc;
}

void store_follow_read_ahead(struct store_follow *follow) {
    struct store_follow_chunk *ahead = &follow->ahead;
    if (follow->reader && !ahead->is_there && read_events(follow, ahead) == SQLITE_OK) {
        ahead->is_there = ahead->rows.count > 0 && ahead->rows.bytes <= AHEAD_BYTES;
        ahead->rows.at_end = false; // more may come until they are handed out
    }
    if (follow->reader && !ahead->is_there) {
        store_read_rows_free(follow->reader);
    }
}

static void hand_out(struct store_follow *follow, const struct store_follow_chunk *chunk) {
    const struct store_read_rows *rows = &chunk->rows;
    follow->batch = chunk->batch;
    follow->scanned = rows->last;
    follow->at_end = rows->at_end;
    follow->has_new_categories |= rows->has_names;
    if (rows->count > 0) {
        const struct store_follow_event *last = &follow->events[rows->count - 1];
        follow->place.event_row = last->event.row;
        follow->place.batch = last->batch;
        follow->place.batch_ns = last->batch ? last->committed_ns : 0;
    }
}

bool store_follow_pass_names(struct store_follow *follow) {
    bool moves = follow->reader && follow->at_end && follow->scanned > follow->place.event_row;
    follow->place.event_row = moves ? follow->scanned : follow->place.event_row;
    return moves;
}

int store_follow_events(struct store_follow *follow, const struct store_follow_event **events,
                        size_t *count) {
    struct store_follow_chunk chunk = follow->ahead;
    *count = 0;
    if (!follow->reader) {
        return STORE_NOT_FOUND;
    }
    follow->ahead.is_there = false;
    int rc = chunk.is_there ? SQLITE_OK : read_events(follow, &chunk);
    if (rc != SQLITE_OK) {
        return store_follow_translate(follow, rc);
    }
    hand_out(follow, &chunk);
    *events = follow->events;
    *count = chunk.rows.count;
    return chunk.rows.count > 0 || !chunk.rows.at_end ? STORE_DONE : STORE_NOT_FOUND;
}
