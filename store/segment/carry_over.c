// SPDX-License-Identifier: Apache-2.0
//
// Everything is INSERT ... SELECT from the old segment, attached as `old`, in one transaction.
//
// Any later source may use what an earlier one named. If all names went over, segments would grow
// with every process that ever ran. So names of open ranges and open sources go over, and besides
// them only the newest ones. A name that does not go over gets its default when an event needs it.
// `carried`, a temporary table, gives each name its place in the new segment: its id is the rowid
// of the name row, and the id of the string, the process or the thread's name.
#include "store/segment/carry_over.h"

#include "store/db/sql.h"
#include "store/segment/store_id.h"

#define SOURCE_COLUMNS                                                                             \
    "id, kind, sessionId, name, displayName, peerPid, peerUid, peerGid, peerComm, openedNs, "      \
    "closedNs, ended, lines, events, warnings, errors, firstNs, lastNs, peerStart, levels, "       \
    "nvtx, parent"
#define OPEN_COLUMNS                                                                               \
    "sourceId, globalTid, kind, depth, rangeId, start, text, category, color, domainId, line, "    \
    "seq, \"column\", excerpt, int64Value, doubleValue, uint64Value, uint32Value, int32Value, "    \
    "floatValue, jsonText"

#define RESOURCE_COLUMNS "globalPid, domainId, kind, handle, name, sourceId"
#define COUNTER_COLUMNS "globalPid, domainId, name, description, unit, json, sourceId"

#define SEGMENT_COLUMNS                                                                            \
    "number, name, previous, startedNs, rangeBase, sourceBase, domainBase, lossesBefore, allEnded"

#define OPEN_DOMAINS                                                                               \
    "SELECT domainId FROM old.NVTXT_OPEN_RANGES UNION SELECT d.id FROM old.NVTXT_DOMAINS d JOIN "  \
    "old.NVTXT_SOURCES s ON s.displayName = d.name WHERE s.closedNs IS NULL"
#define IN_CARRIED_DOMAIN "(domainId = 0 OR domainId IN (SELECT id FROM NVTXT_DOMAINS))"
#define OPEN_PIDS                                                                                  \
    "SELECT globalTid / 0x1000000 FROM old.NVTXT_OPEN_RANGES UNION SELECT peerPid FROM "           \
    "old.NVTXT_SOURCES WHERE closedNs IS NULL AND peerPid IS NOT NULL"

// Parameters of all statements: ?1 the most rows, ?2 number, ?3 name, ?4 when the segment was
// begun.
static const char ids[] = "INSERT INTO NVTXT_SEGMENT (" SEGMENT_COLUMNS
                          ") SELECT ?2, ?3, ifnull((SELECT name FROM old.NVTXT_SEGMENT), ''), "
                          "?4, ifnull((SELECT rangeBase FROM old.NVTXT_SEGMENT), 0) + "
                          "ifnull((SELECT max(rowid) FROM old.NVTX_EVENTS), 0), "
                          "max(ifnull((SELECT sourceBase FROM old.NVTXT_SEGMENT), 0), "
                          "ifnull((SELECT max(id) FROM old.NVTXT_SOURCES), 0)), "
                          "max(ifnull((SELECT domainBase FROM old.NVTXT_SEGMENT), 0), "
                          "ifnull((SELECT max(id) FROM old.NVTXT_DOMAINS), 0)), "
                          "ifnull((SELECT lossesBefore FROM old.NVTXT_SEGMENT), 0) + "
                          "(SELECT count(*) FROM old.NVTXT_LOSSES), "
                          "ifnull((SELECT allEnded FROM old.NVTXT_SEGMENT), 1)";

