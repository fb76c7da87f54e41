// SPDX-License-Identifier: Apache-2.0
//
// The order matters. First the header of the file is read, before SQLite opens it. Then SQLite says
// what it is, before anything is written; until then closing it must not move the WAL. The schema
// is made before WAL is switched on, so that the main file's header says from the start whose it
// is.
#include "store/db/connection.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/db/header.h"
#include "store/db/schema.h"
#include "store/db/sql.h"
#include "store/lock/locks.h"
#include "store/lock/writelock.h"

#define JOURNAL_LIMIT "67108864" // SQLite cuts a larger WAL to it after a checkpoint
#define CACHE_KIB "4096"
#define OPENING "open the store"
#define READ_VERSION_AT 19 // of the file's header; 2: WAL
#define URI_SIZE (3 * PATH_MAX + 32)

// ---- Reading ----------------------------------------------------------------------------------

static bool is_wal(const char *path) {
    unsigned char version = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : pread(fd, &version, 1, READ_VERSION_AT);
    if (fd >= 0) {
        close(fd);
    }
    return got == 1 && version == 2;
}

// True for a database in WAL mode that nobody has open. One in rollback mode has no files beside it
// either, but there locks matter.
static bool is_idle_wal(const char *path) {
    int64_t wal = store_file_size(path, "-wal");
    bool in_use = wal > 0 || (wal == 0 && store_file_size(path, "-shm") >= 0);
    return !in_use && is_wal(path);
}

// True where only the log was left: SQLite would make a -shm.
static bool has_left_log(const char *path) {
    return store_file_size(path, "-wal") > 0 && store_file_size(path, "-shm") < 0 && is_wal(path);
}

static void make_uri(char *uri, size_t size, const char *path) {
    size_t at = (size_t)snprintf(uri, size, "file:");
    for (; *path && at + 20 < size; path++) {
        if (strchr("%?#", *path)) {
            at += (size_t)snprintf(uri + at, size - at, "%%%02X", (unsigned)*path);
        } else {
            uri[at++] = *path;
        }
    }
    snprintf(uri + at, size - at, "?immutable=1");
}

static int open_left_log(sqlite3 **db, const char *path, int flags) {
    const char *vfs = store_privatelog_vfs();
    int rc = vfs ? sqlite3_open_v2(path, db, flags, vfs) : SQLITE_NOMEM;
    return rc ?: store_sql_exec(*db, "PRAGMA locking_mode = EXCLUSIVE");
}

int store_connection_read(sqlite3 **db, const char *path) {
    char real[PATH_MAX];
    char uri[URI_SIZE];
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    bool is_known = realpath(path, real) != NULL;
    bool idle = is_known && is_idle_wal(real);
    if (idle) {
        make_uri(uri, sizeof(uri), real);
    }
    int rc =
        !idle && is_known && has_left_log(real)
            ? open_left_log(db, real, flags)
            : sqlite3_open_v2(idle ? uri : path, db, flags | (idle ? SQLITE_OPEN_URI : 0), NULL);
    return rc ?: store_stranger_guard(*db);
}

static bool is_private(sqlite3 *db) {
    sqlite3_vfs *vfs = NULL;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
    return !vfs || vfs != sqlite3_vfs_find(NULL);
}

