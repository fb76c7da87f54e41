// SPDX-License-Identifier: Apache-2.0
//
// Sources that a killed daemon left open. If nobody can go on with one, it gets the end that its
// interpreter would have given it, as far as the store knows: its open ranges become events that
// end at its latest known time, each with the warning that it was never closed. Some sources at a
// time, in a transaction of their own.
#include <stdlib.h>

#include "protocol/lang/diag.h"
#include "store/db/sql.h"
#include "store/store.h"
#include "store/store_state.h"

#define AT_ONCE 100 // sources closed in one transaction

static const char find_lost[] =
    "SELECT id, displayName, lines, events, warnings, errors, firstNs, lastNs "
    "FROM NVTXT_SOURCES s WHERE closedNs IS NULL AND CASE kind WHEN 'session' THEN NOT EXISTS "
    "(SELECT 1 FROM NVTXT_SESSIONS n WHERE n.sourceId = s.id) WHEN 'file' THEN NOT EXISTS "
    "(SELECT 1 FROM NVTXT_FILES f WHERE f.sourceId = s.id) ELSE 1 END LIMIT ?";

static int end_range(const struct nvtxt_open_range *range, int64_t end,
                     const struct nvtxt_sink *sink) {
    struct nvtxt_event event = {
        .type = range->type,
        .unclosed = true,
        .pid = range->pid,
        .tid = range->tid,
        .category = range->category,
        .color = range->color,
        .start = range->start,
        .end = end,
        .text = range->text,
        .domain = range->domain,
        .payload = range->payload,
        .json = range->json,
        .open_seq = range->seq,
    };
    struct nvtxt_diag diag;
    nvtxt_diag_set(&diag, NVTXT_DIAG_NEVER_CLOSED, range->column,
                   "range '%.*s' was never closed: its source was lost",
                   (int)(range->text.len < 100 ? range->text.len : 100), range->text.data);
    nvtxt_diag_set_excerpt(&diag, range->excerpt);
    diag.line = range->line;
    int r = sink->on_event(sink->context, &event);
    return r ?: sink->on_diag(sink->context, &diag);
}

// Ends one source in the batch. Its latest known time is the largest one in its rows. Returns 0 or
// -ENOMEM.
static int end_source(struct store_batch_source *share, const struct nvtxt_open_range *ranges,
                      size_t count, struct nvtxt_counters counters, struct nvtxt_slice display,
                      const char *how, int64_t now_ns) {
    struct nvtxt_sink sink;
    store_batch_sink(share, &sink);
    for (size_t i = 0; i < count; i++) {
        if (!counters.has_time || ranges[i].start < counters.first_ns) {
            counters.first_ns = ranges[i].start;
        }
        if (!counters.has_time || ranges[i].start > counters.last_ns) {
            counters.last_ns = ranges[i].start;
        }
        counters.has_time = true;
    }
    int r = 0;
    for (size_t i = 0; i < count && r == 0; i++) {
        r = end_range(&ranges[i], counters.last_ns, &sink);
    }
    counters.events += count;
    counters.warnings += count;
    r = r ?: store_batch_progress(share, &counters, display);
    return r ?: store_batch_end_source(share, how, now_ns);
}

int store_session_end(struct store_batch_source *share, const struct store_session *session,
                      const char *how, int64_t closed_ns) {
    return end_source(share, session->ranges, session->range_count, session->counters,
                      nvtxt_slice_of(session->display_name ?: ""), how, closed_ns);
}

static int recover_source(struct store_sessions *sessions, sqlite3_stmt *stmt, int64_t now_ns,
                          struct store_batch *batch) {
    struct store_source source = {.id = sqlite3_column_int64(stmt, 0)};
    struct nvtxt_counters counters = store_sessions_counters(stmt, 2);
    struct nvtxt_open_range *ranges = NULL;
    struct nvtxt_slice display = {0};
    size_t count = 0;
    int rc = store_sql_copy(stmt, 1, &display);
    rc = rc ?: store_sessions_ranges(sessions, source.id, &ranges, &count);
    if (rc == SQLITE_OK) {
        struct store_batch_source *share = store_batch_source(batch, &source);
        bool done =
            share && end_source(share, ranges, count, counters, display, "lost", now_ns) == 0;
        rc = done ? SQLITE_OK : SQLITE_NOMEM;
    }
    free((char *)display.data);
    store_ranges_free(ranges, count);
    return rc;
}

// Adds the end of open sources that nobody can go on with to `batch`: they are no session and no
// followed file, or one without a state. `*count` says how many; if it is AT_ONCE, there may be
// more. Returns an SQLite result code.
static int read_lost(struct store_sessions *sessions, int64_t now_ns, struct store_batch *batch,
                     int *count) {
    sqlite3_stmt *stmt = NULL;
    *count = 0;
    int rc = sqlite3_prepare_v2(sessions->txn->db, find_lost, -1, &stmt, NULL);
    rc = rc ?: store_sql_bind(stmt, "i", (int64_t)AT_ONCE);
    while (store_sql_next(stmt, &rc)) {
        rc = recover_source(sessions, stmt, now_ns, batch);
        ++*count;
    }
    rc = store_sql_done(stmt, rc);
    sqlite3_finalize(stmt);
    return rc;
}

static int recover_some(struct store *store, struct store_batch *batch, int64_t now_ns,
                        int *count) {
    int rc = store_begin(store);
    if (rc != STORE_DONE) {
        return rc;
    }
    rc = store_translate(store, read_lost(&store->sessions, now_ns, batch, count), "read");
    rc = rc ?: store_write(store, batch);
    rc = rc ?: store_commit(store);
    if (rc != STORE_DONE) {
        store_rollback(store);
    }
    return rc;
}

int store_recover(struct store *store, int64_t now_ns) {
    struct store_batch *batch = store_batch_new();
    if (!batch) {
        return store_translate(store, SQLITE_NOMEM, "recover");
    }
    int count = AT_ONCE;
    int rc = STORE_DONE;
    while (rc == STORE_DONE && count == AT_ONCE) {
        rc = recover_some(store, batch, now_ns, &count);
        store_batch_reset(batch);
    }
    store_batch_free(batch);
    return rc;
}
