// SPDX-License-Identifier: Apache-2.0
//
// The SQL that makes a store, as strings. The tables of the export's schema come first, with its
// names, order and NOT NULL. They are plain rowid tables without indexes, as their readers expect.
// Our own begin with NVTXT_ and have the indexes that spare the daemon every scan.
#include "store/db/schema.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/db/sql.h"
#include "store/value/codes.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

// ---- Tables -------------------------------------------------------------------------------------

const char store_schema_events_sql[] =
    "CREATE TABLE NVTX_EVENTS (start INT NOT NULL, end INT NOT NULL, eventType INT NOT NULL, "
    "rangeId INT NOT NULL, text TEXT NOT NULL, category INT NOT NULL, color INT NOT NULL, "
    "globalTid INT NOT NULL, domainId INT NOT NULL, endGlobalTid INTEGER, textId INTEGER, "
    "uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, "
    "int32Value INTEGER, floatValue REAL, jsonText TEXT);";

static const char export_tables[] =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE ThreadNames (nameId INTEGER PRIMARY KEY, globalTid INT NOT NULL);"
    "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
    "CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, "
    "localTime TEXT);";

static const char export_rows[] =
    "INSERT INTO StringIds (id, value) VALUES (0, '[Unknown]');"
    "INSERT INTO ENUM_NSYS_EVENT_TYPE (id, name, label) VALUES "
    "(33, 'NvtxCategory', 'NVTX category'), (34, 'NvtxMark', 'NVTX mark'), "
    "(39, 'NvtxThread', 'NVTX thread'), (59, 'NvtxPushPopRange', 'NVTX push/pop range'), "
    "(60, 'NvtxStartEndRange', 'NVTX start/end range'), "
    "(75, 'NvtxDomainCreate', 'NVTX domain create');"
    "INSERT INTO TARGET_INFO_SESSION_START_TIME (utcEpochNs, utcTime, localTime) VALUES "
    "(0, '1970-01-01 00:00:00', '1970-01-01 00:00:00');"
    "INSERT INTO META_DATA_EXPORT (name, value) VALUES ('PRODUCT_NAME', 'nvtxtd'), "
    "('PRODUCT_VERSION', '" PACKAGE_VERSION "'), ('SCHEMA_VERSION', '1');";