int store_connection_read_again(sqlite3 **db, sqlite3 *first) {
    const char *path = sqlite3_db_filename(first, "main");
    char uri[URI_SIZE];
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int moved = 1;
    *db = NULL;
    if (!path || is_private(first)) {
        return SQLITE_CANTOPEN;
    }
    bool idle = sqlite3_uri_boolean(path, "immutable", 0);
    if (idle) {
        make_uri(uri, sizeof(uri), path);
    }
    int rc = sqlite3_open_v2(idle ? uri : path, db, flags | (idle ? SQLITE_OPEN_URI : 0), NULL);
    rc = rc ?: sqlite3_file_control(first, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return rc ?: moved ? SQLITE_CANTOPEN : store_stranger_guard(*db);
}

// SQLite would try for ten seconds.
static bool is_locked(const char *path) {
    struct store_locks locks;
    store_locks_find(path, &locks);
    return locks.blocks && locks.recovery;
}

int store_connection_read_left(sqlite3 **db, const char *path) {
    char uri[URI_SIZE];
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    bool whole = store_file_size(path, "-wal") <= 0;
    if (whole) {
        make_uri(uri, sizeof(uri), path);
    } else if (is_locked(path)) {
        return SQLITE_BUSY;
    }
    int rc = sqlite3_open_v2(whole ? uri : path, db, flags | (whole ? SQLITE_OPEN_URI : 0), NULL);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(*db, STORE_BUSY_MS); // the keeper may be completing it
        sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
    return rc;
}

static void remove_copy(const char *copy) {
    char name[PATH_MAX];
    for (size_t i = 0; i < STORE_FILE_ENDINGS; i++) {
        if (store_file_name(name, copy, store_file_endings[i]) == 0) {
            unlink(name);
        }
    }
}

int store_connection_read_locked(sqlite3 **db, const char *path, const char *copy) {
    remove_copy(copy);
    int r = store_beside_copy(path, copy);
    int rc = r < 0 ? SQLITE_CANTOPEN : store_connection_read(db, copy);
    rc = rc ?: store_sql_exec(*db, "SELECT 1 FROM sqlite_master"); // opens its files
    remove_copy(copy);
    return rc;
}

// ---- Opening ----------------------------------------------------------------------------------

static int configure(sqlite3 *db, const struct store_options *options) {
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, STORE_BUSY_MS);
    // An import throws its store away when it fails, and syncs it when it is complete.
    int rc = store_sql_exec(db, options->plain                ? "PRAGMA synchronous = OFF"
                                : options->synchronous_normal ? "PRAGMA synchronous = NORMAL"
                                                              : "PRAGMA synchronous = FULL");
    if (rc != 0) {
        return rc;
    }
    return store_sql_exec(db, "PRAGMA cache_size = -" CACHE_KIB "; PRAGMA temp_store = MEMORY;"
                              "PRAGMA secure_delete = OFF");
}

static int set_journal(sqlite3 *db, const struct store_options *options) {
    int on = 1;
    if (options->plain) {
        return store_sql_exec(db, "PRAGMA journal_mode = DELETE");
    }
    sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
    return store_sql_exec(db, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
                              "PRAGMA journal_size_limit = " JOURNAL_LIMIT);
}

static int set_up(sqlite3 *db, const struct store_options *options) {
    if (options->read_only) {
        return SQLITE_OK;
    }
    int rc = store_schema_upgrade(db, store_schema_steps, STORE_SCHEMA_VERSION);
    rc = rc ?: store_schema_cupti(db, !options->no_cupti_views);
    rc = rc ?: set_journal(db, options);
    // A first read: with it -wal and -shm exist, and checkpoints do something.
    return rc ?: store_sql_exec(db, "SELECT 1 FROM sqlite_master");
}

static int refuse(char *error, size_t size, const char *path, int r) {
    const char *why = "";
    switch (r) {
    case STORE_FOREIGN:
        why = "is another application's database, it was left alone: name another store";
        break;
    case STORE_CORRUPT:
        why = "is not a database, or a broken one";
        break;
    case STORE_BUSY:
        why = "is locked by another process: try again when that one is done";
        break;
    case STORE_REFUSED:
        why = "has its texts in UTF-16 and can only be read: name another store";
        break;
    case STORE_EMPTY:
        why = "is empty: no store was made in it yet";
        break;
    default: // it has its sentence
        return r;
    }
    snprintf(error, size, "the store %s %s", path, why);
    return r;
}

static int refuse_newer(char *error, size_t size, const char *path, int64_t version) {
    return store_schema_refuse_newer(version, "the store ", path, ", or name another store", error,
                                     size);
}

// For a kind of file that store_file_look() does not read.
static int refuse_kind(char *error, size_t size, const char *path, enum store_file_kind kind) {
    int r = store_file_errno(kind);
    const char *why = kind == STORE_FILE_MISSING    ? "does not exist"
                      : kind == STORE_FILE_DANGLING ? "is a link to nowhere: remove the link, or "
                                                      "name another store"
                      : kind == STORE_FILE_FOLDER   ? "is a folder: name a file in it"
                      : kind == STORE_FILE_DEVICE   ? "is not a regular file: name another store"
                                                    : NULL;
    if (why) {
        snprintf(error, size, "the store %s %s", path, why);
        return r;
    }
    return r < 0 ? store_result_say_errno(r, "open", path, error, size) : STORE_DONE;
}

