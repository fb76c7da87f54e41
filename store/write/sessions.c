// SPDX-License-Identifier: Apache-2.0
//
// Open ranges are rows under (source, seq): one insert when a range is announced, one delete when
// its event comes. A range that is announced and closed in one batch is inserted, then deleted.
// What is read back owns its texts.
#include "store/write/sessions.h"

#include <stdio.h>

#include "protocol/table/arrays.h"

enum statement {
    ADD_OPEN,
    DROP_OPEN,
    DROP_SOURCE_OPEN,
    SET_SESSION,
    ADD_SESSION,
    DROP_SESSION,
    LOAD_SOURCE,
    LOAD_OPEN,
    LOAD_DIAGS,
    FIND_EXPIRED,
    COUNT_SESSIONS,
    ADD_PART,
    DROP_PARTS,
    LOAD_PARTS,
};

// In the order of enum nvtxt_payload_kind.
#define PAYLOADS "int64Value, doubleValue, uint64Value, uint32Value, int32Value, floatValue"
#define FIRST_PAYLOAD 14 // column of LOAD_OPEN

static const char *const texts[STORE_SESSIONS_STMTS] = {
    [ADD_OPEN] =
        "INSERT OR REPLACE INTO NVTXT_OPEN_RANGES (sourceId, globalTid, kind, depth, rangeId, "
        "start, text, category, color, domainId, line, seq, \"column\", excerpt, " PAYLOADS
        ", jsonText) VALUES (?1, ?2, ?3, iif(?3 = 59, ?4, NULL), iif(?3 = 60, ?5, NULL), ?6, ?7, "
        "?8, ?9, ?10, ?11, ?12, ?13, ?14, iif(?15 = 1, ?16, NULL), iif(?15 = 2, ?17, NULL), "
        "iif(?15 = 3, ?16, NULL), iif(?15 = 4, ?16, NULL), iif(?15 = 5, ?16, NULL), "
        "iif(?15 = 6, ?17, NULL), nullif(?18, ''))",
    [DROP_OPEN] = "DELETE FROM NVTXT_OPEN_RANGES WHERE sourceId = ? AND seq = ?",
    [DROP_SOURCE_OPEN] = "DELETE FROM NVTXT_OPEN_RANGES WHERE sourceId = ?",
    // A row of an older version gets its user here.
    [SET_SESSION] = "UPDATE OR REPLACE NVTXT_SESSIONS SET line = ?2, state = coalesce(?3, state), "
                    "seenNs = ?4, openBytes = ?5, uid = coalesce(uid, iif(?6 < 0, NULL, ?6)) "
                    "WHERE sourceId = ?1",
    [ADD_SESSION] = "INSERT OR REPLACE INTO NVTXT_SESSIONS (sourceId, line, state, seenNs, "
                    "openBytes, sessionId, uid) VALUES (?, ?, ?, ?, ?, ?, iif(?7 < 0, NULL, ?7))",
    [DROP_SESSION] = "DELETE FROM NVTXT_SESSIONS WHERE sourceId = ?",
    [LOAD_SOURCE] =
        "SELECT s.id, s.openedNs, s.name, s.closedNs IS NOT NULL, s.lines, s.events, s.warnings, "
        "s.errors, s.firstNs, s.lastNs, coalesce(n.uid, s.peerUid, -1), coalesce(n.line, s.lines), "
        "n.state, s.displayName, coalesce(s.peerPid, 0), s.ended FROM NVTXT_SOURCES s LEFT JOIN "
        "NVTXT_SESSIONS n ON n.sessionId = s.sessionId AND n.sourceId = s.id "
        "WHERE s.sessionId = ?1 AND coalesce(n.uid, s.peerUid, ?2) = ?2 AND "
        "s.ended IS NOT 'rotated' "
        "ORDER BY coalesce(n.uid, s.peerUid) IS NULL, s.id DESC LIMIT 1",
    [LOAD_OPEN] =
        "SELECT seq, kind, globalTid, depth, rangeId, start, category, color, line, \"column\", "
        "text, excerpt, (SELECT name FROM NVTXT_DOMAINS WHERE id = domainId), jsonText, " PAYLOADS
        " FROM NVTXT_OPEN_RANGES WHERE sourceId = ? ORDER BY seq",
    // Ranges that were never closed are reported at the end, whatever line opened them.
    [LOAD_DIAGS] = "SELECT line, \"column\", severity, stage, code, message "
                   "FROM NVTXT_DIAGNOSTICS "
                   "WHERE sourceId = ? AND (line > ? OR code = 'never-closed') "
                   "ORDER BY code = 'never-closed', line, rowid",
    [FIND_EXPIRED] =
        "SELECT n.sessionId, coalesce(n.uid, s.peerUid, -1), n.seenNs, n.rowid FROM "
        "NVTXT_SESSIONS n CROSS JOIN NVTXT_SOURCES s ON s.id = n.sourceId WHERE n.seenNs < ?1 AND "
        "(n.seenNs, n.rowid) > (?2, ?3) AND s.closedNs IS NULL ORDER BY n.seenNs, n.rowid LIMIT 1",
    [ADD_PART] = "INSERT OR REPLACE INTO NVTXT_STATE (sourceId, part, state) VALUES (?, ?, ?)",
    [DROP_PARTS] = "DELETE FROM NVTXT_STATE WHERE sourceId = ?",
    [LOAD_PARTS] = "SELECT state FROM NVTXT_STATE WHERE sourceId = ? ORDER BY part",
    [COUNT_SESSIONS] = "SELECT count(*) FROM NVTXT_SESSIONS WHERE uid = ?",
};

