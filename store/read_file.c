// SPDX-License-Identifier: Apache-2.0
//
// Opening a file that somebody else owns, without leaving a trace. SQLite makes a -wal and a -shm
// file beside a database in WAL mode even for a reader, if it may, and refuses to read if it may
// not. A store that is in use has both. One that lies there without a -wal is complete as it is and
// nobody has it open; it is opened as immutable, which needs neither.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file.h"
#include "store/reader.h"
#include "store/result.h"
#include "store/schema.h"
#include "store/sql.h"
#include "store/store.h"

#define BUSY_MS 1000 // a store in rollback mode is locked while somebody writes to it
#define CACHE_KIB "1024"

static const char *sentence_of(int result) {
    switch (result) {
    case -ENOENT:
        return "does not exist: name a store";
    case -ENOLINK:
        return "is a link to nowhere: name a store that exists";
    case -EISDIR:
        return "is a folder: name the store in it";
    case -EINVAL:
        return "is not a regular file: name a store";
    case -EACCES:
        return "may not be read by you: ask its owner, or join the group that it belongs to";
    case STORE_NEWER:
        return "was written by a newer version of this program: install that one";
    case STORE_FOREIGN:
        return "is a database without NVTX events: name a store, or an SQLite export of Nsight "
               "Systems";
    case STORE_CORRUPT:
        return "is not a database, or is broken or cut off: name a store, or a copy that is whole";
    case STORE_BUSY:
        return "is locked by another process: try again when that is done";
    case -ENODATA:
        return "is empty: name a store";
    default:
        return NULL;
    }
}

static int refuse(struct store_reader *reader, int result) {
    const char *sentence = sentence_of(result);
    if (sentence) {
        snprintf(reader->error, sizeof reader->error, "%s %s", reader->path, sentence);
    } else {
        snprintf(reader->error, sizeof reader->error, "cannot read %s: %s", reader->path,
                 strerror(-result));
    }
    return result == -ENODATA ? STORE_CORRUPT : result;
}

int store_reader_result(struct store_reader *reader, int rc) {
    if (rc == SQLITE_OK) {
        return STORE_DONE;
    }
    int result = store_result_of(reader->db, rc);
    if (sentence_of(result)) {
        return refuse(reader, result);
    }
    return store_result_say(reader->db, rc, "read", reader->path, reader->error,
                            sizeof reader->error);
}

// ---- The name for SQLite ------------------------------------------------------------------------

static int64_t bytes_of(const char *path, const char *suffix) { // -1: not there
    char beside[PATH_MAX + 8];
    struct stat status;
    snprintf(beside, sizeof beside, "%s%s", path, suffix);
    return stat(beside, &status) == 0 ? (int64_t)status.st_size : -1;
}

static bool lies_alone(const char *path) {
    int64_t wal = bytes_of(path, "-wal");
    return wal < 0 || (wal == 0 && bytes_of(path, "-shm") < 0);
}

// A store in rollback mode has neither file, but its locks count.
static bool is_in_wal_mode(const char *path) {
    unsigned char head[20] = {0}; // the read version of the format is at 19: 2 for WAL
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(head, 1, sizeof head, file) : 0;
    if (file) {
        fclose(file);
    }
    return got == sizeof head && head[19] == 2;
}

static void make_uri(char *uri, size_t size, const char *path) {
    static const char hex[] = "0123456789ABCDEF";
    const char *mode =
        is_in_wal_mode(path) && lies_alone(path) ? "?mode=ro&immutable=1" : "?mode=ro";
    size_t at = (size_t)snprintf(uri, size, "file:");
    for (; *path && at + 32 < size; path++) {
        unsigned char byte = (unsigned char)*path;
        if (byte == '%' || byte == '?' || byte == '#') {
            uri[at++] = '%';
            uri[at++] = hex[byte >> 4];
            uri[at++] = hex[byte & 15];
        } else {
            uri[at++] = *path;
        }
    }
    snprintf(uri + at, size - at, "%s", mode);
}

// ---- Whose file it is ---------------------------------------------------------------------------

bool store_reader_has_column(struct store_reader *reader, const char *table, const char *column,
                             int *rc) {
    sqlite3_stmt *stmt = NULL;
    bool found = false;
    if (*rc != SQLITE_OK) {
        return false;
    }
    *rc = store_sql_prepare(reader->db, &stmt,
                            "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2 COLLATE NOCASE");
    if (*rc == SQLITE_OK) {
        *rc = store_sql_bind(stmt, "tt", table, column);
    }
    if (*rc == SQLITE_OK) {
        int step = sqlite3_step(stmt);
        found = step == SQLITE_ROW;
        *rc = store_sql_done(stmt, step);
    }
    sqlite3_finalize(stmt);
    return found;
}

static int inspect(struct store_reader *reader, int *result) {
    enum store_schema_state state;
    int version;
    int rc = store_schema_inspect(reader->db, &state, &version);
    int64_t things = 0;
    rc = rc ?: store_sql_int(reader->db, "SELECT count(*) FROM sqlite_master", &things);
    reader->ours = rc == SQLITE_OK && state == STORE_SCHEMA_OURS && things > 0;
    bool has_events = store_reader_has_column(reader, "NVTX_EVENTS", "eventType", &rc);
    if (rc == SQLITE_OK) {
        *result = reader->ours && version > STORE_SCHEMA_VERSION ? STORE_NEWER
                  : !has_events                                  ? STORE_FOREIGN
                                                                 : STORE_DONE;
    }
    return rc;
}

int store_reader_connect(struct store_reader *reader) {
    enum store_file_kind kind;
    char real[PATH_MAX];
    char uri[PATH_MAX * 3 + 32];
    int result = store_file_prepare(reader->path, true, 0, STORE_SCHEMA_VERSION, &kind);
    if (result == STORE_DONE) {
        result = kind == STORE_FILE_NEWER  ? STORE_NEWER
                 : kind == STORE_FILE_NONE ? STORE_CORRUPT
                 : kind == STORE_FILE_NEW  ? -ENODATA
                                           : STORE_DONE;
    }
    if (result == STORE_DONE && !realpath(reader->path, real)) {
        result = -errno;
    }
    if (result != STORE_DONE) {
        return refuse(reader, result);
    }
    make_uri(uri, sizeof uri, real);
    int rc = sqlite3_open_v2(uri, &reader->db,
                             SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
                                 SQLITE_OPEN_PRIVATECACHE,
                             NULL);
    if (rc == SQLITE_OK) {
        sqlite3_extended_result_codes(reader->db, 1);
        sqlite3_busy_timeout(reader->db, BUSY_MS);
        rc = sqlite3_exec(reader->db, "PRAGMA cache_size = -" CACHE_KIB, NULL, NULL, NULL);
        rc = rc ?: inspect(reader, &result);
    }
    return rc != SQLITE_OK        ? store_reader_result(reader, rc)
           : result != STORE_DONE ? refuse(reader, result)
                                  : STORE_DONE;
}