// Looks at the file before SQLite opens it, and makes a new one. STORE_DONE: SQLite may open it.
static int look_first(const char *path, const struct store_options *options, char *error,
                      size_t size) {
    enum store_file_kind kind;
    const char *called = options->name ?: path;
    int version = 0;
    int r = store_file_look(path, STORE_SCHEMA_VERSION, &kind, &version);
    if (r == 0 && kind == STORE_FILE_MISSING && !options->read_only) {
        r = store_file_make(path, options->file_mode ?: 0640);
        r = r ?: store_file_look(path, STORE_SCHEMA_VERSION, &kind, &version);
    }
    if (r < 0) {
        return store_result_say_errno(r, "open", called, error, size);
    }
    switch (kind) {
    case STORE_FILE_NEW:
        return refuse(error, size, called, options->read_only ? STORE_EMPTY : STORE_DONE);
    case STORE_FILE_STORE:
        return refuse(error, size, called,
                      !options->read_only && store_file_is_cut(path) ? STORE_CORRUPT : STORE_DONE);
    case STORE_FILE_UNSURE:
        return STORE_DONE;
    case STORE_FILE_NEWER:
        return refuse_newer(error, size, called, version);
    case STORE_FILE_FOREIGN:
        return refuse(error, size, called, STORE_FOREIGN);
    case STORE_FILE_NONE:
        return refuse(error, size, called, STORE_CORRUPT);
    case STORE_FILE_MISSING:
    case STORE_FILE_DANGLING:
    case STORE_FILE_FOLDER:
    case STORE_FILE_DEVICE:
    case STORE_FILE_DENIED:
        break;
    }
    return refuse_kind(error, size, called, kind);
}

// What SQLite itself says about the file. `*result` is STORE_DONE when it is ours, or a new one,
// and has the encoding of batches (store/write/event_pages.h) if it is written.
static int inspect(sqlite3 *db, bool read_only, int *version, int *result) {
    enum store_schema_state state;
    int64_t utf8 = 0;
    int rc = store_schema_inspect(db, &state, version);
    if (rc == SQLITE_OK) {
        *result = state == STORE_SCHEMA_FOREIGN     ? STORE_FOREIGN
                  : *version > STORE_SCHEMA_VERSION ? STORE_NEWER
                                                    : STORE_DONE;
    }
    if (rc == SQLITE_OK && *result == STORE_DONE && !read_only) {
        rc = store_sql_int(db, "SELECT encoding = 'UTF-8' FROM pragma_encoding", &utf8);
        *result = utf8 ? STORE_DONE : STORE_REFUSED;
    }
    return rc;
}

// The name of the database of batches is a URI (store/write/event_pages.h), that of a file is none.
static int open_to_write(sqlite3 **db, const char *path, const char *vfs) {
    char name[PATH_MAX + 2];
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_URI;
    snprintf(name, sizeof(name), "%s%s", strncmp(path, "file:", 5) == 0 ? "./" : "", path);
    return sqlite3_open_v2(name, db, flags, vfs);
}

int store_connection_open(sqlite3 **db, const char *path, const struct store_options *options,
                          char *error, size_t size) {
    const char *called = options->name ?: path;
    int version = 0;
    int r = look_first(path, options, error, size);
    if (r != STORE_DONE) {
        return r;
    }
    const char *vfs = options->keeps_lock ? store_writelock_vfs() : NULL;
    int rc = options->read_only            ? store_connection_read(db, path)
             : options->keeps_lock && !vfs ? SQLITE_NOMEM
                                           : open_to_write(db, path, vfs);
    if (rc == SQLITE_OK) {
        sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        rc = options->plain ? store_stranger_guard(*db) : SQLITE_OK;
        rc = rc ?: configure(*db, options);
        rc = rc ?: inspect(*db, options->read_only, &version, &r);
    }
    if (rc == SQLITE_OK && r == STORE_DONE) {
        sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, options->keeps_lock, NULL);
        rc = set_up(*db, options);
        if (rc == 0) {
            rc = options->keeps_lock ? store_writelock_take(*db, STORE_SCHEMA_VERSION) : SQLITE_OK;
        }
        if (!options->read_only) {
            store_file_set_group(path,
                                 options->group); // where that is not allowed, nothing is lost
        }
    }
    if (rc != SQLITE_OK) {
        if (*db) {
            sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        }
        r = store_result_say(*db, rc, OPENING, called, error, size);
    }
    return r == STORE_NEWER ? refuse_newer(error, size, called, version)
                            : refuse(error, size, called, r);
}
