// SPDX-License-Identifier: Apache-2.0
//
// Whoever has the store open, SQLite or not, holds a shared lock of its main file. So this takes
// the exclusive one, as SQLite does before it deletes a log at the last close. In exclusive locking
// mode SQLite needs no -shm. https://www.sqlite.org/wal.html, "Use of WAL Without Shared-Memory"
#include "store/lock/locks.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "protocol/base/origin.h"

static int open_alone(sqlite3 **db, const char *file) {
    int on = 1;
    int rc = sqlite3_open_v2(file, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK) {
        return rc;
    }
    sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_file_control(*db, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
    return sqlite3_exec(*db, "PRAGMA locking_mode = EXCLUSIVE; SELECT 1 FROM sqlite_master", NULL,
                        NULL, NULL);
}

static int replace(const char *file) {
    char log[PATH_MAX], shm[PATH_MAX];
    struct stat status;
    if (snprintf(log, sizeof(log), "%s-wal", file) >= (int)sizeof(log) ||
        snprintf(shm, sizeof(shm), "%s-shm", file) >= (int)sizeof(shm)) {
        return nvtxt_origin(-ENAMETOOLONG);
    }
    if (stat(log, &status) == 0 ? status.st_size > 0 : errno != ENOENT) {
        return 1;
    }
    if (unlink(shm) < 0 && errno != ENOENT) {
        return nvtxt_origin(-errno);
    }
    int fd = open(shm, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd < 0 ? nvtxt_origin(-errno) : close(fd) < 0 ? nvtxt_origin(-errno) : 0;
}

int store_shm_renew(const char *file) {
    sqlite3 *db = NULL;
    int rc = open_alone(&db, file);
    int r = rc == SQLITE_OK ? replace(file) : rc == SQLITE_NOMEM ? nvtxt_origin(-ENOMEM) : 1;
    sqlite3_close(db);
    return r;
}
