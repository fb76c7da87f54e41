// SPDX-License-Identifier: Apache-2.0
//
// One transaction, without a journal to speak of: nobody looks at the file before it is complete.
// Its end counts the events of each source.
#include "store/follow/rebuild.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db/connection.h"
#include "store/db/result.h"
#include "store/follow/rebuild_state.h"
#include "store/segment/store_id.h"
#include "store/value/codes.h"

static const char *const texts[STORE_REBUILD_STATEMENTS] = {
    [STORE_REBUILD_ADD_EVENT] =
        "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, rangeId, text, category, color, "
        "globalTid, domainId, endGlobalTid, textId, uint64Value, int64Value, doubleValue, "
        "uint32Value, int32Value, floatValue, jsonText) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
        "?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    [STORE_REBUILD_ADD_STRING] = "INSERT INTO StringIds (id, value) VALUES (?, ?)",
    [STORE_REBUILD_ADD_BATCH] =
        "INSERT INTO NVTXT_BATCHES (firstRow, lastRow, minStart, maxEnd, committedNs, "
        "events) VALUES (?, ?, ?, ?, ?, ?)",
    [STORE_REBUILD_ADD_RUN] =
        "INSERT INTO NVTXT_EVENT_SOURCES (firstRow, lastRow, sourceId) VALUES (?, ?, ?)",
    [STORE_REBUILD_ADD_UNCLOSED] = "INSERT INTO NVTXT_UNCLOSED (eventRow) VALUES (?)",
    [STORE_REBUILD_ADD_SOURCE] =
        "INSERT OR REPLACE INTO NVTXT_SOURCES (id, kind, sessionId, name, displayName, peerComm, "
        "ended, peerPid, peerUid, peerGid, openedNs, closedNs, lines, events, warnings, errors, "
        "firstNs, lastNs, levels) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [STORE_REBUILD_ADD_DIAGNOSTIC] =
        "INSERT INTO NVTXT_DIAGNOSTICS (sourceId, line, \"column\", atNs, severity, "
        "stage, code, message, excerpt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [STORE_REBUILD_ADD_LOSS] = "INSERT INTO NVTXT_LOSSES (atNs, sourceId, uid, pid, reason, count) "
                               "VALUES (?, ?, ?, ?, ?, ?)",
    [STORE_REBUILD_ADD_DOMAIN] = "INSERT OR IGNORE INTO NVTXT_DOMAINS (id, name) VALUES (?, ?)",
    [STORE_REBUILD_ADD_PROCESS] = "INSERT INTO PROCESSES (globalPid, pid, name) VALUES (?, ?, ?)",
    [STORE_REBUILD_ADD_THREAD] = "INSERT INTO ThreadNames (nameId, globalTid) VALUES (?, ?)",
    [STORE_REBUILD_ADD_NAME] =
        "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, rangeId, text, category, color, "
        "globalTid, domainId, textId) VALUES (?1, ?2, ?2, ?3, 0, ?4, ?5, 0, ?6, ?7, ?8)",
    [STORE_REBUILD_ADD_NAME_ROW] =
        "INSERT OR IGNORE INTO NVTXT_NAME_ROWS (kind, domainId, key, row) VALUES (?, ?, ?, ?)",
    [STORE_REBUILD_FIND_THREAD] =
        "SELECT ifnull(min(key), 0) FROM NVTXT_NAME_ROWS WHERE kind = 2 AND "
        "domainId = 0 AND key BETWEEN ?1 AND ?2",
};

int store_rebuild_ready(struct store_rebuild *rebuild, enum store_rebuild_statement which) {
    return store_sql_prepare(rebuild->db, &rebuild->stmts[which], texts[which]);
}

int store_rebuild_result(struct store_rebuild *rebuild, int rc) {
    return store_result_say(rebuild->db, rc, "write", rebuild->path, rebuild->error,
                            sizeof(rebuild->error));
}

// ---- Opening ------------------------------------------------------------------------------------