// NVTXT_NAME_ROWS says where a name stands, so that a rename finds its row. Kinds 3, 33, 39 and 75
// are rows of NVTX_EVENTS, kind 1 rows of PROCESSES (key: pid), kind 2 ids of StringIds and
// ThreadNames (key: globalTid); see name_rows.h.
static const char own_tables[] =
    "CREATE TABLE NVTXT_SOURCES (id INTEGER PRIMARY KEY, kind TEXT, sessionId TEXT, name TEXT, "
    "displayName TEXT, peerPid INTEGER, peerUid INTEGER, peerGid INTEGER, peerComm TEXT, "
    "openedNs INTEGER, closedNs INTEGER, ended TEXT, lines INTEGER, events INTEGER, "
    "warnings INTEGER, errors INTEGER, firstNs INTEGER, lastNs INTEGER, peerStart INTEGER);"
    "CREATE INDEX NVTXT_SOURCES_SESSION ON NVTXT_SOURCES (sessionId) WHERE sessionId IS NOT NULL;"
    "CREATE INDEX NVTXT_SOURCES_OPEN ON NVTXT_SOURCES (kind) WHERE closedNs IS NULL;"
    "CREATE TABLE NVTXT_DIAGNOSTICS (sourceId INTEGER, line INTEGER, \"column\" INTEGER, "
    "severity TEXT, stage TEXT, code TEXT, message TEXT, excerpt TEXT, atNs INTEGER);"
    "CREATE INDEX NVTXT_DIAGNOSTICS_LINE ON NVTXT_DIAGNOSTICS (sourceId, line);"
    "CREATE TABLE NVTXT_SESSIONS (sessionId TEXT PRIMARY KEY, sourceId INTEGER, uid INTEGER, "
    "line INTEGER, state TEXT, seenNs INTEGER);"
    "CREATE INDEX NVTXT_SESSIONS_UID ON NVTXT_SESSIONS (uid);"
    "CREATE INDEX NVTXT_SESSIONS_SEEN ON NVTXT_SESSIONS (seenNs);"
    "CREATE TABLE NVTXT_OPEN_RANGES (sourceId INTEGER NOT NULL, globalTid INTEGER, kind INTEGER, "
    "depth INTEGER, rangeId INTEGER, start INTEGER, text TEXT, category INTEGER, color INTEGER, "
    "domainId INTEGER, line INTEGER, seq INTEGER NOT NULL, \"column\" INTEGER, excerpt TEXT, "
    "int64Value INTEGER, doubleValue REAL, PRIMARY KEY (sourceId, seq)) WITHOUT ROWID;"
    "CREATE TABLE NVTXT_UNCLOSED (eventRow INTEGER PRIMARY KEY);"
    "CREATE TABLE NVTXT_EVENT_SOURCES (firstRow INTEGER PRIMARY KEY, lastRow INTEGER, "
    "sourceId INTEGER);"
    "CREATE TABLE NVTXT_BATCHES (id INTEGER PRIMARY KEY, firstRow INTEGER, lastRow INTEGER, "
    "minStart INTEGER, maxEnd INTEGER, committedNs INTEGER, events INTEGER);"
    "CREATE INDEX NVTXT_BATCHES_END ON NVTXT_BATCHES (maxEnd);"
    "CREATE TABLE NVTXT_CLOCKS (clock TEXT, clockNs INTEGER, realtimeNs INTEGER, "
    "uncertaintyNs INTEGER);"
    "CREATE TABLE NVTXT_LOSSES (atNs INTEGER, sourceId INTEGER, uid INTEGER, pid INTEGER, "
    "reason TEXT, count INTEGER);"
    "CREATE TABLE NVTXT_DOMAINS (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE NVTXT_NAME_ROWS (kind INTEGER NOT NULL, domainId INTEGER NOT NULL, "
    "key INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (kind, domainId, key)) "
    "WITHOUT ROWID;";

// ---- Views --------------------------------------------------------------------------------------

// A row of the timeline gathers what names an event: its process, thread, category, domain and
// source. Each name is a scalar subquery that walks one key of NVTXT_NAME_ROWS. So it costs nothing
// when nobody asks for the column, and a reader that joins or filters keeps the plan of the event
// table.
//
// NVTXT_RECENT enters NVTX_EVENTS by the rowid ranges of the batches that reach into the last
// hour; CROSS JOIN keeps SQLite from doing it the other way round. batchEnd is the latest end in an
// event's batch: a reader that wants less than the hour asks for it as well, and SQLite passes over
// whole batches.
#define NAME_ROW(kind, domain, key) "r.kind = " kind " AND r.domainId = " domain " AND r.key = " key

// Names are kept under kind 1 (processes) and 2 (threads); see name_rows.h.
#define PROCESS_NAME                                                                               \
    "(SELECT p.name FROM NVTXT_NAME_ROWS r JOIN PROCESSES p ON p.rowid = r.row WHERE " NAME_ROW(   \
        "1", "0", "e.globalTid / 0x1000000") ")"
#define THREAD_NAME                                                                                \
    "(SELECT t.value FROM NVTXT_NAME_ROWS r JOIN StringIds t ON t.id = r.row WHERE " NAME_ROW(     \
        "2", "0", "e.globalTid") ")"