void store_sessions_init(struct store_sessions *sessions, struct store_txn *txn,
                         struct store_domains *domains) {
    *sessions = (struct store_sessions){.txn = txn, .domains = domains};
}

void store_sessions_deinit(struct store_sessions *sessions) {
    store_sql_finalize(sessions->stmts, STORE_SESSIONS_STMTS);
}

// ---- Writing ----------------------------------------------------------------------------------

static int write_open(struct store_sessions *sessions, const struct store_share *share,
                      const struct store_opened *opened) {
    const struct nvtxt_open_range *range = &opened->range;
    const struct nvtxt_payload *payload = &range->payload;
    int64_t domain;
    int rc = store_domains_id(sessions->domains, share->pub.batch, opened->domain, &domain);
    if (rc != SQLITE_OK) {
        return rc;
    }
    bool is_real = nvtxt_payload_is_real(payload->kind);
    bool is_int = payload->kind != NVTXT_PAYLOAD_NONE && !is_real;
    return STORE_SQL_RUN(sessions, ADD_OPEN, "iiiiiisiiiiiisiids", share->pub.id,
                         (int64_t)nvtxt_global_tid(range->pid, range->tid), (int64_t)range->type,
                         (int64_t)range->depth, range->range_id, range->start, range->text.data,
                         range->text.len, (int64_t)range->category, (int64_t)range->color, domain,
                         (int64_t)range->line, (int64_t)range->seq, (int64_t)range->column,
                         range->excerpt.data, range->excerpt.len, (int64_t)payload->kind,
                         is_int ? payload->int64 : 0, is_real ? payload->real : 0.0,
                         range->json.data, range->json.len);
}

static int write_state(struct store_sessions *sessions, const struct store_share *share) {
    const struct store_source *source = &share->pub.source;
    int64_t uid = source->has_peer ? source->peer_uid : -1;
    int64_t open_bytes = (int64_t)share->pub.open_bytes;
    int rc = STORE_SQL_RUN(sessions, SET_SESSION, "iioiii", source->id, (int64_t)share->pub.line,
                           share->state, sessions->txn->now_ns, open_bytes, uid);
    if (rc != SQLITE_OK || sqlite3_changes(sessions->txn->db) > 0) {
        return rc;
    }
    return STORE_SQL_RUN(sessions, ADD_SESSION, "iisiiti", source->id, (int64_t)share->pub.line,
                         share->state.data, share->state.len, sessions->txn->now_ns, open_bytes,
                         source->session_id, uid);
}

static int write_parts(struct store_sessions *sessions, const struct store_share *share) {
    int rc = SQLITE_OK;
    for (const struct store_state_part *part = share->parts; part && rc == SQLITE_OK;
         part = part->next) {
        if (part->part == 1) {
            rc = STORE_SQL_RUN(sessions, DROP_PARTS, "i", share->pub.id);
        }
        if (rc == 0) {
            rc = STORE_SQL_RUN(sessions, ADD_PART, "iis", share->pub.id, (int64_t)part->part,
                               part->state.data, part->state.len);
        }
    }
    return rc;
}

// Its session is over; what a followed file goes on with stays.
static int write_end(struct store_sessions *sessions, const struct store_share *share) {
    int64_t id = share->pub.id;
    int rc = STORE_SQL_RUN(sessions, DROP_SOURCE_OPEN, "i", id);
    if (rc != SQLITE_OK || !share->pub.source.session_id) {
        return rc;
    }
    rc = STORE_SQL_RUN(sessions, DROP_SESSION, "i", id);
    return rc ?: STORE_SQL_RUN(sessions, DROP_PARTS, "i", id);
}

static int write_ranges(struct store_sessions *sessions, const struct store_share *share) {
    int rc = SQLITE_OK;
    for (const struct store_opened *opened = share->opened; opened && rc == SQLITE_OK;
         opened = opened->next) {
        rc = write_open(sessions, share, opened);
    }
    for (const struct store_event_extra *extra = share->extras; extra && rc == SQLITE_OK;
         extra = extra->next) {
        if (extra->open_seq) {
            rc = STORE_SQL_RUN(sessions, DROP_OPEN, "ii", share->pub.id, (int64_t)extra->open_seq);
        }
    }
    return rc;
}

