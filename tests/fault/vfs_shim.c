// SPDX-License-Identifier: Apache-2.0
//
// The shim has a file of the system in each of its own and hands every call on to it, or returns
// the code of the fault. Atomic counters say which call fails.
#include "tests/fault/vfs_shim.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BEING_MADE (1 << 30) // no flag of SQLite's: a segment that has not got its name yet

struct shim_file {
    sqlite3_file base;
    int flags; // of its open
    sqlite3_file *real;
};

static sqlite3_vfs shim;
static sqlite3_vfs *system_vfs;
static atomic_uint left; // calls until the one that fails; 0: none
static atomic_bool struck, lasting_fault;
static atomic_int fault_kind, counted_calls;
static atomic_uint sync_ms;

void vfs_shim_arm(enum vfs_shim_calls calls, unsigned n, bool lasting, enum vfs_shim_fault fault) {
    atomic_store(&struck, false);
    atomic_store(&lasting_fault, lasting);
    atomic_store(&fault_kind, (int)fault);
    atomic_store(&counted_calls, (int)calls);
    atomic_store(&left, n);
}

void vfs_shim_slow_sync(unsigned ms) {
    atomic_store(&sync_ms, ms);
}

bool vfs_shim_has_struck(void) {
    return atomic_load(&struck);
}

static bool is_counted(int flags, bool writes) {
    switch (atomic_load(&counted_calls)) {
    case VFS_SHIM_MAIN_WRITES:
        return writes && (flags & SQLITE_OPEN_MAIN_DB);
    case VFS_SHIM_WAL_WRITES:
        return writes && (flags & SQLITE_OPEN_WAL);
    case VFS_SHIM_NEW_WRITES:
        return writes && (flags & BEING_MADE);
    default:
        return true;
    }
}

// The code to fail with, or SQLITE_OK.
static int strike(int flags, bool writes, int code) {
    if (!is_counted(flags, writes)) {
        return SQLITE_OK;
    }
    bool now = atomic_load(&struck) && atomic_load(&lasting_fault);
    if (atomic_load(&left) > 0 && atomic_fetch_sub(&left, 1) == 1) {
        atomic_store(&struck, true);
        now = true;
    }
    if (now && atomic_load(&fault_kind) == VFS_SHIM_KILL) {
        kill(getpid(), SIGKILL);
    }
    if (now && atomic_load(&fault_kind) == VFS_SHIM_FULL && writes) {
        return SQLITE_FULL;
    }
    return now ? code : SQLITE_OK;
}

#define REAL(file) (((struct shim_file *)(void *)(file))->real)
#define CALL(file, writes, code, method, ...)                                                      \
    (strike(((struct shim_file *)(void *)(file))->flags, writes, code)                             \
         ?: REAL(file)->pMethods->method(REAL(file), __VA_ARGS__))

static int shim_close(sqlite3_file *file) {
    sqlite3_file *real = REAL(file);
    int rc = real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
    sqlite3_free(real);
    return rc;
}

