// SPDX-License-Identifier: Apache-2.0
//
// SQLite takes an exclusive lock before it keeps the index of a log in its own memory. A file that
// is open read-only cannot have one, so the VFS takes a shared lock and says that it is exclusive.
// Whoever changes the store makes a -shm first: each read looks afterwards that there is none. The
// methods are those of the system's VFS, which are others for a log, with three of our own; each
// file has its name after it.
#include "store/db/privatelog.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/db/header.h"

#define NAME "nvtxt-private-log"

static sqlite3_vfs vfs;
static sqlite3_vfs *system_vfs;
static struct {
    sqlite3_io_methods own;
    const sqlite3_io_methods *real; // NULL: not filled yet
} methods[2];                       // of a main file, of a log
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // of `methods`, until it is filled
static bool registered;

// The name of the database is after what the system's VFS keeps; SQLite keeps it until the close.
static const char **name_of(sqlite3_file *file) {
    return (const char **)(void *)((char *)file + system_vfs->szOsFile);
}

static const sqlite3_io_methods *real_of(sqlite3_file *file) {
    return methods[file->pMethods == &methods[1].own].real;
}

static int private_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at) {
    int rc = real_of(file)->xRead(file, data, size, at);
    return store_file_size(*name_of(file), "-shm") >= 0 ? SQLITE_BUSY : rc;
}

static int private_lock(sqlite3_file *file, int level) {
    return real_of(file)->xLock(file, level > SQLITE_LOCK_SHARED ? SQLITE_LOCK_SHARED : level);
}

static int private_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at) {
    (void)file, (void)data, (void)size, (void)at;
    return SQLITE_READONLY;
}

// Version 1 has neither -shm nor memory maps.
static void take_over(sqlite3_file *file, int kind) {
    sqlite3_io_methods *own = &methods[kind].own;
    pthread_mutex_lock(&mutex);
    if (!methods[kind].real) {
        *own = *file->pMethods;
        own->iVersion = 1;
        own->xRead = private_read;
        own->xWrite = private_write;
        own->xLock = private_lock;
        methods[kind].real = file->pMethods;
    }
    pthread_mutex_unlock(&mutex);
    file->pMethods = own;
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
        *name_of(file) = sqlite3_filename_database(name);
        take_over(file, flags & SQLITE_OPEN_WAL ? 1 : 0);
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
    vfs.szOsFile = system_vfs->szOsFile + (int)sizeof(const char *);
    vfs.xOpen = private_open;
    registered = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

const char *store_privatelog_vfs(void) {
    pthread_once(&once, register_vfs);
    return registered ? NAME : NULL;
}