static const char *const rest[] = {
    // Sources: the open ones, and the sessions that ended last, whose ids stay known.
    "INSERT INTO NVTXT_SOURCES (" SOURCE_COLUMNS ", priorEvents) SELECT " SOURCE_COLUMNS
    ", events FROM old.NVTXT_SOURCES WHERE closedNs IS NULL",
    "INSERT INTO NVTXT_SOURCES (" SOURCE_COLUMNS ", priorEvents) SELECT " SOURCE_COLUMNS
    ", events FROM old.NVTXT_SOURCES WHERE sessionId IS NOT NULL AND closedNs IS NOT NULL "
    "ORDER BY id DESC LIMIT ?1",
    "UPDATE NVTXT_SEGMENT SET allEnded = allEnded AND "
    "(SELECT count(*) FROM old.NVTXT_SOURCES WHERE sessionId IS NOT NULL) = "
    "(SELECT count(*) FROM NVTXT_SOURCES WHERE sessionId IS NOT NULL)",
    "INSERT INTO NVTXT_SESSIONS (sessionId, sourceId, uid, line, state, seenNs, openBytes) "
    "SELECT sessionId, sourceId, uid, line, state, seenNs, openBytes FROM old.NVTXT_SESSIONS",
    "INSERT INTO NVTXT_STATE (sourceId, part, state) SELECT sourceId, part, state FROM "
    "old.NVTXT_STATE",
    // Followed files, also those whose sources ended: the file may grow again.
    "INSERT INTO NVTXT_SOURCES (" SOURCE_COLUMNS ", priorEvents) SELECT " SOURCE_COLUMNS
    ", events FROM old.NVTXT_SOURCES WHERE closedNs IS NOT NULL AND id IN "
    "(SELECT sourceId FROM old.NVTXT_FILES)",
    "INSERT INTO NVTXT_FILES SELECT * FROM old.NVTXT_FILES",
    "INSERT INTO NVTXT_OPEN_RANGES (" OPEN_COLUMNS ") SELECT " OPEN_COLUMNS
    " FROM old.NVTXT_OPEN_RANGES",
    "INSERT INTO NVTXT_CLOCKS SELECT * FROM old.NVTXT_CLOCKS WHERE rowid IN "
    "(SELECT max(rowid) FROM old.NVTXT_CLOCKS GROUP BY clock)",
    "INSERT INTO NVTXT_DOMAINS (id, name) SELECT id, name FROM old.NVTXT_DOMAINS WHERE "
    "id IN (" OPEN_DOMAINS ") OR id IN (SELECT id FROM old.NVTXT_DOMAINS ORDER BY id DESC "
    "LIMIT ?1)",
    "INSERT INTO NVTXT_RESOURCES (rowid, " RESOURCE_COLUMNS ") SELECT rowid, " RESOURCE_COLUMNS
    " FROM old.NVTXT_RESOURCES WHERE " IN_CARRIED_DOMAIN " ORDER BY rowid DESC LIMIT ?1",
    "INSERT INTO NVTXT_COUNTERS (rowid, " COUNTER_COLUMNS ") SELECT rowid, " COUNTER_COLUMNS
    " FROM old.NVTXT_COUNTERS WHERE " IN_CARRIED_DOMAIN " ORDER BY rowid DESC LIMIT ?1",
    // Names: which ones go over, each with its place. Name rows first: they are rows 1, 2, ...
    "CREATE TEMP TABLE carried (id INTEGER PRIMARY KEY, kind INTEGER, domainId INTEGER, "
    "key INTEGER, oldRow INTEGER, UNIQUE (kind, domainId, key))",
    "INSERT INTO carried (kind, domainId, key, oldRow) SELECT kind, domainId, key, row FROM "
    "old.NVTXT_NAME_ROWS WHERE kind IN (3, 39, 75) AND " IN_CARRIED_DOMAIN
    " ORDER BY row DESC LIMIT ?1",
    "INSERT OR IGNORE INTO carried (kind, domainId, key, oldRow) SELECT kind, domainId, key, row "
    "FROM old.NVTXT_NAME_ROWS WHERE kind = 2 AND domainId = 0 AND key IN (SELECT key FROM carried "
    "WHERE kind = 39 UNION SELECT e.globalTid FROM carried c JOIN old.NVTX_EVENTS e "
    "ON e.rowid = c.oldRow UNION SELECT globalTid FROM old.NVTXT_OPEN_RANGES)",
    "INSERT OR IGNORE INTO carried (kind, domainId, key, oldRow) SELECT kind, domainId, key, row "
    "FROM old.NVTXT_NAME_ROWS WHERE kind = 1 AND domainId = 0 AND key IN (" OPEN_PIDS
    " UNION SELECT key / 0x1000000 FROM carried WHERE kind = 2 UNION SELECT globalPid / 0x1000000 "
    "FROM NVTXT_RESOURCES UNION SELECT globalPid / 0x1000000 FROM NVTXT_COUNTERS)",
    "INSERT OR IGNORE INTO carried (kind, domainId, key, oldRow) SELECT kind, domainId, key, row "
    "FROM old.NVTXT_NAME_ROWS WHERE kind = 1 ORDER BY row DESC LIMIT ?1",
    // Owners: of the processes that go over, and the newest ones.
    "INSERT INTO NVTXT_OWNERS (pid, uid, sinceNs, proven) SELECT pid, uid, sinceNs, proven FROM "
    "old.NVTXT_OWNERS "
    "WHERE pid IN (SELECT key FROM carried WHERE kind = 1) OR pid IN (" OPEN_PIDS
    ") OR pid IN (SELECT pid FROM old.NVTXT_OWNERS ORDER BY sinceNs DESC LIMIT ?1)",
    // What the names belong to.
    "INSERT INTO StringIds (id, value) SELECT c.id, s.value FROM carried c JOIN old.StringIds s "
    "ON s.id = c.oldRow WHERE c.kind = 2",
    "INSERT INTO StringIds (id, value) SELECT c.id, e.text FROM carried c JOIN old.NVTX_EVENTS e "
    "ON e.rowid = c.oldRow WHERE c.kind IN (3, 75)",
    "INSERT INTO ThreadNames (nameId, globalTid) SELECT id, key FROM carried WHERE kind = 2",
    "INSERT INTO PROCESSES (rowid, globalPid, pid, name) SELECT c.id, p.globalPid, p.pid, p.name "
    "FROM carried c JOIN old.PROCESSES p ON p.rowid = c.oldRow WHERE c.kind = 1",
    // Their time is where the segment begins, as near as we know it: the latest event before.
    "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, rangeId, text, category, color, "
    "globalTid, domainId, textId) SELECT c.id, ifnull(b.maxEnd, e.start), "
    "ifnull(b.maxEnd, e.end), e.eventType, 0, e.text, e.category, 0, e.globalTid, e.domainId, "
    "iif(c.kind = 39, (SELECT t.id FROM carried t WHERE t.kind = 2 AND t.domainId = 0 AND "
    "t.key = c.key), c.id) FROM carried c JOIN old.NVTX_EVENTS e ON e.rowid = c.oldRow LEFT JOIN "
    "(SELECT maxEnd FROM old.NVTXT_BATCHES ORDER BY id DESC LIMIT 1) b "
    "WHERE c.kind IN (3, 39, 75) ORDER BY c.id",
    "INSERT INTO NVTXT_NAME_ROWS (kind, domainId, key, row) SELECT kind, domainId, key, id "
    "FROM carried",
    "DROP TABLE carried",
};

