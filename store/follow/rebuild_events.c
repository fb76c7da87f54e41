// SPDX-License-Identifier: Apache-2.0
//
// Events of one time of commit are a batch, and those of one source in a row a range of rows of
// that source. Both are written when they end. Texts are kept once, as far as memory goes.
#include "store/follow/rebuild.h"
#include "store/follow/rebuild_state.h"
#include "store/read/event_members.h"
#include "store/value/record.h"

int store_rebuild_add_string(struct store_rebuild *rebuild, struct nvtxt_slice text, int64_t *id) {
    *id = rebuild->next_string++;
    return STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_STRING, "is", *id, text.data, text.len);
}

int store_rebuild_intern(struct store_rebuild *rebuild, struct nvtxt_slice text, int64_t *id) {
    uint32_t hash = store_text_hash(text.data, text.len);
    *id = store_intern_find(&rebuild->intern, hash, text.data, text.len);
    if (*id >= 0) {
        return SQLITE_OK;
    }
    int rc = store_rebuild_add_string(rebuild, text, id);
    if (rc == SQLITE_OK) {
        store_intern_add(&rebuild->intern, hash, text.data, text.len, *id);
    }
    return rc;
}

static int end_run(struct store_rebuild *rebuild) {
    const struct store_rebuild_run *run = &rebuild->run;
    int rc = run->last ? STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_RUN, "iii", run->first,
                                           run->last, run->source_id)
                       : SQLITE_OK;
    rebuild->run = (struct store_rebuild_run){0};
    return rc;
}

int store_rebuild_end_batch(struct store_rebuild *rebuild) {
    const struct store_rebuild_batch *batch = &rebuild->batch;
    int rc = end_run(rebuild);
    if (batch->events > 0) {
        if (rc == 0) {
            rc = STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_BATCH, "iiiiii", batch->first,
                                   batch->last, batch->min_start, batch->max_end,
                                   batch->committed_ns, batch->events);
        }
    }
    rebuild->batch = (struct store_rebuild_batch){0};
    return rc;
}

_Static_assert(STORE_EVENT_PAYLOAD_COLUMNS == 6, "as many NULLs are bound below");

// In place of the NULL of its column.
static int bind_payload(sqlite3_stmt *stmt, const struct nvtxt_payload *payload) {
    const int before = 12; // parameters before those of payloads
    if (payload->kind == NVTXT_PAYLOAD_NONE) {
        return SQLITE_OK;
    }
    int index = before + (int)store_event_payload_column(payload->kind);
    return nvtxt_payload_is_real(payload->kind) ? sqlite3_bind_double(stmt, index, payload->real)
                                                : sqlite3_bind_int64(stmt, index, payload->int64);
}

static int insert_event(struct store_rebuild *rebuild, const struct store_read_event *event,
                        int64_t row) {
    struct store_maybe end_tid = {event->ended_elsewhere, (int64_t)event->end_global_tid};
    struct nvtxt_slice json = {event->json.len > 0 ? event->json.data : NULL, event->json.len};
    int64_t range_id = event->type == NVTXT_EVENT_START_END ? row : 0;
    int64_t text_id;
    int rc = store_rebuild_intern(rebuild, event->text, &text_id);
    rc = rc ?: store_rebuild_ready(rebuild, STORE_REBUILD_ADD_EVENT);
    sqlite3_stmt *stmt = rebuild->stmts[STORE_REBUILD_ADD_EVENT];
    if (rc == SQLITE_OK) {
        rc = store_sql_bind(stmt, "iiiiisiiiiminnnnnno", row, event->start, event->end,
                            (int64_t)event->type, range_id, event->text.data, event->text.len,
                            (int64_t)event->category, (int64_t)event->color,
                            (int64_t)event->global_tid, event->domain_id, end_tid, text_id, json);
    }
    rc = rc ?: bind_payload(stmt, &event->payload);
    return rc ?: store_sql_run(stmt);
}

static void count_in(struct store_rebuild_batch *batch, const struct store_follow_event *event,
                     int64_t row) {
    if (batch->events++ == 0) {
        *batch = (struct store_rebuild_batch){.first = row,
                                              .min_start = event->event.start,
                                              .max_end = event->event.end,
                                              .committed_ns = event->committed_ns,
                                              .events = 1};
    }
    batch->last = row;
    batch->min_start =
        event->event.start < batch->min_start ? event->event.start : batch->min_start;
    batch->max_end = event->event.end > batch->max_end ? event->event.end : batch->max_end;
}

static int add_event(struct store_rebuild *rebuild, const struct store_follow_event *event) {
    int rc = SQLITE_OK;
    int64_t row = rebuild->next_row;
    if (rebuild->batch.events > 0 && rebuild->batch.committed_ns != event->committed_ns) {
        rc = store_rebuild_end_batch(rebuild);
    } else if (rebuild->run.last > 0 && rebuild->run.source_id != event->source_id) {
        rc = end_run(rebuild);
    }
    rc = rc ?: insert_event(rebuild, &event->event, row);
    if (event->unclosed) {
        rc = rc ?: STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_UNCLOSED, "i", row);
    }
    if (rc == SQLITE_OK) {
        count_in(&rebuild->batch, event, row);
        rebuild->run = (struct store_rebuild_run){rebuild->run.last ? rebuild->run.first : row, row,
                                                  event->source_id};
        rebuild->last_start = event->event.start;
        rebuild->has_nvtx |=
            event->event.json.len > 0 || event->event.payload.kind > NVTXT_PAYLOAD_DOUBLE;
        rebuild->next_row++;
    }
    return rc;
}

int store_rebuild_event(struct store_rebuild *rebuild, const struct store_follow_event *event) {
    return store_rebuild_result(rebuild, add_event(rebuild, event));
}
