// SPDX-License-Identifier: Apache-2.0
//
// SQLite has few codes, so some conditions are found elsewhere: the errno of an I/O error says that
// the disk is full, and the text of SQLITE_ERROR says that a table is gone or a function is
// missing.
#include "store/db/sql.h"

#include <stdio.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "store/value/codes.h"

// The errno of an I/O error. If a COMMIT failed, only the journal's file knows it.
static int errno_of(sqlite3 *db) {
    sqlite3_file *journal = NULL;
    int error = sqlite3_system_errno(db);
    if (error == 0) {
        sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal);
    }
    if (journal && journal->pMethods) {
        journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &error);
    }
    return error;
}

// SQLite itself says SQLITE_FULL for ENOSPC alone.
#define NO_ROOM "no room is left (disk full, or a limit reached)"

static bool is_no_room(int error) {
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

bool store_result_lacks_code(sqlite3 *db) {
    static const char *const kinds[] = {"function", "module", "collation"};
    const char *message = sqlite3_errmsg(db);
    bool lacks = false;
    if (strncmp(message, "no such ", 8) == 0) {
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
            lacks = lacks || strncmp(message + 8, kinds[i], strlen(kinds[i])) == 0;
        }
    }
    return lacks;
}

// Somebody dropped a table or a column. SQLite has no code of its own for it.
static bool lacks_schema(sqlite3 *db) {
    const char *message = sqlite3_errmsg(db);
    return strncmp(message, "no such ", 8) == 0 || strstr(message, "has no column named");
}

static bool is_no_memory(int rc) {
    return (rc & 0xff) == SQLITE_NOMEM || rc == SQLITE_IOERR_NOMEM;
}

int store_result_of(sqlite3 *db, int rc) {
    if (is_no_memory(rc)) {
        return nvtxt_origin(-ENOMEM);
    }
    switch (rc & 0xff) {
    case SQLITE_OK:
        return STORE_DONE;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return STORE_BUSY;
    case SQLITE_FULL:
        return STORE_NO_SPACE;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return STORE_CORRUPT;
    case SQLITE_IOERR:
        return db && is_no_room(errno_of(db)) ? STORE_NO_SPACE : STORE_IO;
    case SQLITE_CANTOPEN:
        return STORE_IO;
    case SQLITE_READONLY:
        return nvtxt_origin(-EROFS);
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return nvtxt_origin(-EACCES);
    case SQLITE_INTERRUPT: // store_stranger_ask()
        return nvtxt_origin(-EINTR);
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return STORE_REFUSED;
    case SQLITE_ERROR:
        return db && lacks_schema(db) ? STORE_CORRUPT : STORE_FAILED;
    default:
        return STORE_FAILED;
    }
}

int store_result_say(sqlite3 *db, int rc, const char *what, const char *path, char *error,
                     size_t size) {
    if (rc == SQLITE_OK) {
        return STORE_DONE;
    }
    int r = store_result_of(db, rc);
    const char *why = is_no_memory(rc)                     ? "out of memory"
                      : r == STORE_NO_SPACE                ? NO_ROOM
                      : r == STORE_BUSY                    ? "another process holds a lock"
                      : sqlite3_extended_errcode(db) == rc ? sqlite3_errmsg(db)
                                                           : sqlite3_errstr(rc);
    int system = r == STORE_IO ? errno_of(db) : 0;
    snprintf(error, size, "cannot %s %s: %s%s%s", what, path, why, system ? ": " : "",
             system ? strerror(system) : "");
    return r;
}

int store_result_say_errno(int r, const char *what, const char *path, char *error, size_t size) {
    bool no_room = r == -ENOSPC || r == -EDQUOT;
    snprintf(error, size, "cannot %s the store %s: %s", what, path,
             no_room ? NO_ROOM : strerror(-r));
    return no_room ? STORE_NO_SPACE : r;
}

int store_result_rc(int r) {
    return r == -ENOMEM ? SQLITE_NOMEM : SQLITE_CANTOPEN;
}
