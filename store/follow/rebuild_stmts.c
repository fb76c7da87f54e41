// SPDX-License-Identifier: Apache-2.0
//
// The statements with which a segment is built again.
#include "store/follow/rebuild_state.h"

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
    [STORE_REBUILD_ADD_KEY] =
        "INSERT INTO NVTXT_RANGE_KEYS (eventRow, sourceId, key, parent) VALUES (?, ?, ?, ?)",
    [STORE_REBUILD_ADD_SOURCE] =
        "INSERT OR REPLACE INTO NVTXT_SOURCES (id, kind, sessionId, name, displayName, peerComm, "
        "ended, peerPid, peerUid, peerGid, openedNs, closedNs, lines, events, warnings, errors, "
        "firstNs, lastNs, levels, parent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, "
        "?, ?, ?)",
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
