// SPDX-License-Identifier: Apache-2.0
//
// Copies the log first: what somebody moves from it into the main file meanwhile is in both copies
// then. The copy needs no -shm: without one SQLite finds out how much of the log is complete.
#include "store/lock/locks.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "protocol/base/origin.h"

#define AT_ONCE (1 << 30)

static int copy_bytes(int from, int to) {
    ssize_t n = 0;
    while ((n = copy_file_range(from, NULL, to, NULL, AT_ONCE, 0)) > 0 ||
           (n < 0 && errno == EINTR)) {
    }
    if (n == 0 && lseek(from, 0, SEEK_CUR) > 0) {
        return 0;
    }
    // A file system that cannot do it; some copy nothing and report no error.
    while ((n = sendfile(to, from, NULL, AT_ONCE)) > 0 || (n < 0 && errno == EINTR)) {
    }
    return n < 0 ? nvtxt_origin(-errno) : 0;
}

static int copy_file(const char *from, const char *to, const char *ending) {
    char source[PATH_MAX], target[PATH_MAX];
    if (snprintf(source, sizeof(source), "%s%s", from, ending) >= (int)sizeof(source) ||
        snprintf(target, sizeof(target), "%s%s", to, ending) >= (int)sizeof(target)) {
        return nvtxt_origin(-ENAMETOOLONG);
    }
    int in = open(source, O_RDONLY | O_CLOEXEC);
    if (in < 0) {
        return errno == ENOENT && *ending ? 0 : nvtxt_origin(-errno);
    }
    int out = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int r = out < 0 ? nvtxt_origin(-errno) : copy_bytes(in, out);
    if (out >= 0 && close(out) < 0 && r == 0) {
        r = nvtxt_origin(-errno);
    }
    close(in);
    return r;
}

int store_beside_copy(const char *segment, const char *copy) {
    int r = copy_file(segment, copy, "-wal");
    return r ?: copy_file(segment, copy, "");
}
