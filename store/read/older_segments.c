// SPDX-License-Identifier: Apache-2.0
//
// A segment knows whether an earlier one can matter: allEnded says that it knows every session that
// ever ended, sourceBase is the last source id of the segments before. So a store with few sessions
// never opens an old file for them. In a store with many, an index says which file (ended.h).
#include "store/read/older_segments.h"

#include <limits.h>
#include <stdio.h>

#include "store/db/connection.h"
#include "store/db/header.h"
#include "store/db/sql.h"
#include "store/segment/carry_over.h"
#include "store/segment/segments.h"
#include "store/write/sessions.h"

static void list_before(const struct store_older *older, struct store_segments *list) {
    store_ended_list(older->path, older->active, list);
}

// NULL when it cannot be read.
static sqlite3 *open_segment(const char *segment) {
    sqlite3 *db = NULL;
    if (store_connection_read_left(&db, segment) != SQLITE_OK) {
        sqlite3_close(db);
        return NULL;
    }
    return db;
}

// A segment of an older version has no parts: it has states in one.
static int load_parts(struct store_sessions *sessions, struct store_session *session) {
    int64_t there = 0;
    int rc = store_sql_int(sessions->txn->db,
                           "SELECT count(*) FROM sqlite_master WHERE name = 'NVTXT_STATE'", &there);
    return rc == SQLITE_OK && there ? store_sessions_parts(sessions, session) : rc;
}

// Whether a segment that could not be read may be readable later: SQLITE_BUSY, or SQLITE_NOTADB.
static int kind_of(int rc) {
    int primary = rc & 0xFF;
    bool passes = primary == SQLITE_BUSY || primary == SQLITE_PROTOCOL || primary == SQLITE_LOCKED;
    return primary == SQLITE_OK || primary == SQLITE_NOMEM ? primary
           : passes                                        ? SQLITE_BUSY
                                                           : SQLITE_NOTADB;
}

// Loads what the segment knows of the session. SQLite would take an empty file for a new database.
static int load_from(const char *segment, bool aside, const char *session_id, int64_t uid,
                     struct store_session *session, bool *found) {
    struct store_txn txn = {0};
    struct store_sessions sessions;
    int64_t size = store_file_size(segment, "");
    if (size <= 0) {
        return size < 0 ? SQLITE_OK : SQLITE_NOTADB; // it was removed for its age, say
    }
    int rc = aside ? store_connection_read(&txn.db, segment)
                   : store_connection_read_left(&txn.db, segment);
    if (rc == SQLITE_OK) {
        store_sessions_init(&sessions, &txn, NULL);
        rc = store_sessions_load(&sessions, session_id, uid, session, found);
        if (rc == SQLITE_OK && *found && !session->ended) {
            session->elsewhere = true;
            rc = load_parts(&sessions, session);
        }
        store_sessions_deinit(&sessions);
    }
    sqlite3_close(txn.db);
    if (rc != SQLITE_OK) {
        store_session_deinit(session);
        *session = (struct store_session){0};
        *found = false;
    }
    return kind_of(rc);
}

static int ask(const struct store_older *older, const char *segment, bool aside,
               const char *session_id, int64_t uid, struct store_session *session, bool *found) {
    int rc = load_from(segment, aside, session_id, uid, session, found);
    if (rc == SQLITE_NOTADB && !*older->unreadable) {
        snprintf(older->unreadable, PATH_MAX, "%s", segment);
    }
    return rc;
}

// The worst of two: no memory, locked, not readable.
static int worse(int a, int b) {
    return a == SQLITE_NOMEM || b == SQLITE_NOMEM ? SQLITE_NOMEM
           : a == SQLITE_BUSY || b == SQLITE_BUSY ? SQLITE_BUSY
           : a                                    ? a
                                                  : b;
}

// A session that was put aside with its segment cannot go on: nobody knows whether its state is
// whole. It ended there.
static int load_aside(const struct store_older *older, const char *session_id, int64_t uid,
                      struct store_session *session, bool *found) {
    struct store_segments list;
    int rc = SQLITE_OK;
    if (store_quarantine_list(older->path, &list) < 0) {
        return SQLITE_OK;
    }
    for (size_t i = 0; i < list.count && !*found; i++) {
        rc = worse(rc, ask(older, list.rows[i].path, true, session_id, uid, session, found));
    }
    if (*found && !session->ended) {
        session->ended = true;
        snprintf(session->how, sizeof(session->how), "lost");
    }
    store_segments_deinit(&list);
    return rc;
}

int store_older_session(const struct store_older *older, const char *session_id, int64_t uid,
                        struct store_session *session, bool *found) {
    char segment[PATH_MAX];
    int64_t all = 1;
    *older->unreadable = '\0';
    if (!older->path || store_carry_fact(older->db, "allEnded", &all) != SQLITE_OK || all) {
        return SQLITE_OK;
    }
    int rc = store_ended_find(older->ended, older->path, older->active, session_id, uid, segment,
                              sizeof(segment));
    if (rc == SQLITE_OK && *segment) {
        rc = ask(older, segment, false, session_id, uid, session, found);
    }
    const struct store_segments *rest = &older->ended->rest;
    for (size_t i = rest->count; i-- > 0 && !*found && rc != SQLITE_NOMEM;) {
        rc = worse(rc, ask(older, rest->rows[i].path, false, session_id, uid, session, found));
    }
    rc = *found || rc == SQLITE_NOMEM
             ? rc
             : worse(rc, load_aside(older, session_id, uid, session, found));
    return *found && rc != SQLITE_NOMEM ? SQLITE_OK : rc;
}

// The first segment that may hold something of the source; the count when none may.
static size_t first_of_source(const struct store_older *older, const struct store_segments *list,
                              int64_t source_id) {
    int64_t before = 0;
    size_t first = list->count;
    int rc = store_carry_fact(older->db, "sourceBase", &before);
    while (first > 0 && rc == SQLITE_OK && source_id <= before) {
        sqlite3 *db = open_segment(list->rows[--first].path);
        before = 0;
        rc = db ? store_carry_fact(db, "sourceBase", &before) : SQLITE_CANTOPEN;
        sqlite3_close(db);
    }
    return first;
}

int store_older_diags(const struct store_older *older, uint64_t acked,
                      struct store_session *session) {
    struct store_segments list;
    int rc = SQLITE_OK;
    list_before(older, &list);
    size_t first = first_of_source(older, &list, session->source_id);
    for (size_t i = first; i < list.count && rc != SQLITE_NOMEM; i++) {
        struct store_txn txn = {.db = open_segment(list.rows[i].path)};
        struct store_sessions sessions;
        if (txn.db) {
            store_sessions_init(&sessions, &txn, NULL);
            rc = store_sessions_diags(&sessions, acked, session);
            store_sessions_deinit(&sessions);
        }
        sqlite3_close(txn.db);
    }
    store_segments_deinit(&list);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

int store_older_losses(const struct store_older *older, size_t limit, struct store_losses *losses) {
    struct store_segments list;
    int64_t before = 0;
    if (!older->path || store_carry_fact(older->db, "lossesBefore", &before) != SQLITE_OK ||
        before == 0) {
        return SQLITE_OK;
    }
    int rc = SQLITE_OK;
    list_before(older, &list);
    for (size_t i = list.count; i-- > 0 && losses->count < limit && rc != SQLITE_NOMEM;) {
        sqlite3 *db = open_segment(list.rows[i].path);
        rc = db ? store_losses_read(db, limit - losses->count, losses) : SQLITE_OK;
        sqlite3_close(db);
    }
    store_segments_deinit(&list);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}
