// SPDX-License-Identifier: Apache-2.0
//
// What a store is asked: sessions, followed files, losses, diagnostics, events, totals. The room
// that has the answer gives it with an SQLite code; here the code becomes one of the store. What
// the active segment does not know is looked up in older ones.
#include "store/db/sql.h"
#include "store/read/older_segments.h"
#include "store/segment/carry_over.h"
#include "store/segment/contents.h"
#include "store/store.h"
#include "store/store_state.h"

#define PAGE_BYTES 4096 // SQLite's default; a page in the log has 24 bytes more

static const char pages_text[] =
    "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";

// ---- Sessions ---------------------------------------------------------------------------------

int store_session_load(struct store *store, const char *session_id, int64_t uid, bool want_diags,
                       uint64_t acked, struct store_session *session) {
    const struct store_older older = {store->options.name, store_file_path(store), store->db,
                                      &store->ended, store->unreadable};
    bool found = false;
    *session = (struct store_session){0};
    int rc = store_sessions_load(&store->sessions, session_id, uid, session, &found);
    if (rc == SQLITE_OK && found && !session->ended) {
        rc = store_sessions_parts(&store->sessions, session);
    }
    if (rc == SQLITE_OK && !found) {
        rc = store_older_session(&older, session_id, uid, session, &found);
        if (rc == SQLITE_BUSY || rc == SQLITE_NOTADB) { // of another file: this store is sound
            return rc == SQLITE_BUSY ? STORE_BUSY : STORE_UNSURE;
        }
    }
    if (rc == SQLITE_OK && found && want_diags) {
        rc = store_older_diags(&older, acked, session);
        rc = rc ?: store_sessions_diags(&store->sessions, acked, session);
    }
    if (rc != SQLITE_OK) {
        store_session_deinit(session);
        return store_translate(store, rc, "read");
    }
    return found ? STORE_DONE : STORE_NOT_FOUND;
}

const char *store_unreadable(const struct store *store) {
    return store->unreadable;
}

int store_session_count(struct store *store, int64_t uid, int64_t *count) {
    return store_translate(store, store_sessions_count(&store->sessions, uid, count), "read");
}

int store_session_expired(struct store *store, int64_t before_ns, struct store_session_place *after,
                          char *session_id, size_t size, int64_t *uid) {
    bool found = false;
    int rc =
        store_sessions_expired(&store->sessions, before_ns, after, session_id, size, uid, &found);
    return rc != SQLITE_OK ? store_translate(store, rc, "read")
           : found         ? STORE_DONE
                           : STORE_NOT_FOUND;
}

int store_file_list(struct store *store, struct store_file_list *list) {
    *list = (struct store_file_list){0};
    int rc = store_files_read(store->db, list);
    if (rc != SQLITE_OK) {
        store_files_free(list);
    }
    return store_translate(store, rc, "read");
}

int store_file_load(struct store *store, int64_t source_id, struct store_file *file,
                    struct store_session *session) {
    bool found = false;
    *file = (struct store_file){0};
    *session = (struct store_session){0};
    int rc = store_files_load(&store->files, source_id, file, session, &found);
    if (rc == SQLITE_OK && found) {
        rc = store_sessions_ranges(&store->sessions, source_id, &session->ranges,
                                   &session->range_count);
        rc = rc ?: store_sessions_parts(&store->sessions, session);
    }
    if (rc != SQLITE_OK) {
        store_session_deinit(session);
        store_file_deinit(file);
        return store_translate(store, rc, "read");
    }
    return found ? STORE_DONE : STORE_NOT_FOUND;
}

// ---- Losses -----------------------------------------------------------------------------------

int store_losses_load(struct store *store, size_t limit, struct store_losses *losses) {
    *losses = (struct store_losses){0};
    store->losses_known = false; // somebody may have read and deleted them
    const struct store_older older = {store->options.name, store_file_path(store), store->db, NULL,
                                      NULL};
    int rc = store_losses_read(store->db, limit, losses);
    rc = rc ?: store_older_losses(&older, limit, losses);
    int r = store_translate(store, rc, "read");
    if (r != STORE_DONE) {
        store_losses_deinit(losses);
    }
    return r;
}

int64_t store_loss_count(struct store *store) {
    int64_t before = 0;
    if (!store->losses_known) {
        store->losses_known = store_losses_count(store->db, &store->losses) == SQLITE_OK &&
                              store_carry_fact(store->db, "lossesBefore", &before) == SQLITE_OK;
        store->losses += before;
    }
    return store->losses_known ? store->losses : -1;
}