// Kind 3 is a category of a process, kind 33 one that an older version wrote for all processes.
#define CATEGORY_NAME(pid)                                                                         \
    "coalesce((SELECT c.text FROM NVTXT_NAME_ROWS r JOIN NVTX_EVENTS c ON c.rowid = r.row "        \
    "WHERE " NAME_ROW(                                                                             \
        "3", "e.domainId",                                                                         \
        "(" pid ") * 0x100000000 + e.category") "), "                                              \
                                                "(SELECT c.text FROM NVTXT_NAME_ROWS r JOIN "      \
                                                "NVTX_EVENTS c ON c.rowid = r.row "                \
                                                "WHERE " NAME_ROW(                                 \
                                                    "33", "e.domainId",                            \
                                                    "e.category") "), nullif(e.category, 0))"

// The last range of rows that begins at or before the event's, if it reaches the event.
#define SOURCE_ID                                                                                  \
    "(SELECT CASE WHEN x.lastRow >= e.rowid THEN x.sourceId END FROM NVTXT_EVENT_SOURCES x "       \
    "WHERE x.firstRow <= e.rowid ORDER BY x.firstRow DESC LIMIT 1)"
#define SOURCE_NAME                                                                                \
    "(SELECT coalesce(s.name, s.displayName, s.peerComm, 'source ' || s.id) "                      \
    "FROM NVTXT_SOURCES s WHERE s.id = " SOURCE_ID ")"

// Division that rounds down, for times before 1970.
#define NS_OF_SECOND "((e.start % 1000000000 + 1000000000) % 1000000000)"
#define UTC_TIME                                                                                   \
    "strftime('%Y-%m-%dT%H:%M:%S', (e.start - " NS_OF_SECOND ") / 1000000000, 'unixepoch') || "    \
    "printf('.%09dZ', " NS_OF_SECOND ")"

// The largest values of a UINT64 payload stand there as their two's complement.
#define PAYLOAD                                                                                    \
    "coalesce(e.int64Value, e.doubleValue, iif(e.uint64Value < 0, printf('%llu', e.uint64Value), " \
    "e.uint64Value), e.uint32Value, e.int32Value, e.floatValue, e.jsonText)"

#define TIMELINE_COLUMNS                                                                           \
    "SELECT " UTC_TIME " AS utcTime, e.end - e.start AS duration, "                                \
    "CASE e.eventType WHEN 34 THEN 'mark' WHEN 59 THEN 'push/pop' ELSE 'start/end' END AS kind, "  \
    "e.text AS message, " CATEGORY_NAME(                                                           \
        "e.globalTid / 0x1000000") " AS category, "                                                \
                                   "CASE WHEN e.color <> 0 THEN printf('#%08X', e.color) END AS "  \
                                   "color, " PROCESS_NAME " AS process, " THREAD_NAME              \
                                   " AS thread, " SOURCE_NAME " AS source, "                       \
                                   "(SELECT d.name FROM NVTXT_DOMAINS d WHERE d.id = e.domainId) " \
                                   "AS domain, " PAYLOAD " AS payload, "                           \
                                   "e.globalTid / 0x1000000 % 0x1000000 AS pid, e.globalTid % "    \
                                   "0x1000000 AS tid, "                                            \
                                   "e.start AS start, e.end AS \"end\", e.globalTid AS "           \
                                   "globalTid, e.domainId AS domainId, "                           \
                                   "e.category AS categoryId, " SOURCE_ID                          \
                                   " AS sourceId, e.rowid AS eventRow"

// The payload of a marker is the severity of syslog(3) where its source says so.
#define LEVEL                                                                                      \
    "CASE WHEN e.eventType = 34 AND e.int64Value BETWEEN 0 AND 7 AND (SELECT s.levels FROM "       \
    "NVTXT_SOURCES s WHERE s.id = " SOURCE_ID ") = 1 THEN CASE e.int64Value WHEN 0 THEN 'emerg' "  \
    "WHEN 1 THEN 'alert' WHEN 2 THEN 'crit' WHEN 3 THEN 'err' WHEN 4 THEN 'warning' "              \
    "WHEN 5 THEN 'notice' WHEN 6 THEN 'info' ELSE 'debug' END END AS level "

