// SPDX-License-Identifier: Apache-2.0
//
// SQLite opens files by name only. A small VFS of our own takes the number of the descriptor for
// the name; time and random numbers are those of the usual VFS. A second file, such as a journal,
// cannot be opened.
#include "store/copy/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "nvtxt-descriptor"
#define SECTOR_BYTES 4096

struct file {
    sqlite3_file base; // first
    int fd;
};

static int fd_of(sqlite3_file *file) {
    return ((struct file *)file)->fd;
}

static int on_close(sqlite3_file *file) {
    (void)file;
    return SQLITE_OK;
}

static int on_read(sqlite3_file *file, void *to, int size, sqlite3_int64 offset) {
    size_t got = 0, wanted = (size_t)size;
    while (got < wanted) {
        ssize_t n =
            pread(fd_of(file), (char *)to + got, wanted - got, (off_t)(offset + (off_t)got));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return SQLITE_IOERR_READ;
        }
        if (n == 0) {
            memset((char *)to + got, 0, wanted - got);
            return SQLITE_IOERR_SHORT_READ;
        }
        got += (size_t)n;
    }
    return SQLITE_OK;
}

static int on_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset) {
    size_t done = 0, wanted = (size_t)size;
    while (done < wanted) {
        ssize_t n = pwrite(fd_of(file), (const char *)from + done, wanted - done,
                           (off_t)(offset + (off_t)done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n < 0 && (errno == ENOSPC || errno == EDQUOT) ? SQLITE_FULL : SQLITE_IOERR_WRITE;
        }
        done += (size_t)n;
    }
    return SQLITE_OK;
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return ftruncate(fd_of(file), (off_t)size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

static int on_sync(sqlite3_file *file, int flags) {
    (void)flags;
    return fsync(fd_of(file)) == 0 ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

static int on_size(sqlite3_file *file, sqlite3_int64 *size) {
    struct stat status;
    if (fstat(fd_of(file), &status) < 0) {
        return SQLITE_IOERR_FSTAT;
    }
    *size = (sqlite3_int64)status.st_size;
    return SQLITE_OK;
}

static int on_lock(sqlite3_file *file, int level) {
    (void)file;
    (void)level;
    return SQLITE_OK;
}

static int on_check_lock(sqlite3_file *file, int *locked) {
    (void)file;
    *locked = 0;
    return SQLITE_OK;
}

static int on_control(sqlite3_file *file, int operation, void *argument) {
    (void)file;
    (void)operation;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int on_sector(sqlite3_file *file) {
    (void)file;
    return SECTOR_BYTES;
}

static int on_device(sqlite3_file *file) {
    (void)file;
    return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_lock,
    .xCheckReservedLock = on_check_lock,
    .xFileControl = on_control,
    .xSectorSize = on_sector,
    .xDeviceCharacteristics = on_device,
};

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    struct file *opened = (struct file *)file;
    opened->base.pMethods = NULL;
    if (!name || !(flags & SQLITE_OPEN_MAIN_DB)) {
        return SQLITE_CANTOPEN;
    }
    opened->fd = atoi(name);
    opened->base.pMethods = &methods;
    if (out) {
        *out = flags;
    }
    return SQLITE_OK;
}

static int on_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    (void)name;
    (void)sync;
    return SQLITE_OK;
}

static int on_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    (void)vfs;
    (void)name;
    (void)flags;
    *result = 0; // there is nothing beside it
    return SQLITE_OK;
}

static int on_full_name(sqlite3_vfs *vfs, const char *name, int size, char *out) {
    (void)vfs;
    snprintf(out, (size_t)size, "%s", name);
    return SQLITE_OK;
}

// Several threads may do this at once; SQLite has one of that name then.
static int add_vfs(void) {
    static sqlite3_vfs vfs;
    if (sqlite3_vfs_find(NAME)) {
        return SQLITE_OK;
    }
    const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
    if (!usual) {
        return SQLITE_ERROR;
    }
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);
    int rc = SQLITE_OK;
    sqlite3_mutex_enter(mutex);
    if (!sqlite3_vfs_find(NAME)) {
        vfs = *usual;
        vfs.iVersion = 1;
        vfs.szOsFile = sizeof(struct file);
        vfs.pNext = NULL;
        vfs.zName = NAME;
        vfs.xOpen = on_open;
        vfs.xDelete = on_delete;
        vfs.xAccess = on_access;
        vfs.xFullPathname = on_full_name;
        rc = sqlite3_vfs_register(&vfs, 0);
    }
    sqlite3_mutex_leave(mutex);
    return rc;
}

int store_descriptor_open(int fd, sqlite3 **db) {
    char name[16];
    int rc = add_vfs();
    snprintf(name, sizeof(name), "%d", fd);
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_READWRITE;
    return rc ?: sqlite3_open_v2(name, db, flags, NAME);
}
