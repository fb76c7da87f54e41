// SPDX-License-Identifier: Apache-2.0
//
// Reads the 100-byte header and the head of the first page as the SQLite file format lays them out
// (https://www.sqlite.org/fileformat2.html): magic, page size at 16 (1: 65536), number of pages at
// 28, which is right when the numbers of changes at 24 and 92 are the same, user_version at 60,
// application_id at 68, and the root of sqlite_schema at 100 (type, then at +3 the number of
// cells).
#include "store/db/header.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db/schema.h"

#define HEAD_BYTES (STORE_FILE_HEAD_BYTES + 8)
#define MAGIC "SQLite format 3"
#define INTERIOR_TABLE_PAGE 5
#define LARGEST_PAGE 65536

const char *const store_file_endings[STORE_FILE_ENDINGS] = {"", "-wal", "-shm"};

int store_file_name(char *name, const char *path, const char *ending) {
    return snprintf(name, PATH_MAX, "%s%s", path, ending) < PATH_MAX ? 0 : -ENAMETOOLONG;
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

int64_t store_file_claimed(const unsigned char *head) {
    int64_t page = head[16] << 8 | head[17];
    bool says = read_u32(head + 24) == read_u32(head + 92); // changed by who knows of the number
    return says ? (int64_t)read_u32(head + 28) * (page == 1 ? LARGEST_PAGE : page) : 0;
}

static enum store_file_kind kind_of_head(const unsigned char *head, int newest) {
    if (memcmp(head, MAGIC, sizeof(MAGIC)) != 0) {
        return STORE_FILE_NONE;
    }
    uint32_t application = read_u32(head + 68);
    uint32_t version = read_u32(head + 60);
    bool has_tables = head[100] == INTERIOR_TABLE_PAGE || head[103] != 0 || head[104] != 0;
    if (application == STORE_APPLICATION_ID) {
        return version > (uint32_t)newest ? STORE_FILE_NEWER : STORE_FILE_STORE;
    }
    return application == 0 && !has_tables ? STORE_FILE_UNSURE : STORE_FILE_FOREIGN;
}

static int look(const char *path, int newest, enum store_file_kind *kind) {
    struct stat status;
    if (stat(path, &status) < 0) {
        int error = -errno;
        return error == -ENOENT && lstat(path, &status) == 0 ? -ENOLINK : error;
    }
    if (!S_ISREG(status.st_mode)) {
        return S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    unsigned char head[HEAD_BYTES];
    ssize_t got = pread(fd, head, sizeof(head), 0);
    int error = got < 0 ? -errno : 0;
    close(fd);
    if (error < 0) {
        return error;
    }
    if (got == 0) {
        *kind = STORE_FILE_NEW;
    } else {
        *kind = got == HEAD_BYTES ? kind_of_head(head, newest) : STORE_FILE_NONE;
    }
    return 0;
}

int store_file_prepare(const char *path, bool must_exist, uint32_t mode, int newest,
                       enum store_file_kind *kind) {
    int rc = look(path, newest, kind);
    if (rc != -ENOENT || must_exist) {
        return rc;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return errno == EEXIST ? look(path, newest, kind) : -errno;
    }
    rc = fchmod(fd, mode) < 0 ? -errno : 0; // whatever the umask says
    if (close(fd) < 0 && rc == 0) {
        rc = -errno;
    }
    *kind = STORE_FILE_NEW;
    return rc;
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
                    fstat(fd, &status) == 0 && status.st_size < store_file_claimed(head);
    close(fd);
    return is_short && realpath(path, real) && store_file_size(real, "-wal") <= 0 &&
           store_file_size(real, "-journal") <= 0;
}

void store_file_allow(const char *path, uint32_t mode) {
    char name[PATH_MAX];
    for (size_t i = 0; i < STORE_FILE_ENDINGS; i++) {
        if (store_file_name(name, path, store_file_endings[i]) == 0) {
            (void)!chmod(name, mode);
        }
    }
}

int store_file_give(const char *path, int64_t group) {
    char name[PATH_MAX];
    struct stat status;
    int r = 0;
    for (size_t i = 0; i < STORE_FILE_ENDINGS && group > 0; i++) {
        if (store_file_name(name, path, store_file_endings[i]) == 0 && stat(name, &status) == 0 &&
            status.st_gid != (gid_t)group && chown(name, (uid_t)-1, (gid_t)group) < 0) {
            r = -errno;
        }
    }
    return r;
}