// sum() fails when a sum leaves 64 bits, and the whole view with it; a few ranges with a wrong time
// base are enough. So the view sums upper and lower halves. A total that does not fit an integer is
// a REAL, from avg(). A duration is an integer, or a REAL that is the least or greatest of its
// group.
#define EXACT_TOTAL                                                                                \
    "CASE WHEN typeof(e.\"min\") = 'integer' AND typeof(e.\"max\") = 'integer' "                   \
    "AND abs(e.mean * e.\"count\") < 9.2e18 THEN e.high * 4294967296 + e.low "                     \
    "ELSE e.mean * e.\"count\" END"

#define ONLY_EVENTS "e.eventType IN (34, 59, 60)"
#define AN_HOUR_AGO "(CAST(strftime('%s', 'now') AS INTEGER) - 3600) * 1000000000"

// SQLite parses every view again at each ALTER TABLE. So only the last step makes them, and one
// that alters tables drops them first.
#define DROP_VIEWS                                                                                 \
    "DROP VIEW IF EXISTS NVTXT_TIMELINE; DROP VIEW IF EXISTS NVTXT_RECENT;"                        \
    "DROP VIEW IF EXISTS NVTXT_RANGE_SUMMARY; DROP VIEW IF EXISTS ANALYSIS_DETAILS;"               \
    "DROP VIEW IF EXISTS NVTXT_TREE;"

static const char views[] =
    "CREATE VIEW NVTXT_TIMELINE AS " TIMELINE_COLUMNS ", " LEVEL
    "FROM NVTX_EVENTS e WHERE " ONLY_EVENTS ";"
    "CREATE VIEW NVTXT_RECENT AS " TIMELINE_COLUMNS ", b.maxEnd AS batchEnd, " LEVEL
    "FROM NVTXT_BATCHES b CROSS JOIN NVTX_EVENTS e ON e.rowid BETWEEN b.firstRow AND b.lastRow "
    "WHERE b.maxEnd >= " AN_HOUR_AGO " AND e.end >= " AN_HOUR_AGO " AND " ONLY_EVENTS ";"
    // Summed up by process first, because a process names its categories; then by that name.
    "CREATE VIEW NVTXT_RANGE_SUMMARY AS "
    "SELECT e.message AS message, e.category AS category, e.\"count\" AS \"count\", " EXACT_TOTAL
    " AS total, e.mean AS mean, e.\"min\" AS \"min\", e.\"max\" AS \"max\", "
    "(SELECT d.name FROM NVTXT_DOMAINS d WHERE d.id = e.domainId) AS domain, "
    "e.categoryId AS categoryId, e.domainId AS domainId FROM ("
    "SELECT message, category, categoryId, domainId, sum(\"count\") AS \"count\", "
    "sum(high) AS high, sum(low) AS low, sum(whole) / sum(\"count\") AS mean, "
    "min(\"min\") AS \"min\", max(\"max\") AS \"max\" FROM ("
    "SELECT e.message AS message, " CATEGORY_NAME(
        "e.pid") " AS category, "
                 "e.category AS categoryId, e.domainId AS domainId, e.\"count\" AS \"count\", "
                 "e.high AS high, "
                 "e.low AS low, e.whole AS whole, e.\"min\" AS \"min\", e.\"max\" AS \"max\" FROM ("
                 "SELECT text AS message, category, domainId, globalTid / 0x1000000 AS pid, "
                 "count(*) AS \"count\", sum((end - start) >> 32) AS high, "
                 "sum((end - start) & 4294967295) AS low, total(end - start) AS whole, "
                 "min(end - start) AS \"min\", max(end - start) AS \"max\" FROM "
                 "NVTX_EVENTS WHERE eventType IN (59, 60) "
                 "GROUP BY text, category, domainId, globalTid / 0x1000000) e) "
                 "GROUP BY message, category, categoryId, domainId) e;"
                 "CREATE VIEW ANALYSIS_DETAILS AS SELECT 0 AS globalVid, "
                 "ifnull(max(maxEnd) - min(minStart), 0) AS duration, ifnull(min(minStart), 0) AS "
                 "startTime, "
                 "ifnull(max(maxEnd), 0) AS stopTime FROM NVTXT_BATCHES;";

