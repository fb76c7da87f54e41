// SPDX-License-Identifier: Apache-2.0
//
// The first batch with a share of a source makes its row; later ones update it. What never changes
// is written once. Counters are absolute numbers, so writing a batch again after a rollback does no
// harm.
#include "store/write/names.h"

#include "protocol/lang/diag.h"

enum statement {
    FIND_SOURCE,
    ADD_SOURCE,
    SET_PROGRESS,
    SET_END,
    ADD_DIAG,
    ADD_CLOCK,
    ADD_LOSS,
};

static const char *const texts[STORE_CATALOG_STMTS] = {
    [FIND_SOURCE] = "SELECT 1 FROM NVTXT_SOURCES WHERE id = ?",
    [ADD_SOURCE] =
        "INSERT INTO NVTXT_SOURCES (id, kind, sessionId, name, openedNs, lines, events, warnings, "
        "errors, peerPid, peerUid, peerGid, peerComm, peerStart, levels, nvtx, parent) "
        "VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0, nullif(?, 0), ?, ?, ?, nullif(?, 0), "
        "nullif(?, 0), nullif(?, 0), ?)",
    [SET_PROGRESS] = "UPDATE NVTXT_SOURCES SET displayName = nullif(?2, ''), lines = ?3, "
                     "events = ?4, warnings = ?5, errors = ?6, firstNs = iif(?7, ?8, NULL), "
                     "lastNs = iif(?7, ?9, NULL) WHERE id = ?1",
    [SET_END] = "UPDATE NVTXT_SOURCES SET ended = ?2, closedNs = ?3 WHERE id = ?1",
    [ADD_DIAG] = "INSERT INTO NVTXT_DIAGNOSTICS (sourceId, line, \"column\", severity, stage, "
                 "code, message, excerpt, atNs) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ADD_CLOCK] = "INSERT INTO NVTXT_CLOCKS (clock, clockNs, realtimeNs, uncertaintyNs) "
                  "VALUES (?, ?, ?, ?)",
    [ADD_LOSS] = "INSERT INTO NVTXT_LOSSES (atNs, sourceId, uid, pid, reason, count) "
                 "VALUES (?, nullif(?, 0), ?, ?, ?, ?)",
};

static const char *const kind_names[] = {
    [STORE_SOURCE_PLAIN] = "plain",
    [STORE_SOURCE_SESSION] = "session",
    [STORE_SOURCE_FILE] = "file",
};

void store_catalog_init(struct store_catalog *catalog, struct store_txn *txn,
                        struct store_names *names) {
    *catalog = (struct store_catalog){.txn = txn, .names = names};
}

void store_catalog_deinit(struct store_catalog *catalog) {
    store_sql_finalize(catalog->stmts, STORE_CATALOG_STMTS);
}

// ---- Sources ----------------------------------------------------------------------------------

static int add_source(struct store_catalog *catalog, const struct store_source *source) {
    const char *kind = kind_names[source->kind];
    int rc;
    if (source->has_peer) {
        rc =
            STORE_SQL_RUN(catalog, ADD_SOURCE, "itttiiiitiiit", source->id, kind,
                          source->session_id, source->name, source->opened_ns, source->peer_pid,
                          source->peer_uid, source->peer_gid, source->peer_comm, source->peer_start,
                          (int64_t)source->levels, (int64_t)source->nvtx, source->parent);
    } else {
        rc = STORE_SQL_RUN(catalog, ADD_SOURCE, "itttinnnniiit", source->id, kind,
                           source->session_id, source->name, source->opened_ns, (int64_t)0,
                           (int64_t)source->levels, (int64_t)source->nvtx, source->parent);
    }
    return rc ?: store_names_new_source(catalog->names, source);
}

static int find_source(struct store_catalog *catalog, int64_t id, bool *found) {
    int rc = STORE_SQL_BIND(catalog, FIND_SOURCE, "i", id);
    sqlite3_stmt *stmt = catalog->stmts[FIND_SOURCE];
    *found = store_sql_next(stmt, &rc);
    return store_sql_done(stmt, rc);
}

static int write_source(struct store_catalog *catalog, const struct store_share *share) {
    const struct store_source *source = &share->pub.source;
    const struct nvtxt_counters *counters = &share->pub.counters;
    bool found = false;
    int rc = find_source(catalog, source->id, &found);
    if (rc == SQLITE_OK && !found) {
        rc = add_source(catalog, source);
    }
    if (rc == SQLITE_OK && share->has_progress) {
        rc = STORE_SQL_RUN(catalog, SET_PROGRESS, "isiiiiiii", source->id, share->display_name.data,
                           share->display_name.len, (int64_t)counters->lines,
                           (int64_t)counters->events, (int64_t)counters->warnings,
                           (int64_t)counters->errors, (int64_t)counters->has_time,
                           counters->first_ns, counters->last_ns);
    }
    if (rc == SQLITE_OK && share->pub.ended) {
        rc = STORE_SQL_RUN(catalog, SET_END, "iti", source->id, share->how, share->closed_ns);
    }
    return rc;
}

static int write_diags(struct store_catalog *catalog, const struct store_share *share) {
    int rc = SQLITE_OK;
    for (const struct store_diag *diag = share->pub.diags; diag && rc == SQLITE_OK;
         diag = diag->next) {
        rc = STORE_SQL_RUN(
            catalog, ADD_DIAG, "iiittttti", share->pub.id, (int64_t)diag->line,
            (int64_t)diag->column, nvtxt_severity_name(nvtxt_diag_severity(diag->code)),
            nvtxt_stage_name(nvtxt_diag_stage(diag->code)), nvtxt_diag_code_name(diag->code),
            diag->message, diag->excerpt, catalog->txn->now_ns);
    }
    return rc;
}

static int write_losses(struct store_catalog *catalog, const struct store_loss *loss) {
    int rc = SQLITE_OK;
    for (; loss && rc == SQLITE_OK; loss = loss->next) {
        rc = STORE_SQL_RUN(catalog, ADD_LOSS, "iiiiti", loss->at_ns, loss->source_id, loss->uid,
                           loss->pid, loss->reason, (int64_t)loss->count);
    }
    return rc;
}

static int write_share(struct store_catalog *catalog, const struct store_batch *batch,
                       const struct store_share *share) {
    int rc = write_source(catalog, share);
    rc = rc ?: store_names_write(catalog->names, batch, share);
    rc = rc ?: write_diags(catalog, share);
    return rc ?: write_losses(catalog, share->losses);
}

int store_catalog_write(struct store_catalog *catalog, const struct store_batch *batch) {
    int rc = SQLITE_OK;
    const struct store_share *share = batch->first;
    for (; share && rc == SQLITE_OK; share = store_share_next(share)) {
        rc = share->pub.discarded ? SQLITE_OK : write_share(catalog, batch, share);
    }
    for (const struct store_clock *clock = batch->clocks; clock && rc == SQLITE_OK;
         clock = clock->next) {
        rc = STORE_SQL_RUN(catalog, ADD_CLOCK, "tiii", clock->clock, clock->clock_ns,
                           clock->realtime_ns, clock->uncertainty_ns);
    }
    return rc ?: write_losses(catalog, batch->losses);
}
