// SPDX-License-Identifier: Apache-2.0
//
// SQLite takes an exclusive lock before it keeps the index of a log in its own memory. A file that
// is open read-only cannot have one, so the VFS takes a shared lock and says that it is exclusive.
// Whoever changes the store makes a -shm first: each read looks afterwards that there is none. The
// methods of a file are those of the system's VFS, with three of our own.
#include "store/db/connection.h"

#include <pthread.h>

#include "store/db/header.h"

#define NAME "nvtxt-private-log"

// After what the system's VFS keeps of a main file or a log.
struct private {
    sqlite3_io_methods own;
    const sqlite3_io_methods *real; // the system's
    const char *name;               // of the database; SQLite keeps it until the close
};

static sqlite3_vfs vfs;
static sqlite3_vfs *system_vfs;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool registered;

static struct private *private_of(sqlite3_file *file) {
    return (struct private *)(void *)((char *)file + system_vfs->szOsFile);
}

static int private_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at) {
    int rc = private_of(file)->real->xRead(file, data, size, at);
    return store_file_size(private_of(file)->name, "-shm") >= 0 ? SQLITE_BUSY : rc;
}

static int private_lock(sqlite3_file *file, int level) {
    return private_of(file)->real->xLock(file,
                                         level > SQLITE_LOCK_SHARED ? SQLITE_LOCK_SHARED : level);
}

static int private_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at) {
    (void)file, (void)data, (void)size, (void)at;
    return SQLITE_READONLY;
}

static void take_over(sqlite3_file *file, const char *name) {
    struct private *private = private_of(file);
    *private = (struct private){*file->pMethods, file->pMethods, name};
    private->own.iVersion = 1; // which has neither -shm nor memory maps
    private->own.xRead = private_read;
    private->own.xWrite = private_write;
    private->own.xLock = private_lock;
    file->pMethods = &private->own;
}

static int private_open(sqlite3_vfs *unused, const char *name, sqlite3_file *file, int flags,
                        int *out) {
    (void)unused;
    bool ours = (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0;
    if (ours) {
        flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
        flags |= SQLITE_OPEN_READONLY;
    }
    int rc = system_vfs->xOpen(system_vfs, name, file, flags, out);
    if (ours && rc == SQLITE_OK) {
        take_over(file, sqlite3_filename_database(name));
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
    vfs.szOsFile = system_vfs->szOsFile + (int)sizeof(struct private);
    vfs.xOpen = private_open;
    registered = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

const char *store_privatelog_vfs(void) {
    pthread_once(&once, register_vfs);
    return registered ? NAME : NULL;
}