// ---- Diagnostics ------------------------------------------------------------------------------

int store_diags_load(struct store *store, int64_t source_id, size_t limit,
                     struct store_diags *diags) {
    *diags = (struct store_diags){0};
    int r = store_translate(store, store_diags_read(store->db, source_id, limit, diags), "read");
    if (r != STORE_DONE) {
        store_diags_deinit(diags);
    }
    return r;
}

// ---- Events -----------------------------------------------------------------------------------

int store_events_load(struct store *store, const char *path, const struct store_event_query *query,
                      struct store_events *events) {
    *events = (struct store_events){0};
    struct store_events_place active = {.db = store->db, .last_row = store->committed_row};
    int rc = store->in_transaction ? SQLITE_OK : store_events_last(store->db, &active.last_row);
    rc = rc ?: store_events_read(&active, path, query, events);
    int r = store_translate(store, rc, "read");
    if (r != STORE_DONE) {
        store_events_deinit(events);
    }
    return r;
}

// ---- Totals ----------------------------------------------------------------------------------

int store_totals_load(struct store *store, struct store_totals *totals) {
    *totals = (struct store_totals){0};
    return store_translate(store, store_totals_read(store->db, totals), "read");
}

int64_t store_content_bytes(struct store *store) {
    int64_t bytes = 0;
    if (store_sql_prepare(store->db, &store->pages, pages_text) == SQLITE_OK) {
        store_sql_run_int(store->pages, &bytes); // 0 when it fails
    }
    return bytes;
}

int64_t store_wal_held_bytes(const struct store *store) {
    return (int64_t)store_wal_held(&store->wal) * (PAGE_BYTES + 24);
}

int64_t store_begun_ns(struct store *store) {
    int64_t begun = 0;
    return store_carry_fact(store->db, "startedNs", &begun) == SQLITE_OK ? begun : 0;
}

bool store_holds_events(struct store *store) {
    int64_t holds = 0;
    return store_sql_int(store->db, "SELECT EXISTS (SELECT 1 FROM NVTXT_BATCHES)", &holds) ==
               SQLITE_OK &&
           holds;
}

bool store_is_empty(struct store *store) {
    bool empty = false;
    return store_contents_empty(store->db, &empty) == SQLITE_OK && empty;
}

const char *store_identity(const struct store *store) {
    return store->id;
}

int64_t store_carried_bytes(struct store *store) {
    int64_t bytes = 0;
    return store_carry_fact(store->db, "carriedBytes", &bytes) == SQLITE_OK ? bytes : 0;
}

int store_owners_load(struct store *store,
                      int (*on_owner)(void *context, int64_t pid, int64_t uid, bool proven),
                      void *context) {
    sqlite3_stmt *stmt = NULL;
    int stopped = 0;
    int rc =
        sqlite3_prepare_v2(store->db, "SELECT pid, uid, proven FROM NVTXT_OWNERS", -1, &stmt, NULL);
    while (stopped == 0 && store_sql_next(stmt, &rc)) {
        stopped = on_owner(context, sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1),
                           sqlite3_column_int(stmt, 2) != 0);
    }
    sqlite3_finalize(stmt);
    return stopped ?: store_translate(store, rc, "read");
}

int store_sessions_open(struct store *store,
                        int (*on_session)(void *context, const char *session_id, int64_t uid,
                                          size_t open_bytes, int64_t seen_ns, int64_t expiry_s),
                        void *context) {
    sqlite3_stmt *stmt = NULL;
    int stopped = 0;
    int rc = sqlite3_prepare_v2(
        store->db,
        "SELECT n.sessionId, coalesce(n.uid, s.peerUid) AS user, n.openBytes, n.seenNs, "
        "ifnull(iif(json_valid(n.state), json_extract(n.state, '$.expiry[0]'), 0), 0) AS expiry "
        "FROM NVTXT_SESSIONS n LEFT JOIN NVTXT_SOURCES s ON s.id = n.sourceId "
        "WHERE (n.openBytes > 0 OR expiry > 0) AND user IS NOT NULL",
        -1, &stmt, NULL);
    while (stopped == 0 && store_sql_next(stmt, &rc)) {
        const char *id = (const char *)sqlite3_column_text(stmt, 0);
        stopped = on_session(context, id ?: "", sqlite3_column_int64(stmt, 1),
                             (size_t)sqlite3_column_int64(stmt, 2), sqlite3_column_int64(stmt, 3),
                             sqlite3_column_int64(stmt, 4));
    }
    sqlite3_finalize(stmt);
    return stopped ?: store_translate(store, rc, "read");
}
