// SPDX-License-Identifier: Apache-2.0
//
// Only the main file is wrapped: in a VFS -shm has no file of its own, and SQLite asks the main
// file for its locks. The log and temporary files are the system's own, so the files that are
// written most are as fast as before.
#include "store/lock/writelock.h"

#include <pthread.h>
#include <stdio.h>

#define NAME "nvtxt-writer"
#define WRITE_LOCK 0 // slots of -shm, as SQLite numbers them; CKPT and RECOVER follow
#define LOCKS_OF_RECOVERY 3
#define SHM_BYTES 32768 // of a region, the only size that SQLite asks for

struct kept_file {
    sqlite3_file base;
    bool held;
    sqlite3_file *real; // after this struct, in the same memory
};

bool store_writelock_shared;

static sqlite3_vfs vfs;
static sqlite3_vfs *system_vfs;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool registered;

static struct kept_file *kept_of(sqlite3_file *file) {
    return (struct kept_file *)(void *)file;
}

static sqlite3_file *real_of(sqlite3_file *file) {
    return kept_of(file)->real;
}

// ---- The lock -----------------------------------------------------------------------------------

static void give_back(struct kept_file *file) {
    if (file->held) {
        file->held = false;
        file->real->pMethods->xShmLock(file->real, WRITE_LOCK, 1,
                                       SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    }
}

static int kept_shm_lock(sqlite3_file *base, int offset, int n, int flags) {
    struct kept_file *file = kept_of(base);
    if (offset != WRITE_LOCK || store_writelock_shared) {
        return file->real->pMethods->xShmLock(file->real, offset, n, flags);
    }
    if (flags & SQLITE_SHM_UNLOCK) {
        return SQLITE_OK;
    }
    int rc = file->held ? SQLITE_OK : file->real->pMethods->xShmLock(file->real, offset, n, flags);
    file->held = rc == SQLITE_OK;
    return rc;
}

static int kept_shm_unmap(sqlite3_file *file, int remove) {
    give_back(kept_of(file));
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static int kept_close(sqlite3_file *file) {
    give_back(kept_of(file));
    return real_of(file)->pMethods->xClose(real_of(file));
}

// ---- What goes to the system's VFS
// --------------------------------------------------------------------------

#define REAL(file, method, ...) real_of(file)->pMethods->method(real_of(file), __VA_ARGS__)

static int kept_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at) {
    return REAL(file, xRead, data, size, at);
}
static int kept_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at) {
    return REAL(file, xWrite, data, size, at);
}
static int kept_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return REAL(file, xTruncate, size);
}
static int kept_sync(sqlite3_file *file, int flags) {
    return REAL(file, xSync, flags);
}
static int kept_size(sqlite3_file *file, sqlite3_int64 *size) {
    return REAL(file, xFileSize, size);
}
static int kept_lock(sqlite3_file *file, int level) {
    return REAL(file, xLock, level);
}
static int kept_unlock(sqlite3_file *file, int level) {
    return REAL(file, xUnlock, level);
}
static int kept_check(sqlite3_file *file, int *reserved) {
    return REAL(file, xCheckReservedLock, reserved);
}
static int kept_control(sqlite3_file *file, int op, void *argument) {
    return REAL(file, xFileControl, op, argument);
}
static int kept_sector(sqlite3_file *file) {
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}
static int kept_device(sqlite3_file *file) {
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}
static int kept_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **at) {
    return REAL(file, xShmMap, region, size, extend, at);
}
static void kept_shm_barrier(sqlite3_file *file) {
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = kept_close,
    .xRead = kept_read,
    .xWrite = kept_write,
    .xTruncate = kept_truncate,
    .xSync = kept_sync,
    .xFileSize = kept_size,
    .xLock = kept_lock,
    .xUnlock = kept_unlock,
    .xCheckReservedLock = kept_check,
    .xFileControl = kept_control,
    .xSectorSize = kept_sector,
    .xDeviceCharacteristics = kept_device,
    .xShmMap = kept_shm_map,
    .xShmLock = kept_shm_lock,
    .xShmBarrier = kept_shm_barrier,
    .xShmUnmap = kept_shm_unmap,
};

// ---- The VFS ------------------------------------------------------------------------------------

static int kept_open(sqlite3_vfs *unused, const char *name, sqlite3_file *base, int flags,
                     int *out) {
    (void)unused;
    struct kept_file *file = kept_of(base);
    if (!(flags & SQLITE_OPEN_MAIN_DB)) {
        return system_vfs->xOpen(system_vfs, name, base, flags, out);
    }
    *file = (struct kept_file){.real = (sqlite3_file *)(void *)(file + 1)};
    file->real->pMethods = NULL;
    int rc = system_vfs->xOpen(system_vfs, name, file->real, flags, out);
    if (file->real->pMethods) { // then SQLite will close it
        base->pMethods = &methods;
    }
    return rc;
}

static void register_vfs(void) {
    system_vfs = sqlite3_vfs_find(NULL);
    if (!system_vfs) {
        return;
    }
    vfs = *system_vfs;
    vfs.zName = NAME;
    vfs.szOsFile = (int)sizeof(struct kept_file) + system_vfs->szOsFile;
    vfs.xOpen = kept_open;
    registered = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

const char *store_writelock_vfs(void) {
    pthread_once(&once, register_vfs);
    return registered ? NAME : NULL;
}

// ---- Its users ----------------------------------------------------------------------------------

static sqlite3_file *file_of(sqlite3 *db) {
    sqlite3_file *file = NULL;
    int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return rc == SQLITE_OK && file && file->pMethods ? file : NULL;
}

// The first commit after an empty log needs one of the slots of readers for itself. SQLite writes
// user_version even when it stays as it is.
int store_writelock_take(sqlite3 *db, int user_version) {
    char sql[80];
    snprintf(sql, sizeof(sql), "BEGIN IMMEDIATE; PRAGMA user_version = %d; COMMIT", user_version);
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (rc != SQLITE_OK && !sqlite3_get_autocommit(db)) {
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
    return rc;
}

void store_writelock_release(sqlite3 *db) {
    sqlite3_file *file = file_of(db);
    if (file && file->pMethods == &methods) {
        give_back(kept_of(file));
    }
}

bool store_writelock_is_free(sqlite3 *db) {
    void volatile *at;
    sqlite3_file *file = file_of(db);
    if (!file || file->pMethods->iVersion < 2 || !file->pMethods->xShmLock) {
        return true; // this VFS has no such locks
    }
    int rc = file->pMethods->xShmMap(file, 0, SHM_BYTES, 1, &at);
    rc = rc
             ?: file->pMethods->xShmLock(file, WRITE_LOCK, LOCKS_OF_RECOVERY,
                                         SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    if (rc == SQLITE_OK) {
        file->pMethods->xShmLock(file, WRITE_LOCK, LOCKS_OF_RECOVERY,
                                 SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    }
    file->pMethods->xShmUnmap(file, 0); // SQLite only does when it has read the log
    return rc == SQLITE_OK;
}