// What SQLite keeps for itself while it counts the events of the sources is as large as the
// sources: so it is in temporary files.
static int begin(struct store_rebuild *rebuild) {
    int rc = store_id_renew(rebuild->db);
    rc = rc ?: store_intern_init(&rebuild->intern) < 0 ? SQLITE_NOMEM : SQLITE_OK;
    rebuild->next_row = rebuild->next_string = 1;
    return rc ?: store_sql_exec(rebuild->db, "PRAGMA temp_store = FILE; BEGIN");
}

int store_rebuild_open(struct store_rebuild **out, const char *path, uint32_t mode, char *error,
                       size_t size) {
    const struct store_options options = {.plain = true, .file_mode = mode};
    struct store_rebuild *rebuild = calloc(1, sizeof(*rebuild));
    *out = NULL;
    if (!rebuild || !(rebuild->path = strdup(path))) {
        free(rebuild);
        snprintf(error, size, "cannot write %s: out of memory", path);
        return -ENOMEM;
    }
    int result = store_connection_open(&rebuild->db, path, &options, error, size);
    if (result == STORE_DONE) {
        result = store_rebuild_result(rebuild, begin(rebuild));
        snprintf(error, size, "%s", rebuild->error);
    }
    if (result != STORE_DONE) {
        store_rebuild_close(rebuild);
        return result;
    }
    *out = rebuild;
    return STORE_DONE;
}

void store_rebuild_close(struct store_rebuild *rebuild) {
    if (!rebuild) {
        return;
    }
    store_sql_finalize(rebuild->stmts, STORE_REBUILD_STATEMENTS);
    sqlite3_close(rebuild->db);
    store_intern_deinit(&rebuild->intern);
    free(rebuild->path);
    free(rebuild);
}

const char *store_rebuild_error(const struct store_rebuild *rebuild) {
    return rebuild->error;
}

// ---- Rows that nothing else needs ---------------------------------------------------------------

static int bind_maybe(sqlite3_stmt *stmt, int index, const struct store_maybe *value) {
    return value->is_set ? sqlite3_bind_int64(stmt, index, value->value)
                         : sqlite3_bind_null(stmt, index);
}

static int bind_text(sqlite3_stmt *stmt, int index, struct nvtxt_slice text) {
    return text.data ? sqlite3_bind_text(stmt, index, text.data, (int)text.len, SQLITE_STATIC)
                     : sqlite3_bind_null(stmt, index);
}

int store_rebuild_source(struct store_rebuild *rebuild, const struct store_follow_source *source) {
    const struct nvtxt_slice words[] = {source->kind,         source->session,   source->name,
                                        source->display_name, source->peer_comm, source->ended};
    const struct store_maybe numbers[] = {source->peer_pid,  source->peer_uid,  source->peer_gid,
                                          source->opened_ns, source->closed_ns, source->lines,
                                          source->events,    source->warnings,  source->errors,
                                          source->first_ns,  source->last_ns};
    int index = 2;
    int rc = store_rebuild_ready(rebuild, STORE_REBUILD_ADD_SOURCE);
    sqlite3_stmt *stmt = rebuild->stmts[STORE_REBUILD_ADD_SOURCE];
    rc = rc ?: sqlite3_bind_int64(stmt, 1, source->id);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        rc = rc ?: bind_text(stmt, index++, words[i]);
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        rc = rc ?: bind_maybe(stmt, index++, &numbers[i]);
    }
    rc = rc ?: sqlite3_bind_int(stmt, index, source->levels);
    return store_rebuild_result(rebuild, rc ?: store_sql_run(stmt));
}

