// SPDX-License-Identifier: Apache-2.0
//
// SQLite's online backup inside one read transaction of the input: other processes may go on
// writing it, and the copy shows one moment.
#include "store/copy/copy.h"

#include <stdio.h>
#include <string.h>

#include "store/db/connection.h"
#include "store/db/header.h"
#include "store/db/schema.h"
#include "store/db/sql.h"
#include "store/nsys/nsys_facts.h"
#include "store/segment/contents.h"
#include "store/value/codes.h"

// ---- Sentences --------------------------------------------------------------------------------

static int refuse(char *error, size_t size, const char *path, int r) {
    const char *why;
    switch (r) {
    case STORE_FOREIGN:
        why = "is another application's database: name a store, or an SQLite export of Nsight "
              "Systems";
        break;
    case STORE_CORRUPT:
        why = "is not an SQLite database, or a broken one: name a copy that is whole, or export "
              "the report again with 'nsys export --type sqlite'";
        break;
    case STORE_EMPTY:
        why = "is empty: name a store, or an SQLite export of Nsight Systems";
        break;
    case STORE_BUSY:
        why = "is locked by another process: try again when that one is done";
        break;
    default: // it has its sentence
        return r;
    }
    snprintf(error, size, "%s %s", path, why);
    return r;
}

// For a kind of file that store_file_look() does not read.
static int refuse_kind(char *error, size_t size, const char *path, enum store_file_kind kind) {
    int r = store_file_errno(kind);
    switch (kind) {
    case STORE_FILE_MISSING:
        snprintf(error, size,
                 "%s does not exist: name a store, or an SQLite export of Nsight Systems", path);
        break;
    case STORE_FILE_DANGLING:
        snprintf(error, size, "%s is a link to nowhere: name the file itself", path);
        break;
    case STORE_FILE_FOLDER:
        snprintf(error, size, "%s is a folder: name a file in it", path);
        break;
    case STORE_FILE_DEVICE:
        snprintf(error, size, "%s is not a regular file: copy it to one first", path);
        break;
    default:
        snprintf(error, size, "cannot read %s: %s", path, strerror(-r));
    }
    return r;
}

static int say(sqlite3 *db, int rc, const char *what, const char *path, char *error, size_t size) {
    int r = store_result_say(db, rc, what, path, error, size);
    if ((rc & 0xff) == SQLITE_READONLY) { // a journal would have to be rolled back
        snprintf(
            error, size,
            "%s was left in the middle of a write: open it once with sqlite3, which repairs it",
            path);
    }
    return refuse(error, size, path, r);
}

// ---- Opening ----------------------------------------------------------------------------------

static int open_for_reading(sqlite3 **db, const char *path) {
    int rc = store_connection_read(db, path);
    if (rc == SQLITE_OK) {
        sqlite3_extended_result_codes(*db, 1);
        sqlite3_busy_timeout(*db, STORE_BUSY_MS);
        sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        rc = store_sql_exec(*db, "BEGIN; SELECT count(*) FROM sqlite_master");
    }
    return rc;
}

static int inspect(sqlite3 *db, enum store_copy_kind *kind, bool *odd, int *version, int *result) {
    enum store_schema_state state;
    bool is_export = false;
    bool sound = true;
    int rc = store_schema_inspect(db, &state, version);
    rc = rc ?: store_stranger_is_odd(db, odd);
    if (rc == SQLITE_OK && state == STORE_SCHEMA_FOREIGN) {
        rc = store_export_recognize(db, &is_export);
    }
    *kind = is_export ? STORE_COPY_EXPORT : STORE_COPY_STORE;
    *result = rc != SQLITE_OK || is_export      ? STORE_DONE
              : state == STORE_SCHEMA_FOREIGN   ? STORE_FOREIGN
              : *version > STORE_SCHEMA_VERSION ? STORE_NEWER
              : *version < 1                    ? STORE_EMPTY
                                                : STORE_DONE;
    if (rc == SQLITE_OK && *result == STORE_DONE && !is_export && !*odd) {
        rc = store_contents_sound(db, &sound);
        *result = sound ? STORE_DONE : STORE_CORRUPT;
    }
    return rc;
}

