// SPDX-License-Identifier: Apache-2.0
//
// The DDL. The tables of the export's schema come first, with its names, order and NOT NULL; they
// are plain rowid tables without indexes, as their readers expect. Ours begin with NVTXT_ and have
// the indexes that keep every look-up of the daemon away from scans.
#include "store/db/schema.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdint.h>
#include <stdio.h>

#include "store/db/sql.h"
#include "store/db/views.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

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

// NVTXT_NAME_ROWS says where a name stands, so that a rename finds its row: kinds 3, 33, 39 and 75
// are rows of NVTX_EVENTS, 1 rows of PROCESSES (key: pid), 2 ids of StringIds and ThreadNames
// (key: globalTid); see name_rows.h.
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

static int create_all(sqlite3 *db) {
    static const char *const parts[] = {store_schema_events_sql, export_tables, export_rows,
                                        own_tables, store_views_sql};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        int rc = sqlite3_exec(db, parts[i], NULL, NULL, NULL);
        if (rc != SQLITE_OK) {
            return rc;
        }
    }
    char pragma[64];
    snprintf(pragma, sizeof(pragma), "PRAGMA application_id = %d", STORE_APPLICATION_ID);
    return sqlite3_exec(db, pragma, NULL, NULL, NULL);
}

// Version 2: a store is a row of segments. NVTXT_SEGMENT has one row in each of them, none in a
// plain file: what comes before this one, so that ids go on. priorEvents are the events of a source
// that stand in earlier segments.
static int add_segments(sqlite3 *db) {
    return sqlite3_exec(db,
                        "ALTER TABLE NVTXT_SOURCES ADD COLUMN priorEvents INTEGER;"
                        "CREATE TABLE NVTXT_SEGMENT (number INTEGER PRIMARY KEY, name TEXT, "
                        "previous TEXT, startedNs INTEGER, rangeBase INTEGER, sourceBase INTEGER, "
                        "domainBase INTEGER, lossesBefore INTEGER, allEnded INTEGER);"
                        "UPDATE META_DATA_EXPORT SET value = '2' WHERE name = 'SCHEMA_VERSION'",
                        NULL, NULL, NULL);
}

// Version 3: followed files.
static int add_files(sqlite3 *db) {
    return sqlite3_exec(db,
                        "CREATE TABLE NVTXT_FILES (sourceId INTEGER PRIMARY KEY, path TEXT, "
                        "device INTEGER, inode INTEGER, offset INTEGER, headBytes INTEGER, "
                        "headHash INTEGER, tailBytes INTEGER, tailHash INTEGER, "
                        "changedNs INTEGER, state TEXT);"
                        "UPDATE META_DATA_EXPORT SET value = '3' WHERE name = 'SCHEMA_VERSION'",
                        NULL, NULL, NULL);
}

// Version 4: names have owners, and those of categories are their process's (kind 3 of
// NVTXT_NAME_ROWS; key: pid * 2^32 + category); logs have levels; sessions say what they keep open,
// segments what they took over.
// The names of categories that stand for all processes stay as they are, beside the one of the
// process at whose event they stand.
static int add_owners(sqlite3 *db) {
    int rc = sqlite3_exec(
        db,
        "ALTER TABLE NVTXT_SOURCES ADD COLUMN levels INTEGER;"
        "ALTER TABLE NVTXT_SESSIONS ADD COLUMN openBytes INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE NVTXT_SEGMENT ADD COLUMN carriedBytes INTEGER NOT NULL DEFAULT 0;"
        "CREATE TABLE NVTXT_OWNERS (pid INTEGER PRIMARY KEY, uid INTEGER NOT NULL, "
        "sinceNs INTEGER);"
        "INSERT OR IGNORE INTO NVTXT_NAME_ROWS (kind, domainId, key, row) SELECT 3, r.domainId, "
        "e.globalTid / 0x1000000 * 0x100000000 + r.key, r.row FROM NVTXT_NAME_ROWS r "
        "JOIN NVTX_EVENTS e ON e.rowid = r.row WHERE r.kind = 33;"
        "UPDATE ENUM_NSYS_EVENT_TYPE SET label = name;"
        "INSERT INTO META_DATA_EXPORT (name, value) VALUES ('EXPORT_PRODUCT_NAME', 'nvtxtd'), "
        "('EXPORT_PRODUCT_VERSION', '" PACKAGE_VERSION "'), ('EXPORT_SCHEMA_VERSION', '4');"
        "UPDATE META_DATA_EXPORT SET value = '4' WHERE name = 'SCHEMA_VERSION'",
        NULL, NULL, NULL);
    return rc ?: sqlite3_exec(db, store_views_sql, NULL, NULL, NULL);
}

const struct store_schema_step store_schema_steps[STORE_SCHEMA_VERSION] = {
    {create_all},
    {add_segments},
    {add_files},
    {add_owners},
};

int store_schema_inspect(sqlite3 *db, enum store_schema_state *state, int *version) {
    int64_t application = 0;
    int64_t user_version = 0;
    int64_t things = 0;
    int rc = store_sql_int(db, "PRAGMA application_id", &application);
    if (rc == SQLITE_OK) {
        rc = store_sql_int(db, "PRAGMA user_version", &user_version);
    }
    if (rc == SQLITE_OK) {
        rc = store_sql_int(db, "SELECT count(*) FROM sqlite_master", &things);
    }
    bool empty = things == 0 && application == 0 && user_version == 0;
    *state =
        application == STORE_APPLICATION_ID || empty ? STORE_SCHEMA_OURS : STORE_SCHEMA_FOREIGN;
    *version = (int)user_version;
    return rc;
}

static int apply_step(sqlite3 *db, const struct store_schema_step *steps, int from) {
    int64_t version = 0;
    int rc = store_sql_int(db, "PRAGMA user_version", &version);
    if (rc != SQLITE_OK || version > from) {
        return rc; // somebody else was faster
    }
    rc = steps[from].apply(db);
    if (rc == SQLITE_OK) {
        char pragma[64];
        snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", from + 1);
        rc = sqlite3_exec(db, pragma, NULL, NULL, NULL);
    }
    return rc;
}

int store_schema_upgrade(sqlite3 *db, const struct store_schema_step *steps, int count) {
    int64_t version = 0;
    int rc = store_sql_int(db, "PRAGMA user_version", &version);
    for (int from = (int)version; rc == SQLITE_OK && from < count; from++) {
        rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
        if (rc != SQLITE_OK) {
            return rc;
        }
        rc = apply_step(db, steps, from);
        if ((rc & 0xff) == SQLITE_ERROR) {
            rc = SQLITE_CORRUPT; // what the step makes is there, or what it changes is not
        }
        if (rc == SQLITE_OK) {
            rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
        }
        if (rc != SQLITE_OK && !sqlite3_get_autocommit(db)) {
            sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
        }
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
    rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(db,
                          "DROP VIEW IF EXISTS CUPTI_ACTIVITY_KIND_KERNEL;"
                          "DROP VIEW IF EXISTS CUPTI_ACTIVITY_KIND_RUNTIME;",
                          NULL, NULL, NULL);
    }
    if (rc == SQLITE_OK && wanted) {
        rc = sqlite3_exec(db, store_cupti_sql, NULL, NULL, NULL);
    }
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    }
    if (rc != SQLITE_OK && !sqlite3_get_autocommit(db)) {
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
    return rc;
}
