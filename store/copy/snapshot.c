// SPDX-License-Identifier: Apache-2.0
//
// The copy of a file in WAL mode has that mode in its header; journal_mode DELETE makes it a plain
// file. A hard link gives it its name: unlike a rename it never replaces a file.
#include "store/copy/snapshot.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "store/db/connection.h"
#include "store/db/header.h"
#include "store/db/sql.h"
#include "store/segment/segments.h"
#include "store/value/codes.h"

enum { TAKEN = 2 }; // somebody else has the name

static int say_taken(const char *file, char *error, size_t size) {
    snprintf(error, size, "%s exists already: name another file, or move that one away", file);
    return nvtxt_origin(-EEXIST);
}

static int say_errno(int r, const char *file, char *error, size_t size) {
    snprintf(error, size, "cannot make the snapshot %s: %s", file, strerror(-r));
    return r;
}

// `fd` -1: into the file of that name.
static int open_both(sqlite3 **from, sqlite3 **to, const char *segment, const char *file, int fd) {
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int rc = sqlite3_open_v2(segment, from, flags | SQLITE_OPEN_READONLY, NULL);
    if (fd < 0) {
        rc = rc ?: sqlite3_open_v2(file, to, flags | SQLITE_OPEN_READWRITE, NULL);
    } else {
        rc = rc ?: store_descriptor_open(fd, to);
    }
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(*from, STORE_BUSY_MS);
        sqlite3_db_config(*from, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        rc = store_sql_exec(*to, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF");
    }
    return rc ?: store_sql_exec(*from, "BEGIN; SELECT count(*) FROM sqlite_master");
}

static int copy(const char *segment, const char *temp, int fd, const struct store_copy_watch *watch,
                char *error, size_t size) {
    sqlite3 *from = NULL, *to = NULL;
    bool stopped = false;
    int rc = open_both(&from, &to, segment, temp, fd);
    rc = rc ?: store_backup_run(from, to, watch, &stopped);
    if (!stopped && fd < 0) {
        rc = rc ?: store_sql_exec(to, "PRAGMA journal_mode = DELETE");
    }
    int r = store_result_say(to ?: from, rc, "make the snapshot", temp, error, size);
    sqlite3_close(to);
    sqlite3_close(from);
    return r == STORE_DONE && stopped ? STORE_STOPPED : r;
}

// Gives `temp` its name without replacing anything. Returns 0, TAKEN or -errno.
static int give_name(const char *temp, const char *file) {
    if (link(temp, file) == 0) {
        return 0;
    }
    if (errno == EEXIST) {
        return TAKEN;
    }
    if (errno != EPERM && errno != ENOTSUP) {
        return nvtxt_origin(-errno);
    }
    if (access(file, F_OK) == 0) { // a file system without hard links
        return TAKEN;
    }
    return rename(temp, file) < 0 ? nvtxt_origin(-errno) : 0;
}

// Returns 0, TAKEN or -errno.
static int publish(const char *temp, const char *file, int64_t *bytes) {
    struct stat status;
    int fd = open(temp, O_RDWR | O_CLOEXEC);
    int r = fd < 0 || fsync(fd) < 0 || fstat(fd, &status) < 0 ? nvtxt_origin(-errno) : 0;
    if (fd >= 0) {
        close(fd);
    }
    if (r == 0) {
        *bytes = (int64_t)status.st_size;
        r = give_name(temp, file);
    }
    return r ?: store_segments_sync(file);
}

int store_snapshot(const char *segment, const char *file, const struct store_copy_watch *watch,
                   int64_t *bytes, char *error, size_t size) {
    char temp[PATH_MAX];
    struct stat like, there;
    if (lstat(file, &there) == 0) {
        return say_taken(file, error, size);
    }
    int len = snprintf(temp, sizeof(temp), "%s.%d" STORE_SEGMENT_UNFINISHED, file, (int)getpid());
    int r = len >= (int)sizeof(temp)              ? nvtxt_origin(-ENAMETOOLONG)
            : stat(segment, &like) < 0            ? nvtxt_origin(-errno)
            : unlink(temp) < 0 && errno != ENOENT ? nvtxt_origin(-errno)
                                                  : 0;
    r = r ?: store_file_make(temp, like.st_mode & 0777);
    if (r < 0) {
        return say_errno(r, file, error, size);
    }
    store_file_set_group(temp, (int64_t)like.st_gid); // as far as that is allowed
    r = copy(segment, temp, -1, watch, error, size);
    if (r == STORE_DONE) {
        r = publish(temp, file, bytes);
        r = r == TAKEN ? say_taken(file, error, size)
            : r < 0    ? say_errno(r, file, error, size)
                       : STORE_DONE;
    }
    unlink(temp);
    return r;
}

// Such a file can be a copy: a descriptor may be anything.
static int check_descriptor(int fd) {
    struct stat status;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &status) < 0) {
        return nvtxt_origin(-errno);
    }
    bool good = S_ISREG(status.st_mode) && status.st_size == 0 && (flags & O_ACCMODE) == O_RDWR &&
                !(flags & O_APPEND);
    return good ? 0 : nvtxt_origin(-EINVAL);
}

// The header's two versions of the format: 1 is a file without a log, as SQLite's journal_mode
// DELETE writes it (https://www.sqlite.org/fileformat2.html, 1.3.3).
static int finish_descriptor(int fd, int64_t *bytes) {
    struct stat status;
    if (pwrite(fd, "\1\1", 2, 18) != 2 || fsync(fd) < 0 || fstat(fd, &status) < 0) {
        return errno ? nvtxt_origin(-errno) : nvtxt_origin(-EIO);
    }
    *bytes = (int64_t)status.st_size;
    return STORE_DONE;
}

int store_snapshot_into(const char *segment, int fd, const struct store_copy_watch *watch,
                        int64_t *bytes, char *error, size_t size) {
    static const char what[] = "into the descriptor";
    int r = check_descriptor(fd);
    if (r == -EINVAL) {
        snprintf(error, size,
                 "the descriptor is no empty regular file that can be read and written");
        return r;
    }
    if (r < 0) {
        return say_errno(r, what, error, size);
    }
    r = copy(segment, what, fd, watch, error, size);
    if (r == STORE_DONE) {
        r = finish_descriptor(fd, bytes);
        r = r < 0 ? say_errno(r, what, error, size) : r;
    }
    return r;
}