// The rows have no length and stand at the store's first event, so that no reader's window grows.
static const char cupti_views[] =
    "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT a.startTime AS start, a.startTime AS "
    "\"end\", "
    "0 AS deviceId, 0 AS contextId, 0 AS streamId, 0 AS correlationId, p.globalPid AS globalPid, "
    "0 AS demangledName, 0 AS shortName, 0 AS launchType, 0 AS cacheConfig, "
    "0 AS registersPerThread, 0 AS gridX, 0 AS gridY, 0 AS gridZ, 0 AS blockX, 0 AS blockY, "
    "0 AS blockZ, 0 AS staticSharedMemory, 0 AS dynamicSharedMemory, 0 AS localMemoryPerThread, "
    "0 AS localMemoryTotal, 0 AS gridId, 0 AS sharedMemoryExecuted "
    "FROM ANALYSIS_DETAILS a CROSS JOIN PROCESSES p;"
    "CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS SELECT 0 AS start, 0 AS \"end\", 0 AS globalTid, "
    "0 AS correlationId, 0 AS nameId, 0 AS returnValue WHERE 0;";

// ---- Steps --------------------------------------------------------------------------------------

static int create_all(sqlite3 *db) {
    static const char *const parts[] = {store_schema_events_sql, export_tables, export_rows,
                                        own_tables};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        int rc = store_sql_exec(db, parts[i]);
        if (rc != SQLITE_OK) {
            return rc;
        }
    }
    char pragma[64];
    snprintf(pragma, sizeof(pragma), "PRAGMA application_id = %d", STORE_APPLICATION_ID);
    return store_sql_exec(db, pragma);
}

// Version 2: a store is a row of segments. NVTXT_SEGMENT has one row in a segment and none in a
// plain file; it says where the ids of this segment begin. priorEvents counts the events of a
// source in earlier segments.
static int add_segments(sqlite3 *db) {
    return store_sql_exec(
        db, "ALTER TABLE NVTXT_SOURCES ADD COLUMN priorEvents INTEGER;"
            "CREATE TABLE NVTXT_SEGMENT (number INTEGER PRIMARY KEY, name TEXT, "
            "previous TEXT, startedNs INTEGER, rangeBase INTEGER, sourceBase INTEGER, "
            "domainBase INTEGER, lossesBefore INTEGER, allEnded INTEGER);"
            "UPDATE META_DATA_EXPORT SET value = '2' WHERE name = 'SCHEMA_VERSION'");
}

// Version 3: followed files.
static int add_files(sqlite3 *db) {
    return store_sql_exec(db,
                          "CREATE TABLE NVTXT_FILES (sourceId INTEGER PRIMARY KEY, path TEXT, "
                          "device INTEGER, inode INTEGER, offset INTEGER, headBytes INTEGER, "
                          "headHash INTEGER, tailBytes INTEGER, tailHash INTEGER, "
                          "changedNs INTEGER, state TEXT);"
                          "UPDATE META_DATA_EXPORT SET value = '3' WHERE name = 'SCHEMA_VERSION'");
}

// Labels and facts as in exports of Nsight Systems.
#define AS_READERS_LOOK_FOR_IT                                                                     \
    "UPDATE ENUM_NSYS_EVENT_TYPE SET label = name;"                                                \
    "INSERT INTO META_DATA_EXPORT (name, value) VALUES ('EXPORT_PRODUCT_NAME', 'nvtxtd'), "        \
    "('EXPORT_PRODUCT_VERSION', '" PACKAGE_VERSION "'), ('EXPORT_SCHEMA_VERSION', '4');"

