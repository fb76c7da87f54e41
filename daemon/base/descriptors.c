// SPDX-License-Identifier: Apache-2.0
//
// The soft limit is raised to the hard one (RLIMIT_NOFILE); of that, a fixed number is reserved for
// everything but data connections and followed files.
#include "daemon/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

// For everything but data connections and followed files: files of the store, temporary files,
// descriptors of the loop, sockets, control connections.
#define RESERVED_DESCRIPTORS 160
#define FEWEST_CONNECTIONS 16

// For the store, the loop and a few connections.
#define LEAST_DESCRIPTORS 48

void descriptors_occupy(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            (void)!open("/dev/null", O_RDWR); // takes the lowest that is free: this one
        }
    }
}

static size_t raise_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
        return 1024;
    }
    rlim_t wanted = limit.rlim_max;
    if (limit.rlim_cur < wanted) {
        struct rlimit raised = {.rlim_cur = wanted, .rlim_max = wanted};
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
            limit.rlim_cur = wanted;
        }
    }
    return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : (size_t)limit.rlim_cur;
}

int descriptors_check(char *why, size_t size) {
    size_t descriptors = raise_limit();
    if (descriptors >= LEAST_DESCRIPTORS) {
        return 0;
    }
    snprintf(why, size,
             "the limit of %zu descriptors is too low (ulimit -n, LimitNOFILE=): nvtxtd needs at "
             "least %d",
             descriptors, LEAST_DESCRIPTORS);
    return EX_OSERR;
}

size_t descriptors_for_connections(void) {
    size_t descriptors = raise_limit();
    if (descriptors < RESERVED_DESCRIPTORS + FEWEST_CONNECTIONS) {
        return FEWEST_CONNECTIONS;
    }
    return descriptors - RESERVED_DESCRIPTORS;
}
