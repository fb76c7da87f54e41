// SPDX-License-Identifier: Apache-2.0
//
// Ids are copied from a segment in the order of the index's key, so that each of its pages is
// written once. What cannot be repaired is deleted: a failure that means damage removes the files,
// and the next call makes a new index from the segments.
#include "store/segment/ended_index.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/db/connection.h"
#include "store/db/header.h"
#include "store/db/sql.h"

#define FORMAT 2 // user_version; 1 had no users
#define TEXT_(number) #number
#define TEXT(number) TEXT_(number)

static const char schema[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS segments (number INTEGER PRIMARY KEY, name TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS ended (id TEXT NOT NULL, uid INTEGER NOT NULL, "
    "number INTEGER NOT NULL, PRIMARY KEY (id, uid)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS endedOfSegment ON ended (number);"
    "PRAGMA user_version = " TEXT(FORMAT) ";"
                                          "COMMIT";

// In the order of the index's key. A source that a rotation ended goes on elsewhere.
static const char read_ended[] = "SELECT sessionId, ifnull(peerUid, -1) FROM NVTXT_SOURCES WHERE "
                                 "sessionId IS NOT NULL AND closedNs IS NOT NULL AND ended IS NOT "
                                 "'rotated' ORDER BY sessionId";

static int name_of(const char *path, char *name) {
    return store_file_name(name, path, STORE_ENDED_SUFFIX) < 0 ? SQLITE_CANTOPEN : SQLITE_OK;
}

const char *store_ended_index_name(const struct store_segment *segment) {
    return nvtxt_base_name(segment->path);
}

static bool is_damaged(int rc) {
    int primary = rc & 0xFF;
    return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_FORMAT ||
           primary == SQLITE_SCHEMA || primary == SQLITE_ERROR;
}

static void remove_index(const char *path) {
    char index[PATH_MAX], name[PATH_MAX];
    for (size_t i = 0; i < STORE_FILE_ENDINGS; i++) {
        if (store_file_name(index, path, STORE_ENDED_SUFFIX) == 0 &&
            store_file_name(name, index, store_file_endings[i]) == 0) {
            unlink(name);
        }
    }
}

int store_ended_index_open(sqlite3 **db, const char *path) {
    char name[PATH_MAX];
    int64_t format = 0;
    *db = NULL;
    int rc = name_of(path, name);
    rc = rc ?: sqlite3_open_v2(name, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(*db, STORE_BUSY_MS);
        rc = store_sql_int(*db, "PRAGMA user_version", &format);
    }
    rc = rc != SQLITE_OK || format == FORMAT ? rc : SQLITE_NOTADB;
    if (rc != SQLITE_OK) {
        sqlite3_close(*db);
        *db = NULL;
    }
    return rc;
}

// ---- Following the segments ---------------------------------------------------------------------

// Only the daemon may read it: who knows the id of a session can resume it.
static int make(sqlite3 **db, const char *path) {
    char name[PATH_MAX];
    int rc = name_of(path, name);
    int fd = rc == SQLITE_OK ? open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (fd < 0) {
        return SQLITE_CANTOPEN;
    }
    close(fd);
    rc = sqlite3_open_v2(name, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    rc = rc ?: sqlite3_busy_timeout(*db, STORE_BUSY_MS);
    rc = rc ?: store_sql_exec(*db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    return rc ?: store_sql_exec(*db, schema);
}

static int check_all(sqlite3 *db) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &stmt, NULL);
    rc = rc ?: sqlite3_step(stmt);
    const char *said = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    bool sound = said && strcmp(said, "ok") == 0;
    sqlite3_finalize(stmt);
    return sound ? SQLITE_OK : SQLITE_CORRUPT;
}

static int open_or_make(sqlite3 **db, const char *path, bool check) {
    int rc = store_ended_index_open(db, path);
    rc = rc == SQLITE_OK && check ? check_all(*db) : rc;
    if (rc == SQLITE_OK) {
        return store_sql_exec(*db, "PRAGMA synchronous = NORMAL");
    }
    sqlite3_close(*db);
    *db = NULL;
    if (is_damaged(rc)) {
        remove_index(path);
    }
    return make(db, path);
}

static int run_sql(sqlite3 *db, const char *sql, int64_t number, const char *name) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    rc = rc ?: name ? store_sql_bind(stmt, "it", number, name) : store_sql_bind(stmt, "i", number);
    rc = rc ?: store_sql_run(stmt);
    sqlite3_finalize(stmt);
    return rc;
}

static int forget(sqlite3 *db, int64_t number) {
    int rc = store_sql_exec(db, "BEGIN IMMEDIATE");
    rc = rc ?: run_sql(db, "DELETE FROM ended WHERE number = ?", number, NULL);
    rc = rc ?: run_sql(db, "DELETE FROM segments WHERE number = ?", number, NULL);
    return store_sql_commit(db, rc);
}

// `*readable`: whether a failure comes from the index, not from the segment.
static int copy_ids(sqlite3 *db, sqlite3 *segment, int64_t number, bool *readable) {
    sqlite3_stmt *from = NULL, *to = NULL;
    int rc = sqlite3_prepare_v2(
        db, "INSERT OR IGNORE INTO ended (number, id, uid) VALUES (?, ?, ?)", -1, &to, NULL);
    int read = sqlite3_prepare_v2(segment, read_ended, -1, &from, NULL);
    while (rc == SQLITE_OK && store_sql_next(from, &read)) {
        const char *id = (const char *)sqlite3_column_text(from, 0);
        rc = store_sql_bind(to, "iti", number, id ?: "", sqlite3_column_int64(from, 1));
        rc = rc ?: store_sql_run(to);
    }
    *readable = read == SQLITE_OK || rc != SQLITE_OK;
    sqlite3_finalize(from);
    sqlite3_finalize(to);
    return rc ?: read;
}

// One that others have locked is read from a copy, which is named like an unfinished segment: the
// next start removes it.
static int open_left(sqlite3 **db, const char *path) {
    char copy[PATH_MAX];
    int rc = store_connection_read_left(db, path);
    if (rc == SQLITE_BUSY && store_file_name(copy, path, STORE_SEGMENT_UNFINISHED) == 0) {
        sqlite3_close(*db);
        *db = NULL;
        rc = store_connection_read_locked(db, path, copy);
    }
    return rc;
}

// Adds all of a segment or nothing. A segment that cannot be read is no failure.
static int add_segment(sqlite3 *db, const struct store_segment *segment) {
    sqlite3 *from = NULL;
    bool readable = false;
    int64_t number = (int64_t)segment->number;
    int rc = open_left(&from, segment->path);
    if (rc == SQLITE_OK) {
        rc = store_sql_exec(db, "BEGIN IMMEDIATE");
        readable = rc != SQLITE_OK;
        rc = rc ?: copy_ids(db, from, number, &readable);
        if (rc == 0) {
            rc = run_sql(db, "INSERT INTO segments (number, name) VALUES (?, ?)", number,
                         store_ended_index_name(segment));
        }
        rc = store_sql_commit(db, rc);
    }
    sqlite3_close(from);
    return readable ? rc : SQLITE_OK;
}

static bool is_listed(const struct store_segments *list, int64_t number, const char *name) {
    for (size_t i = 0; i < list->count; i++) {
        if ((int64_t)list->rows[i].number == number) {
            return strcmp(store_ended_index_name(&list->rows[i]), name) == 0;
        }
    }
    return false;
}

// A segment that is in the index but not in the list; 0 when there is none.
static int find_gone(sqlite3 *db, const struct store_segments *left, int64_t *gone) {
    sqlite3_stmt *stmt = NULL;
    *gone = 0;
    int rc = sqlite3_prepare_v2(db, "SELECT number, name FROM segments", -1, &stmt, NULL);
    while (*gone == 0 && store_sql_next(stmt, &rc)) {
        const char *name = (const char *)sqlite3_column_text(stmt, 1);
        int64_t number = sqlite3_column_int64(stmt, 0);
        *gone = is_listed(left, number, name ?: "") ? 0 : number;
    }
    sqlite3_finalize(stmt);
    return rc;
}

static int follow(sqlite3 *db, const struct store_segments *left) {
    int64_t gone = 0;
    int rc = find_gone(db, left, &gone);
    while (rc == SQLITE_OK && gone != 0) {
        rc = forget(db, gone);
        rc = rc ?: find_gone(db, left, &gone);
    }
    sqlite3_stmt *known = NULL;
    rc = rc ?: sqlite3_prepare_v2(db, "SELECT 1 FROM segments WHERE number = ?", -1, &known, NULL);
    for (size_t i = 0; i < left->count && rc == SQLITE_OK; i++) {
        rc = store_sql_bind(known, "i", (int64_t)left->rows[i].number);
        bool is_known = store_sql_next(known, &rc);
        sqlite3_reset(known);
        rc = rc != SQLITE_OK || is_known ? rc : add_segment(db, &left->rows[i]);
    }
    sqlite3_finalize(known);
    return rc;
}

int store_ended_index_follow(const char *path, const struct store_segments *left, bool check) {
    sqlite3 *db = NULL;
    int rc = open_or_make(&db, path, check);
    rc = rc ?: follow(db, left);
    sqlite3_close(db);
    if (is_damaged(rc)) {
        remove_index(path); // the next call makes a new one
    }
    return rc;
}