static int run_sql(sqlite3 *db, const char *sql, const struct store_carry *carry) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    const int parameters = sqlite3_bind_parameter_count(stmt);
    if (rc == SQLITE_OK && parameters >= 1) {
        rc = sqlite3_bind_int64(stmt, 1, (int64_t)carry->rows);
    }
    if (rc == SQLITE_OK && parameters >= 4) {
        rc = sqlite3_bind_int64(stmt, 2, (int64_t)carry->number);
        rc = rc ?: sqlite3_bind_text(stmt, 3, carry->name, -1, SQLITE_STATIC);
        rc = rc ?: sqlite3_bind_int64(stmt, 4, carry->started_ns);
    }
    rc = rc ?: store_sql_run(stmt);
    sqlite3_finalize(stmt);
    return rc;
}

static int attach(sqlite3 *db, const char *path) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, "ATTACH ? AS old", -1, &stmt, NULL);
    rc = rc ?: store_sql_bind(stmt, "t", path);
    rc = rc ?: store_sql_run(stmt);
    sqlite3_finalize(stmt);
    return rc;
}

static int bytes_of(sqlite3 *db, int64_t *bytes) {
    int64_t page = 0;
    int rc = store_sql_int(db, "PRAGMA main.page_count", bytes);
    rc = rc ?: store_sql_int(db, "PRAGMA main.page_size", &page);
    *bytes *= page;
    return rc;
}

