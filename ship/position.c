// SPDX-License-Identifier: Apache-2.0
//
// Written beside its place, then renamed. It is not synced: a number that is too small after a
// power loss only makes the daemon keep more.
#include "ship/ship.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"

int position_write(const char *path, const char *store_id, uint64_t segment) {
    char temp[PATH_MAX], line[128];
    int len = snprintf(line, sizeof(line), "%s %" PRIu64 "\n", store_id, segment);
    if (snprintf(temp, sizeof(temp), "%s.new", path) >= (int)sizeof(temp)) {
        return nvtxt_origin(-ENAMETOOLONG);
    }
    struct stat status; // a file may be replaced, /dev/null may not
    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
        return nvtxt_origin(-EINVAL);
    }
    int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) {
        return nvtxt_origin(-errno);
    }
    errno = EIO;
    int r = write(fd, line, (size_t)len) == len ? 0 : nvtxt_origin(-errno);
    if (close(fd) != 0 && r == 0) {
        r = nvtxt_origin(-errno);
    }
    if (r == 0 && rename(temp, path) != 0) {
        r = nvtxt_origin(-errno);
    }
    if (r < 0) {
        unlink(temp);
    }
    return r;
}