// Version 4: names have owners, and a category's name belongs to its process (kind 3 of
// NVTXT_NAME_ROWS; key: pid * 2^32 + category); logs have levels; sessions count the bytes of their
// open ranges, segments the bytes that they took over. Names of categories that hold for all
// processes stay; the process at whose event one stands gets it as its own, too.
static int add_owners(sqlite3 *db) {
    return store_sql_exec(
        db, DROP_VIEWS
        "ALTER TABLE NVTXT_SOURCES ADD COLUMN levels INTEGER;"
        "ALTER TABLE NVTXT_SESSIONS ADD COLUMN openBytes INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE NVTXT_SEGMENT ADD COLUMN carriedBytes INTEGER NOT NULL DEFAULT 0;"
        "CREATE TABLE NVTXT_OWNERS (pid INTEGER PRIMARY KEY, uid INTEGER NOT NULL, "
        "sinceNs INTEGER);"
        "INSERT OR IGNORE INTO NVTXT_NAME_ROWS (kind, domainId, key, row) SELECT 3, r.domainId, "
        "e.globalTid / 0x1000000 * 0x100000000 + r.key, r.row FROM NVTXT_NAME_ROWS r "
        "JOIN NVTX_EVENTS e ON e.rowid = r.row WHERE r.kind = 33;" AS_READERS_LOOK_FOR_IT
        "UPDATE META_DATA_EXPORT SET value = '4' WHERE name = 'SCHEMA_VERSION'");
}

// Version 5: payloads of all types and JSON texts, also of open ranges; names of resources and
// counters; which sources had the extension that makes all these.
static int add_nvtx(sqlite3 *db) {
    return store_sql_exec(
        db, DROP_VIEWS
        "ALTER TABLE NVTXT_SOURCES ADD COLUMN nvtx INTEGER;"
        "ALTER TABLE NVTXT_OPEN_RANGES ADD COLUMN uint64Value INTEGER;"
        "ALTER TABLE NVTXT_OPEN_RANGES ADD COLUMN uint32Value INTEGER;"
        "ALTER TABLE NVTXT_OPEN_RANGES ADD COLUMN int32Value INTEGER;"
        "ALTER TABLE NVTXT_OPEN_RANGES ADD COLUMN floatValue REAL;"
        "ALTER TABLE NVTXT_OPEN_RANGES ADD COLUMN jsonText TEXT;"
        "CREATE TABLE NVTXT_RESOURCES (globalPid INTEGER NOT NULL, domainId INTEGER NOT NULL, "
        "kind TEXT NOT NULL, handle INTEGER NOT NULL, name TEXT NOT NULL, sourceId INTEGER, "
        "PRIMARY KEY (globalPid, domainId, kind, handle));"
        "CREATE TABLE NVTXT_COUNTERS (globalPid INTEGER NOT NULL, domainId INTEGER NOT NULL, "
        "name TEXT NOT NULL, description TEXT, unit TEXT, json TEXT, sourceId INTEGER, "
        "PRIMARY KEY (globalPid, domainId, name));"
        "UPDATE META_DATA_EXPORT SET value = '5' WHERE name IN ('SCHEMA_VERSION', "
        "'EXPORT_SCHEMA_VERSION')");
}

