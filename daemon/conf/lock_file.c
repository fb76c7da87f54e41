// SPDX-License-Identifier: Apache-2.0
//
// The file is locked with flock(2), which the kernel releases when the process dies. The number of
// the process in it is only for people. The file is removed while it is locked, so whoever gets the
// lock looks whether the path still names the same file, and else begins again.
#include "daemon/conf/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "store/segment/segments.h"

static bool is_same_file(const char *path, int fd) {
    struct stat held, named;
    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

static void who_holds(int fd, char *who, size_t size) {
    char pid[32] = "";
    ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);
    if (n > 0) {
        pid[strcspn(pid, "\n")] = '\0';
    }
    snprintf(who, size, *pid ? " (process %s)" : "%s", pid);
}

int lock_file_take(const char *path, const char *what, char *why, size_t size) {
    char name[PATH_MAX], who[64];
    snprintf(name, sizeof(name), "%s.lock", path);
    for (;;) {
        int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
            int error = errno;
            const char *wrong = error == ENOENT   ? "its folder does not exist"
                                : error == EACCES ? "its folder cannot be written"
                                                  : "its lock file cannot be created";
            snprintf(why, size,
                     "the %s '%s' cannot be used: %s: %s; correct that, or name another path", what,
                     path, wrong, strerror(error));
            return -1;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
            who_holds(fd, who, sizeof(who));
            snprintf(why, size, "another nvtxtd%s uses the %s '%s'", who, what, path);
            close(fd);
            return -1;
        }
        if (!is_same_file(name, fd)) { // its last holder has removed it meanwhile
            close(fd);
            continue;
        }
        int len = snprintf(who, sizeof(who), "%d\n", (int)getpid());
        bool named = ftruncate(fd, 0) == 0 && pwrite(fd, who, (size_t)len, 0) == len;
        (void)named; // it is only for people
        return fd;
    }
}

// Whether another process has the lock of the store at `path`, and which. A user who may not open
// the lock file may not write there either.
static bool is_held(const char *path, char *who, size_t size) {
    char name[PATH_MAX];
    if (snprintf(name, sizeof(name), "%s.lock", path) >= (int)sizeof(name)) {
        return false;
    }
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return false;
    }
    bool held = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (held) {
        who_holds(fd, who, size);
    }
    close(fd);
    return held;
}

int lock_file_check_segment(const char *store, char *why, size_t size) {
    static const char *const endings[] = {".sqlite", ""};
    char stem[PATH_MAX], path[PATH_MAX + 8], who[64];
    if (!store_segments_stem(store, stem)) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", stem, endings[i]);
        if (is_held(path, who, sizeof(who))) {
            snprintf(why, size,
                     "another nvtxtd%s uses the store '%s', of which '%s' is a segment: "
                     "name another store",
                     who, path, store);
            return EX_CANTCREAT;
        }
    }
    return 0;
}

bool lock_file_is_ours(const char *path, int fd) {
    char name[PATH_MAX];
    snprintf(name, sizeof(name), "%s.lock", path);
    return is_same_file(name, fd);
}

void lock_file_release(const char *path, int fd) {
    char name[PATH_MAX];
    if (fd < 0) {
        return;
    }
    snprintf(name, sizeof(name), "%s.lock", path);
    if (is_same_file(name, fd)) { // else somebody removed ours, and another daemon has its own
        unlink(name);             // before the lock is released: nobody else can have it
    }
    close(fd);
}