// Notes how much was taken over: it is nobody's history, see store/segment/contents.h.
static int note_carried(sqlite3 *db, int64_t before) {
    int64_t bytes = 0;
    int rc = bytes_of(db, &bytes);
    char sql[80];
    sqlite3_snprintf(sizeof(sql), sql, "UPDATE NVTXT_SEGMENT SET carriedBytes = %lld",
                     (long long)(bytes - before));
    return rc ?: store_sql_exec(db, sql);
}

static const char not_all_ended[] = "UPDATE NVTXT_SEGMENT SET allEnded = 0";

// Runs in a transaction of `db`.
static int fill_segment(sqlite3 *db, const struct store_carry *carry) {
    if (!carry->from) {
        int rc = store_carry_begin(db, carry);
        return rc ?: carry->after_loss ? run_sql(db, not_all_ended, carry) : SQLITE_OK;
    }
    int64_t before = 0;
    int rc = bytes_of(db, &before);
    rc = rc ?: run_sql(db, ids, carry);
    rc = rc ?: store_id_carry(db, "old");
    if (rc == SQLITE_OK && carry->ids_only) {
        return run_sql(db, not_all_ended, carry);
    }
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]) && rc == SQLITE_OK; i++) {
        rc = run_sql(db, rest[i], carry);
    }
    return rc ?: note_carried(db, before);
}

// IMMEDIATE would lock `old` as well, which its writer has locked.
int store_carry(sqlite3 *db, const struct store_carry *carry) {
    int rc = carry->from ? attach(db, carry->from) : SQLITE_OK;
    rc = rc ?: store_sql_exec(db, "BEGIN");
    if (rc != SQLITE_OK) {
        return rc;
    }
    rc = store_sql_commit(db, fill_segment(db, carry));
    return rc != SQLITE_OK || !carry->from ? rc : store_sql_exec(db, "DETACH old");
}

int store_carry_fact(sqlite3 *db, const char *column, int64_t *value) {
    char sql[96];
    int rc =
        store_sql_int(db, "SELECT count(*) FROM sqlite_master WHERE name = 'NVTXT_SEGMENT'", value);
    if (rc != SQLITE_OK || *value == 0) {
        return rc;
    }
    sqlite3_snprintf(sizeof(sql), sql, "SELECT %s FROM NVTXT_SEGMENT", column);
    return store_sql_int(db, sql, value);
}

int store_carry_begin(sqlite3 *db, const struct store_carry *carry) {
    int rc = run_sql(db,
                     "UPDATE NVTXT_SEGMENT SET number = ?2, name = ?3, startedNs = ?4 "
                     "WHERE ?1 IS NOT NULL",
                     carry);
    if (rc != 0) {
        return rc;
    }
    return run_sql(db,
                   "INSERT INTO NVTXT_SEGMENT (" SEGMENT_COLUMNS
                   ") SELECT ?2, ?3, '', ?4, 0, 0, 0, 0, 1 "
                   "WHERE ?1 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM NVTXT_SEGMENT)",
                   carry);
}

int store_carry_leave(sqlite3 *db, int64_t now_ns) {
    char *sql = sqlite3_mprintf("DELETE FROM NVTXT_SESSIONS; DELETE FROM NVTXT_FILES;"
                                "DELETE FROM NVTXT_STATE;"
                                "DELETE FROM NVTXT_OPEN_RANGES;"
                                "UPDATE NVTXT_SOURCES SET closedNs = %lld, ended = 'rotated' "
                                "WHERE closedNs IS NULL",
                                (long long)now_ns);
    int64_t there = 0;
    int rc = sql ? store_sql_int(db,
                                 "SELECT EXISTS (SELECT 1 FROM NVTXT_SESSIONS) OR EXISTS "
                                 "(SELECT 1 FROM NVTXT_FILES) OR EXISTS "
                                 "(SELECT 1 FROM NVTXT_OPEN_RANGES) OR EXISTS "
                                 "(SELECT 1 FROM NVTXT_SOURCES WHERE closedNs IS NULL)",
                                 &there)
                 : SQLITE_NOMEM;
    if (rc == SQLITE_OK && there) {
        rc = store_sql_exec(db, "BEGIN IMMEDIATE");
        rc = rc ?: store_sql_commit(db, store_sql_exec(db, sql));
    }
    sqlite3_free(sql);
    return rc;
}