static int shim_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at) {
    return CALL(file, false, SQLITE_IOERR_READ, xRead, data, size, at);
}
static int shim_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at) {
    return CALL(file, true, SQLITE_IOERR_WRITE, xWrite, data, size, at);
}
static int shim_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return CALL(file, true, SQLITE_IOERR_TRUNCATE, xTruncate, size);
}
static int shim_sync(sqlite3_file *file, int flags) {
    unsigned ms = atomic_load(&sync_ms);
    if (ms > 0 && (((struct shim_file *)(void *)file)->flags & SQLITE_OPEN_WAL)) {
        nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL);
    }
    return CALL(file, false, SQLITE_IOERR_FSYNC, xSync, flags);
}
static int shim_size(sqlite3_file *file, sqlite3_int64 *size) {
    return CALL(file, false, SQLITE_IOERR_FSTAT, xFileSize, size);
}
static int shim_lock(sqlite3_file *file, int level) {
    return CALL(file, false, SQLITE_IOERR_LOCK, xLock, level);
}
static int shim_unlock(sqlite3_file *file, int level) {
    return REAL(file)->pMethods->xUnlock(REAL(file), level);
}
static int shim_check(sqlite3_file *file, int *reserved) {
    return REAL(file)->pMethods->xCheckReservedLock(REAL(file), reserved);
}
static int shim_control(sqlite3_file *file, int op, void *argument) {
    return REAL(file)->pMethods->xFileControl(REAL(file), op, argument);
}
static int shim_sector(sqlite3_file *file) {
    return REAL(file)->pMethods->xSectorSize(REAL(file));
}
static int shim_device(sqlite3_file *file) {
    return REAL(file)->pMethods->xDeviceCharacteristics(REAL(file));
}
static int shim_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **at) {
    return CALL(file, false, SQLITE_IOERR_SHMMAP, xShmMap, page, size, extend, at);
}
static int shim_shm_lock(sqlite3_file *file, int offset, int n, int flags) {
    // An unlock never fails: a lock that stays would be a fault of this shim only.
    if (flags & SQLITE_SHM_UNLOCK) {
        return REAL(file)->pMethods->xShmLock(REAL(file), offset, n, flags);
    }
    return CALL(file, false, SQLITE_IOERR_SHMLOCK, xShmLock, offset, n, flags);
}
static void shim_shm_barrier(sqlite3_file *file) {
    REAL(file)->pMethods->xShmBarrier(REAL(file));
}
static int shim_shm_unmap(sqlite3_file *file, int delete) {
    return REAL(file)->pMethods->xShmUnmap(REAL(file), delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = shim_close,
    .xRead = shim_read,
    .xWrite = shim_write,
    .xTruncate = shim_truncate,
    .xSync = shim_sync,
    .xFileSize = shim_size,
    .xLock = shim_lock,
    .xUnlock = shim_unlock,
    .xCheckReservedLock = shim_check,
    .xFileControl = shim_control,
    .xSectorSize = shim_sector,
    .xDeviceCharacteristics = shim_device,
    .xShmMap = shim_shm_map,
    .xShmLock = shim_shm_lock,
    .xShmBarrier = shim_shm_barrier,
    .xShmUnmap = shim_shm_unmap,
};

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    struct shim_file *ours = (struct shim_file *)(void *)file;
    file->pMethods = NULL;
    int rc = strike(flags, false, SQLITE_CANTOPEN);
    if (rc != SQLITE_OK) {
        return rc;
    }
    size_t len = name ? strlen(name) : 0;
    bool is_new = len > 4 && strcmp(name + len - 4, ".new") == 0;
    ours->flags = flags | (is_new ? BEING_MADE : 0);
    ours->real = sqlite3_malloc(system_vfs->szOsFile);
    if (!ours->real) {
        return SQLITE_NOMEM;
    }
    memset(ours->real, 0, (size_t)system_vfs->szOsFile);
    rc = system_vfs->xOpen(system_vfs, name, ours->real, flags, out);
    if (rc != SQLITE_OK && !ours->real->pMethods) {
        sqlite3_free(ours->real);
        return rc;
    }
    file->pMethods = &methods;
    return rc;
}

static int shim_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    return strike(0, false, SQLITE_IOERR_DELETE) ?: system_vfs->xDelete(system_vfs, name, sync);
}

static int shim_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    (void)vfs;
    return strike(0, false, SQLITE_IOERR_ACCESS)
               ?: system_vfs->xAccess(system_vfs, name, flags, result);
}

void vfs_shim_install(void) {
    system_vfs = sqlite3_vfs_find(NULL);
    shim = *system_vfs;
    shim.zName = "shim";
    shim.szOsFile = (int)sizeof(struct shim_file);
    shim.xOpen = shim_open;
    shim.xDelete = shim_delete;
    shim.xAccess = shim_access;
    if (sqlite3_vfs_register(&shim, 1) != SQLITE_OK) {
        abort();
    }
}
