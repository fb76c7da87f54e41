// SPDX-License-Identifier: Apache-2.0
//
// Only the main file is changed: in a VFS -shm has no file of its own, and SQLite asks the main
// file for its locks. Its methods are those of the system's VFS, with two of our own.
#include "store/lock/writelock.h"

#include <pthread.h>
#include <stdio.h>

#define NAME "nvtxt-writer"
#define WRITE_LOCK 0 // slots of -shm, as SQLite numbers them; CKPT and RECOVER follow
#define LOCKS_OF_RECOVERY 3
#define SHM_BYTES 32768 // of a region, the only size that SQLite asks for

// After what the system's VFS keeps of a main file.
struct kept {
    sqlite3_io_methods own;         // the system's, with two of ours
    const sqlite3_io_methods *real; // the system's
    bool held;
};

bool store_writelock_shared;

static sqlite3_vfs vfs;
static sqlite3_vfs *system_vfs;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool registered;

static struct kept *kept_of(sqlite3_file *file) {
    return (struct kept *)(void *)((char *)file + system_vfs->szOsFile);
}

// ---- The lock -----------------------------------------------------------------------------------

static void give_back(sqlite3_file *file) {
    struct kept *kept = kept_of(file);
    if (kept->held) {
        kept->held = false;
        kept->real->xShmLock(file, WRITE_LOCK, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    }
}

static int kept_shm_lock(sqlite3_file *file, int offset, int n, int flags) {
    struct kept *kept = kept_of(file);
    if (offset != WRITE_LOCK || store_writelock_shared) {
        return kept->real->xShmLock(file, offset, n, flags);
    }
    if (flags & SQLITE_SHM_UNLOCK) {
        return SQLITE_OK;
    }
    int rc = kept->held ? SQLITE_OK : kept->real->xShmLock(file, offset, n, flags);
    kept->held = rc == SQLITE_OK;
    return rc;
}

// SQLite keeps a lock that is still held while this process has another connection to the file.
static int kept_shm_unmap(sqlite3_file *file, int remove) {
    give_back(file);
    return kept_of(file)->real->xShmUnmap(file, remove);
}

// ---- The VFS ------------------------------------------------------------------------------------

static int kept_open(sqlite3_vfs *unused, const char *name, sqlite3_file *file, int flags,
                     int *out) {
    (void)unused;
    int rc = system_vfs->xOpen(system_vfs, name, file, flags, out);
    if ((flags & SQLITE_OPEN_MAIN_DB) && file->pMethods) { // then SQLite will close it
        struct kept *kept = kept_of(file);
        *kept = (struct kept){.own = *file->pMethods, .real = file->pMethods};
        kept->own.iVersion = 2; // no memory maps
        kept->own.xShmLock = kept_shm_lock;
        kept->own.xShmUnmap = kept_shm_unmap;
        file->pMethods = &kept->own;
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
    vfs.szOsFile = system_vfs->szOsFile + (int)sizeof(struct kept);
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
    if (file && file->pMethods->xShmLock == kept_shm_lock) {
        give_back(file);
    }
}

bool store_writelock_is_free(sqlite3 *db) {
    void volatile *at;
    sqlite3_file *file = file_of(db);
    if (!file || file->pMethods->iVersion < 2 || !file->pMethods->xShmLock) {
        return true; // this VFS has no such locks
    }
    int rc = file->pMethods->xShmMap(file, 0, SHM_BYTES, 1, &at);
    if (rc == 0) {
        rc = file->pMethods->xShmLock(file, WRITE_LOCK, LOCKS_OF_RECOVERY,
                                      SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    }
    if (rc == SQLITE_OK) {
        file->pMethods->xShmLock(file, WRITE_LOCK, LOCKS_OF_RECOVERY,
                                 SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    }
    file->pMethods->xShmUnmap(file, 0); // SQLite only does when it has read the log
    return rc == SQLITE_OK;
}