static int write_share(struct store_sessions *sessions, const struct store_share *share) {
    int rc = SQLITE_OK;
    if (share->file && share->state.len == 0) { // nobody can go on with it
        rc = STORE_SQL_RUN(sessions, DROP_PARTS, "i", share->pub.id);
    } else if (share->file || !share->pub.ended) {
        rc = write_parts(sessions, share);
    }
    if (rc == SQLITE_OK && share->pub.ended) {
        return write_end(sessions, share);
    }
    rc = rc ?: write_ranges(sessions, share);
    if (rc == SQLITE_OK && share->has_session && share->pub.source.session_id) {
        rc = write_state(sessions, share);
    }
    return rc;
}

int store_sessions_write(struct store_sessions *sessions, const struct store_batch *batch) {
    int rc = SQLITE_OK;
    const struct store_share *share = batch->first;
    for (; share && rc == SQLITE_OK; share = store_share_next(share)) {
        rc = share->pub.discarded ? SQLITE_OK : write_share(sessions, share);
    }
    const struct store_forgotten *forgotten = batch->forgotten;
    for (; forgotten && rc == SQLITE_OK; forgotten = forgotten->next) {
        rc = STORE_SQL_RUN(sessions, DROP_PARTS, "i", forgotten->source_id);
    }
    return rc;
}

// ---- Reading ----------------------------------------------------------------------------------

// The payload is the one of its columns that is not NULL.
static void read_payload(sqlite3_stmt *stmt, struct nvtxt_payload *payload) {
    for (int kind = NVTXT_PAYLOAD_INT64; kind <= NVTXT_PAYLOAD_FLOAT; kind++) {
        int column = FIRST_PAYLOAD + kind - NVTXT_PAYLOAD_INT64;
        if (sqlite3_column_type(stmt, column) == SQLITE_NULL) {
            continue;
        }
        payload->kind = (enum nvtxt_payload_kind)kind;
        if (nvtxt_payload_is_real(payload->kind)) {
            payload->real = sqlite3_column_double(stmt, column);
        } else {
            payload->int64 = sqlite3_column_int64(stmt, column);
        }
    }
}

static int read_range(sqlite3_stmt *stmt, struct nvtxt_open_range *range) {
    uint64_t global_tid = (uint64_t)sqlite3_column_int64(stmt, 2);
    range->seq = (uint64_t)sqlite3_column_int64(stmt, 0);
    range->type = (enum nvtxt_event_type)sqlite3_column_int(stmt, 1);
    range->pid = (uint32_t)(global_tid >> 24) & NVTXT_ID_MAX;
    range->tid = (uint32_t)(global_tid & NVTXT_ID_MAX);
    range->depth = (uint32_t)sqlite3_column_int64(stmt, 3);
    range->range_id = sqlite3_column_int64(stmt, 4);
    range->start = sqlite3_column_int64(stmt, 5);
    range->category = (uint32_t)sqlite3_column_int64(stmt, 6);
    range->color = (uint32_t)sqlite3_column_int64(stmt, 7);
    range->line = (uint64_t)sqlite3_column_int64(stmt, 8);
    range->column = (uint32_t)sqlite3_column_int64(stmt, 9);
    read_payload(stmt, &range->payload);
    int rc = store_sql_copy(stmt, 10, &range->text);
    rc = rc ?: store_sql_copy(stmt, 11, &range->excerpt);
    rc = rc ?: store_sql_copy(stmt, 12, &range->domain);
    return rc ?: store_sql_copy(stmt, 13, &range->json);
}

int store_sessions_ranges(struct store_sessions *sessions, int64_t source_id,
                          struct nvtxt_open_range **ranges, size_t *count) {
    int rc = STORE_SQL_BIND(sessions, LOAD_OPEN, "i", source_id);
    sqlite3_stmt *stmt = sessions->stmts[LOAD_OPEN];
    while (store_sql_next(stmt, &rc)) {
        struct nvtxt_open_range *range = nvtxt_add(ranges, count, sizeof(*range));
        rc = range ? read_range(stmt, range) : SQLITE_NOMEM;
    }
    return store_sql_done(stmt, rc);
}

int store_sessions_parts(struct store_sessions *sessions, struct store_session *session) {
    int rc = STORE_SQL_BIND(sessions, LOAD_PARTS, "i", session->source_id);
    sqlite3_stmt *stmt = sessions->stmts[LOAD_PARTS];
    while (store_sql_next(stmt, &rc)) {
        struct nvtxt_slice *part = nvtxt_add(&session->parts, &session->part_count, sizeof(*part));
        rc = part ? store_sql_copy(stmt, 0, part) : SQLITE_NOMEM;
    }
    return store_sql_done(stmt, rc);
}