int store_rebuild_diagnostic(struct store_rebuild *rebuild,
                             const struct store_follow_diagnostic *row) {
    const struct store_maybe numbers[] = {row->source_id, row->line, row->column, row->at_ns};
    const struct nvtxt_slice words[] = {row->severity, row->stage, row->code, row->message,
                                        row->excerpt};
    int index = 1;
    int rc = store_rebuild_ready(rebuild, STORE_REBUILD_ADD_DIAGNOSTIC);
    sqlite3_stmt *stmt = rebuild->stmts[STORE_REBUILD_ADD_DIAGNOSTIC];
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        rc = rc ?: bind_maybe(stmt, index++, &numbers[i]);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        rc = rc ?: bind_text(stmt, index++, words[i]);
    }
    return store_rebuild_result(rebuild, rc ?: store_sql_run(stmt));
}

int store_rebuild_loss(struct store_rebuild *rebuild, const struct store_follow_loss *row) {
    const struct store_maybe numbers[] = {row->at_ns, row->source_id, row->uid, row->pid};
    int index = 1;
    int rc = store_rebuild_ready(rebuild, STORE_REBUILD_ADD_LOSS);
    sqlite3_stmt *stmt = rebuild->stmts[STORE_REBUILD_ADD_LOSS];
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        rc = rc ?: bind_maybe(stmt, index++, &numbers[i]);
    }
    rc = rc ?: bind_text(stmt, index++, row->reason);
    rc = rc ?: sqlite3_bind_int64(stmt, index, row->count);
    return store_rebuild_result(rebuild, rc ?: store_sql_run(stmt));
}

int store_rebuild_domain(struct store_rebuild *rebuild, const struct store_follow_domain *row) {
    return store_rebuild_result(rebuild, STORE_REBUILD_RUN(rebuild, STORE_REBUILD_ADD_DOMAIN, "is",
                                                           row->id, row->name.data, row->name.len));
}

// ---- The end ------------------------------------------------------------------------------------

static const char count_events[] =
    "CREATE TEMP TABLE stored AS SELECT sourceId, sum(lastRow - firstRow + 1) AS events FROM "
    "NVTXT_EVENT_SOURCES GROUP BY sourceId;"
    "CREATE UNIQUE INDEX temp.stored_id ON stored (sourceId);"
    "UPDATE NVTXT_SOURCES SET events = ifnull(events, 0);"
    "UPDATE NVTXT_SOURCES SET priorEvents = nullif(events - ifnull((SELECT s.events FROM stored s "
    "WHERE s.sourceId = NVTXT_SOURCES.id), 0), 0)";
static const char drop_unused[] =
    "DELETE FROM NVTXT_SOURCES WHERE id NOT IN (SELECT sourceId FROM stored) AND id NOT IN "
    "(SELECT sourceId FROM NVTXT_DIAGNOSTICS WHERE sourceId IS NOT NULL) AND id NOT IN "
    "(SELECT sourceId FROM NVTXT_LOSSES WHERE sourceId IS NOT NULL)";
static const char note_nvtx[] =
    "UPDATE NVTXT_SOURCES SET nvtx = 1 WHERE id IN (SELECT x.sourceId FROM NVTXT_EVENT_SOURCES x "
    "WHERE EXISTS (SELECT 1 FROM NVTX_EVENTS e WHERE e.rowid BETWEEN x.firstRow AND x.lastRow AND "
    "coalesce(e.uint64Value, e.uint32Value, e.int32Value, e.floatValue, e.jsonText) IS NOT NULL))";

static int finish(struct store_rebuild *rebuild, bool only_used) {
    int rc = store_rebuild_end_batch(rebuild);
    rc = rc ?: store_rebuild_complete_names(rebuild);
    rc = rc ?: store_sql_exec(rebuild->db, count_events);
    rc = rc ?: only_used ? store_sql_exec(rebuild->db, drop_unused) : SQLITE_OK;
    rc = rc ?: rebuild->has_nvtx ? store_sql_exec(rebuild->db, note_nvtx) : SQLITE_OK;
    rc = rc ?: store_sql_exec(rebuild->db, "DROP TABLE stored");
    return rc ?: store_sql_exec(rebuild->db, "COMMIT");
}

int store_rebuild_finish(struct store_rebuild *rebuild, bool only_used) {
    return store_rebuild_result(rebuild, finish(rebuild, only_used));
}