// Version 6: a session belongs to its user, so that its key is (uid, sessionId); a row that has no
// uid gets that of its source. NVTXT_STATE has what a session or a followed file goes on with and
// what changes seldom, in parts (nvtxt-store(5)); a state of an older version has all of it in the
// row of its session or file. Owners of processes may be proven; those of older versions are not.
// The categories of a process are found whatever their domains are.
static int add_keys(sqlite3 *db) {
    return store_sql_exec(
        db, "CREATE TABLE \"sessionsBefore\" AS SELECT * FROM NVTXT_SESSIONS;"
            "DROP TABLE NVTXT_SESSIONS;"
            "CREATE TABLE NVTXT_SESSIONS (sessionId TEXT, sourceId INTEGER, uid INTEGER, "
            "line INTEGER, state TEXT, seenNs INTEGER, openBytes INTEGER NOT NULL DEFAULT 0, "
            "PRIMARY KEY (uid, sessionId));"
            "CREATE INDEX NVTXT_SESSIONS_SOURCE ON NVTXT_SESSIONS (sourceId);"
            "CREATE INDEX NVTXT_SESSIONS_SEEN ON NVTXT_SESSIONS (seenNs);"
            "INSERT INTO NVTXT_SESSIONS (sessionId, sourceId, uid, line, state, seenNs, openBytes) "
            "SELECT sessionId, sourceId, coalesce(uid, (SELECT s.peerUid FROM NVTXT_SOURCES s "
            "WHERE s.id = o.sourceId)), line, state, seenNs, openBytes FROM sessionsBefore o;"
            "DROP TABLE sessionsBefore;"
            "CREATE TABLE \"ownersBefore\" AS SELECT * FROM NVTXT_OWNERS;"
            "DROP TABLE NVTXT_OWNERS;"
            "CREATE TABLE NVTXT_OWNERS (pid INTEGER PRIMARY KEY, uid INTEGER NOT NULL, "
            "sinceNs INTEGER, proven INTEGER NOT NULL DEFAULT 0);"
            "INSERT INTO NVTXT_OWNERS (pid, uid, sinceNs) SELECT pid, uid, sinceNs FROM "
            "ownersBefore;"
            "DROP TABLE ownersBefore;"
            "CREATE INDEX NVTXT_NAME_ROWS_CATEGORY ON NVTXT_NAME_ROWS (kind, key) WHERE kind = 3;"
            "CREATE TABLE NVTXT_STATE (sourceId INTEGER NOT NULL, part INTEGER NOT NULL, "
            "state TEXT NOT NULL, PRIMARY KEY (sourceId, part)) WITHOUT ROWID;"
            "UPDATE META_DATA_EXPORT SET value = '6' WHERE name IN ('SCHEMA_VERSION', "
            "'EXPORT_SCHEMA_VERSION')");
}

// Version 7: ranges may have parents in other processes. A source says under which token it began;
// a range that others may name has its key, and perhaps a token of its own.
static int add_parents(sqlite3 *db) {
    int rc = store_sql_exec(
        db, DROP_VIEWS
        "ALTER TABLE NVTXT_SOURCES ADD COLUMN parent TEXT;"
        "CREATE TABLE NVTXT_RANGE_KEYS (eventRow INTEGER PRIMARY KEY, sourceId INTEGER NOT NULL, "
        "key TEXT NOT NULL, parent TEXT);"
        "CREATE INDEX NVTXT_RANGE_KEYS_KEY ON NVTXT_RANGE_KEYS (sourceId, key);"
        "UPDATE META_DATA_EXPORT SET value = '7' WHERE name IN ('SCHEMA_VERSION', "
        "'EXPORT_SCHEMA_VERSION')");
    rc = rc ?: store_sql_exec(db, views);
    return rc ?: store_sql_exec(db, store_schema_tree_sql);
}

const struct store_schema_step store_schema_steps[STORE_SCHEMA_VERSION] = {
    {create_all}, {add_segments}, {add_files}, {add_owners}, {add_nvtx}, {add_keys}, {add_parents},
};

#define TEXT_OF(number) #number
#define VERSION_TEXT(number) TEXT_OF(number)

int store_schema_export(sqlite3 *db) {
    int rc = store_sql_exec(db, store_schema_events_sql);
    rc = rc ?: store_sql_exec(db, export_tables);
    rc = rc ?: store_sql_exec(db, export_rows);
    return rc
               ?: store_sql_exec(db, AS_READERS_LOOK_FOR_IT
                                 "UPDATE META_DATA_EXPORT SET value = '" VERSION_TEXT(
                                     STORE_SCHEMA_VERSION) "' WHERE name IN ('SCHEMA_VERSION', "
                                                           "'EXPORT_SCHEMA_VERSION')");
}

