// SPDX-License-Identifier: Apache-2.0
#include "client/ctl/ctl_metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "client/common/term.h"

#define FILE_MODE 0644 // the collector is another user

static int write_file(int fd, const char *text) {
    size_t len = strlen(text);
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -errno;
        }
        text += n;
        len -= (size_t)n;
    }
    return fchmod(fd, FILE_MODE) == 0 ? 0 : -errno; // whatever the umask is
}

// Beside its place, renamed at the end: a reader sees the old file or the new one.
static int put(const char *path, const char *text) {
    char temp[PATH_MAX];
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return -EEXIST;
    }
    if (snprintf(temp, sizeof(temp), "%s.XXXXXX", path) >= (int)sizeof(temp)) {
        return -ENAMETOOLONG;
    }
    int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    int result = write_file(fd, text);
    if (close(fd) != 0 && result == 0) {
        result = -errno;
    }
    if (result == 0 && rename(temp, path) != 0) {
        result = -errno;
    }
    if (result < 0) {
        unlink(temp);
    }
    return result;
}

int ctl_metrics_print(struct term *term, const json_t *result, const char *output) {
    const char *text = json_string_value(json_object_get(result, "text"));
    if (!text) {
        term_say(term, "the daemon's answer is not understood");
        return EX_PROTOCOL;
    }
    if (!output) {
        if (fputs(text, stdout) >= 0 && fflush(stdout) == 0) {
            return 0;
        }
        term_say(term, "cannot write: %s", strerror(errno));
        return EX_IOERR;
    }
    int failure = put(output, text);
    if (failure == -EEXIST) {
        term_say(term, "%s is no regular file; it is not replaced", output);
        return EX_CANTCREAT;
    }
    if (failure < 0) {
        term_say(term, "cannot write %s: %s", output, strerror(-failure));
        return failure == -ENOSPC || failure == -EIO ? EX_IOERR : EX_CANTCREAT;
    }
    return 0;
}