// Opens `path`, begins a read transaction that lasts until it is closed, and finds out what it is.
// `*db` is NULL after a failure.
static int open_input(sqlite3 **db, const char *path, enum store_copy_kind *kind, char *error,
                      size_t size) {
    enum store_file_kind file;
    bool odd = false;
    int version = 0;
    *db = NULL;
    int r = store_file_look(path, STORE_SCHEMA_VERSION, &file, &version);
    if (r < 0) {
        snprintf(error, size, "cannot read %s: %s", path, strerror(-r));
        return r;
    }
    if (store_file_errno(file) < 0) {
        return refuse_kind(error, size, path, file);
    }
    if (file == STORE_FILE_NEWER) {
        return store_schema_refuse_newer(version, "", path, "", error, size);
    }
    int result = file == STORE_FILE_NONE  ? STORE_CORRUPT
                 : file == STORE_FILE_NEW ? STORE_EMPTY
                                          : STORE_DONE;
    if (result != STORE_DONE) {
        return refuse(error, size, path, result);
    }
    int rc = open_for_reading(db, path);
    rc = rc ?: inspect(*db, kind, &odd, &version, &result);
    result = rc == SQLITE_OK ? result == STORE_NEWER
                                   ? store_schema_refuse_newer(version, "", path, "", error, size)
                                   : refuse(error, size, path, result)
                             : say(*db, rc, "read", path, error, size);
    if (result == STORE_DONE && odd) {
        snprintf(error, size,
                 "%s: NVTX_EVENTS is no table of rows but a view or the like: name a store, or an "
                 "SQLite export of Nsight Systems",
                 path);
        result = STORE_FOREIGN;
    }
    if (result != STORE_DONE) {
        sqlite3_close(*db);
        *db = NULL;
    }
    return result;
}

// Its triggers would change what is merged, or not run; nobody knows what its owner wants.
static int refuse_triggers(sqlite3 *db, const char *path, char *error, size_t size) {
    char name[128];
    int rc = store_stranger_trigger(db, name, sizeof(name));
    if (rc != SQLITE_OK || !*name) {
        return say(db, rc, "read", path, error, size);
    }
    snprintf(error, size,
             "%s has a trigger, '%s', that would change what is merged: drop it in a copy of the "
             "store, and merge into that",
             path, name);
    return STORE_FOREIGN;
}

// ---- Copying ----------------------------------------------------------------------------------

static int open_copy(sqlite3 **db, const char *path) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int rc = sqlite3_open_v2(path, db, flags, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_extended_result_codes(*db, 1);
        rc = store_sql_exec(*db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF");
    }
    return rc;
}

// SQLite reports every failure of a backup at the copy.
static bool is_of_input(int rc) {
    return (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB ||
           (rc & 0xff) == SQLITE_BUSY || rc == SQLITE_IOERR_READ || rc == SQLITE_IOERR_SHORT_READ;
}

int store_copy(const char *from, const char *to, uint32_t mode,
               const struct store_copy_watch *watch, enum store_copy_kind *kind, char *error,
               size_t size) {
    sqlite3 *source;
    sqlite3 *copy = NULL;
    bool stopped = false;
    int r = open_input(&source, from, kind, error, size);
    if (r != STORE_DONE) {
        return r;
    }
    r = *kind == STORE_COPY_STORE ? refuse_triggers(source, from, error, size) : STORE_DONE;
    if (r != STORE_DONE) {
        sqlite3_close(source);
        return r;
    }
    r = store_file_make(to, mode);
    if (r < 0) {
        snprintf(error, size, "cannot create %s: %s", to, strerror(-r));
    } else {
        int rc = open_copy(&copy, to);
        rc = rc ?: store_backup_run(source, copy, watch, &stopped);
        r = is_of_input(rc) ? say(copy, rc, "read", from, error, size)
                            : store_result_say(copy, rc, "write", to, error, size);
        sqlite3_close(copy);
    }
    sqlite3_close(source);
    return r == STORE_DONE && stopped ? STORE_STOPPED : r;
}

int store_copy_export_span(const char *path, int64_t *first_ns, int64_t *last_ns, char *error,
                           size_t size) {
    enum store_copy_kind kind;
    struct store_export_facts facts;
    sqlite3 *db;
    bool any;
    int r = open_input(&db, path, &kind, error, size);
    if (r != STORE_DONE) {
        return r;
    }
    if (kind != STORE_COPY_EXPORT) {
        sqlite3_close(db);
        return refuse(error, size, path, STORE_FOREIGN);
    }
    int rc = store_export_facts_read(db, &facts);
    *first_ns = facts.first_ns;
    *last_ns = facts.last_ns;
    if (rc == SQLITE_OK && !facts.has_window) {
        rc = store_export_extent(db, &any, first_ns, last_ns);
    }
    r = rc == SQLITE_OK ? STORE_DONE : say(db, rc, "read", path, error, size);
    sqlite3_close(db);
    return r;
}
