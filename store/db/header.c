// SPDX-License-Identifier: Apache-2.0
//
// Reads the 100-byte header and the head of the first page as the SQLite file format lays them out
// (https://www.sqlite.org/fileformat2.html): magic, page size at 16 (1: 65536), number of pages at
// 28, which is right when the numbers of changes at 24 and 92 are the same, user_version at 60,
// application_id at 68, and the root of sqlite_schema at 100 (type, then at +3 the number of
// cells).
#include "store/db/header.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "store/db/schema.h"

#define HEAD_BYTES (STORE_FILE_HEAD_BYTES + 8)
#define MAGIC "SQLite format 3"
#define INTERIOR_TABLE_PAGE 5
#define LARGEST_PAGE 65536

const char *const store_file_endings[STORE_FILE_ENDINGS] = {"", "-wal", "-shm"};

int store_file_name(char *name, const char *path, const char *ending) {
    return snprintf(name, PATH_MAX, "%s%s", path, ending) < PATH_MAX ? 0
                                                                     : nvtxt_origin(-ENAMETOOLONG);
}

int64_t store_file_size(const char *path, const char *ending) {
    char name[PATH_MAX];
    struct stat status;
    bool is_there = store_file_name(name, path, ending) == 0 && stat(name, &status) == 0;
    return is_there ? (int64_t)status.st_size : -1;
}

static uint32_t read_u32(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

int64_t store_file_claimed_bytes(const unsigned char *head) {
    int64_t page = head[16] << 8 | head[17];
    bool says = read_u32(head + 24) == read_u32(head + 92); // the last writer kept the number right
    return says ? (int64_t)read_u32(head + 28) * (page == 1 ? LARGEST_PAGE : page) : 0;
}

static enum store_file_kind kind_of_head(const unsigned char *head, int newest, int *version) {
    if (memcmp(head, MAGIC, sizeof(MAGIC)) != 0) {
        return STORE_FILE_NONE;
    }
    uint32_t application = read_u32(head + 68);
    uint32_t user_version = read_u32(head + 60);
    bool has_tables = head[100] == INTERIOR_TABLE_PAGE || head[103] != 0 || head[104] != 0;
    if (application == STORE_APPLICATION_ID) {
        if (version) {
            *version = (int)user_version; // as SQLite says it
        }
        return user_version > (uint32_t)newest ? STORE_FILE_NEWER : STORE_FILE_STORE;
    }
    return application == 0 && !has_tables ? STORE_FILE_UNSURE : STORE_FILE_FOREIGN;
}

// The kind of a path that stat() or open() refused with `error`; -errno for other errors.
static int look_at_error(const char *path, int error, enum store_file_kind *kind) {
    struct stat status;
    switch (error) {
    case ENOENT:
        *kind = lstat(path, &status) == 0 ? STORE_FILE_DANGLING : STORE_FILE_MISSING;
        return 0;
    case EACCES:
        *kind = STORE_FILE_DENIED;
        return 0;
    default:
        return nvtxt_origin(-error);
    }
}

int store_file_look(const char *path, int newest, enum store_file_kind *kind, int *version) {
    unsigned char head[HEAD_BYTES];
    struct stat status;
    if (stat(path, &status) < 0) {
        return look_at_error(path, errno, kind);
    }
    if (!S_ISREG(status.st_mode)) {
        *kind = S_ISDIR(status.st_mode) ? STORE_FILE_FOLDER : STORE_FILE_DEVICE;
        return 0;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return look_at_error(path, errno, kind);
    }
    ssize_t got = pread(fd, head, sizeof(head), 0);
    int r = got < 0 ? nvtxt_origin(-errno) : 0;
    close(fd);
    *kind = got == 0            ? STORE_FILE_NEW
            : got == HEAD_BYTES ? kind_of_head(head, newest, version)
                                : STORE_FILE_NONE;
    return r;
}

int store_file_make(const char *path, uint32_t mode) {
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return errno == EEXIST ? 0 : nvtxt_origin(-errno);
    }
    int r = fchmod(fd, mode) < 0 ? nvtxt_origin(-errno) : 0; // whatever the umask says
    if (close(fd) < 0 && r == 0) {
        r = nvtxt_origin(-errno);
    }
    return r;
}

int store_file_errno(enum store_file_kind kind) {
    switch (kind) {
    case STORE_FILE_MISSING:
        return nvtxt_origin(-ENOENT);
    case STORE_FILE_DANGLING:
        return nvtxt_origin(-ENOLINK);
    case STORE_FILE_FOLDER:
        return nvtxt_origin(-EISDIR);
    case STORE_FILE_DEVICE:
        return nvtxt_origin(-EINVAL);
    case STORE_FILE_DENIED:
        return nvtxt_origin(-EACCES);
    default:
        return 0;
    }
}

bool store_file_is_cut(const char *path) {
    unsigned char head[STORE_FILE_HEAD_BYTES];
    char real[PATH_MAX];
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    bool is_short = pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
                    fstat(fd, &status) == 0 && status.st_size < store_file_claimed_bytes(head);
    close(fd);
    return is_short && realpath(path, real) && store_file_size(real, "-wal") <= 0 &&
           store_file_size(real, "-journal") <= 0;
}

void store_file_set_mode(const char *path, uint32_t mode) {
    char name[PATH_MAX];
    for (size_t i = 0; i < STORE_FILE_ENDINGS; i++) {
        if (store_file_name(name, path, store_file_endings[i]) == 0) {
            (void)!chmod(name, mode);
        }
    }
}

int store_file_set_group(const char *path, int64_t group) {
    char name[PATH_MAX];
    struct stat status;
    int r = 0;
    for (size_t i = 0; i < STORE_FILE_ENDINGS && group > 0; i++) {
        if (store_file_name(name, path, store_file_endings[i]) == 0 && stat(name, &status) == 0 &&
            status.st_gid != (gid_t)group && chown(name, (uid_t)-1, (gid_t)group) < 0) {
            r = nvtxt_origin(-errno);
        }
    }
    return r;
}