static void read_diag(sqlite3_stmt *stmt, struct store_session_diag *diag) {
    diag->line = (uint64_t)sqlite3_column_int64(stmt, 0);
    diag->column = (uint32_t)sqlite3_column_int64(stmt, 1);
    store_sql_text(stmt, 2, diag->severity, sizeof(diag->severity));
    store_sql_text(stmt, 3, diag->stage, sizeof(diag->stage));
    store_sql_text(stmt, 4, diag->code, sizeof(diag->code));
    store_sql_text(stmt, 5, diag->message, sizeof(diag->message));
}

int store_sessions_diags(struct store_sessions *sessions, uint64_t acked,
                         struct store_session *session) {
    int rc = STORE_SQL_BIND(sessions, LOAD_DIAGS, "ii", session->source_id, (int64_t)acked);
    sqlite3_stmt *stmt = sessions->stmts[LOAD_DIAGS];
    while (store_sql_next(stmt, &rc)) {
        struct store_session_diag *diag =
            nvtxt_add(&session->diags, &session->diag_count, sizeof(*diag));
        if (!diag) {
            rc = SQLITE_NOMEM;
            break;
        }
        read_diag(stmt, diag);
    }
    return store_sql_done(stmt, rc);
}

struct nvtxt_counters store_sessions_counters(sqlite3_stmt *stmt, int first) {
    return (struct nvtxt_counters){
        .lines = (uint64_t)sqlite3_column_int64(stmt, first),
        .events = (uint64_t)sqlite3_column_int64(stmt, first + 1),
        .warnings = (uint64_t)sqlite3_column_int64(stmt, first + 2),
        .errors = (uint64_t)sqlite3_column_int64(stmt, first + 3),
        .has_time = sqlite3_column_type(stmt, first + 4) != SQLITE_NULL,
        .first_ns = sqlite3_column_int64(stmt, first + 4),
        .last_ns = sqlite3_column_int64(stmt, first + 5),
    };
}

static int load_source(struct store_sessions *sessions, const char *session_id, int64_t uid,
                       struct store_session *session, bool *found) {
    int rc = STORE_SQL_BIND(sessions, LOAD_SOURCE, "ti", session_id, uid);
    sqlite3_stmt *stmt = sessions->stmts[LOAD_SOURCE];
    *found = store_sql_next(stmt, &rc);
    if (*found) {
        session->source_id = sqlite3_column_int64(stmt, 0);
        session->opened_ns = sqlite3_column_int64(stmt, 1);
        session->ended = sqlite3_column_int(stmt, 3) != 0;
        session->counters = store_sessions_counters(stmt, 4);
        session->uid = sqlite3_column_int64(stmt, 10);
        session->line = (uint64_t)sqlite3_column_int64(stmt, 11);
        session->pid = sqlite3_column_int64(stmt, 14);
        const char *how = (const char *)sqlite3_column_text(stmt, 15);
        snprintf(session->how, sizeof(session->how), "%s", how ?: "");
        rc = store_sql_string(stmt, 2, &session->name);
        rc = rc ?: store_sql_string(stmt, 12, &session->state);
        rc = rc ?: store_sql_string(stmt, 13, &session->display_name);
    }
    return store_sql_done(stmt, rc);
}

int store_sessions_load(struct store_sessions *sessions, const char *session_id, int64_t uid,
                        struct store_session *session, bool *found) {
    int rc = load_source(sessions, session_id, uid, session, found);
    if (rc == SQLITE_OK && *found && !session->ended) {
        rc = store_sessions_ranges(sessions, session->source_id, &session->ranges,
                                   &session->range_count);
    }
    return rc;
}

int store_sessions_expired(struct store_sessions *sessions, int64_t before_ns,
                           struct store_session_place *after, char *session_id, size_t size,
                           int64_t *uid, bool *found) {
    int rc = STORE_SQL_BIND(sessions, FIND_EXPIRED, "iii", before_ns, after->seen_ns, after->row);
    sqlite3_stmt *stmt = sessions->stmts[FIND_EXPIRED];
    *found = store_sql_next(stmt, &rc);
    if (*found) {
        store_sql_text(stmt, 0, session_id, size);
        *uid = sqlite3_column_int64(stmt, 1);
        after->seen_ns = sqlite3_column_int64(stmt, 2);
        after->row = sqlite3_column_int64(stmt, 3);
    }
    return store_sql_done(stmt, rc);
}

int store_sessions_count(struct store_sessions *sessions, int64_t uid, int64_t *count) {
    int rc = STORE_SQL_BIND(sessions, COUNT_SESSIONS, "i", uid);
    *count = 0;
    return rc ?: store_sql_run_int(sessions->stmts[COUNT_SESSIONS], count);
}