int store_schema_inspect(sqlite3 *db, enum store_schema_state *state, int *version) {
    int64_t application = 0;
    int64_t user_version = 0;
    int64_t things = 0;
    int rc = store_sql_int(db, "PRAGMA application_id", &application);
    rc = rc ?: store_sql_int(db, "PRAGMA user_version", &user_version);
    rc = rc ?: store_sql_int(db, "SELECT count(*) FROM sqlite_master", &things);
    bool empty = things == 0 && application == 0 && user_version == 0;
    *state =
        application == STORE_APPLICATION_ID || empty ? STORE_SCHEMA_OURS : STORE_SCHEMA_FOREIGN;
    *version = (int)user_version;
    return rc;
}

// The package that brings the program that runs.
static const char *package(void) {
    const char *program = program_invocation_short_name;
    if (strncmp(program, "nvtxtd", 6) == 0) {
        return "nvtxtd";
    }
    return strncmp(program, "nvtxt-ship", 10) == 0 ? "nvtxt-ship" : "nvtxt-tools";
}

void store_schema_newer(int64_t version, char *clause, size_t size) {
    snprintf(clause, size,
             "was written by a newer version (schema %" PRId64 "; this is " PACKAGE_VERSION
             ", which reads schemas up to %d): install a newer package %s",
             version, STORE_SCHEMA_VERSION, package());
}

int store_schema_refuse_newer(int64_t version, const char *before, const char *path,
                              const char *after, char *error, size_t size) {
    char clause[STORE_SCHEMA_CLAUSE];
    store_schema_newer(version, clause, sizeof(clause));
    snprintf(error, size, "%s%s %s%s", before, path, clause, after);
    return STORE_NEWER;
}

static int apply_step(sqlite3 *db, const struct store_schema_step *steps, int from) {
    int64_t version = 0;
    int rc = store_sql_int(db, "PRAGMA user_version", &version);
    if (rc != SQLITE_OK || version > from) {
        return rc; // another process was faster
    }
    rc = steps[from].apply(db);
    if (rc == SQLITE_OK) {
        char pragma[64];
        snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", from + 1);
        rc = store_sql_exec(db, pragma);
    }
    return rc;
}

int store_schema_upgrade(sqlite3 *db, const struct store_schema_step *steps, int count) {
    int64_t version = 0;
    int rc = store_sql_int(db, "PRAGMA user_version", &version);
    for (int from = (int)version; rc == SQLITE_OK && from < count; from++) {
        rc = store_sql_exec(db, "BEGIN IMMEDIATE");
        if (rc != SQLITE_OK) {
            return rc;
        }
        rc = apply_step(db, steps, from);
        if ((rc & 0xff) == SQLITE_ERROR) {
            rc = SQLITE_CORRUPT; // what it makes is there already, or what it changes is missing
        }
        rc = store_sql_commit(db, rc);
    }
    return rc;
}

int store_schema_cupti(sqlite3 *db, bool wanted) {
    int64_t there = 0;
    int rc = store_sql_int(db,
                           "SELECT count(*) FROM sqlite_master WHERE name IN "
                           "('CUPTI_ACTIVITY_KIND_KERNEL', 'CUPTI_ACTIVITY_KIND_RUNTIME')",
                           &there);
    if (rc != SQLITE_OK || (there == 2) == wanted) {
        return rc;
    }
    rc = store_sql_exec(db, "BEGIN IMMEDIATE");
    if (rc != SQLITE_OK) {
        return rc;
    }
    rc = store_sql_exec(db, "DROP VIEW IF EXISTS CUPTI_ACTIVITY_KIND_KERNEL;"
                            "DROP VIEW IF EXISTS CUPTI_ACTIVITY_KIND_RUNTIME;");
    if (rc == SQLITE_OK && wanted) {
        rc = store_sql_exec(db, cupti_views);
    }
    return store_sql_commit(db, rc);
}
