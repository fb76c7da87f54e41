// SPDX-License-Identifier: Apache-2.0
//
// Memory is bounded by the limit that the system has for the data of a process (RLIMIT_DATA), which
// holds only while the library reads: it then finds that there is no memory, says so, and drops
// what it cannot hold. Nothing else of the program runs while the library reads; between two reads
// other connections may take memory of their own (pg.c then counts anew). Where the system does not
// say how much there is, only bytes are counted.
#include "ship/engine/wait.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rlimit usual; // of bound_leave()

// Bytes of data that this process has, stack included; 0: not known.
static int64_t data_of_process(void) {
#if HAS_ADDRESS_SANITIZER
    return 0; // its allocator ends a program that is short of memory
#else
    static int fd = -1; // stays open: rows of COPY ask often
    char text[128];
    long pages = 0;
    if (fd < 0) {
        fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    }
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    bool good = sscanf(text, "%*s %*s %*s %*s %*s %ld", &pages) == 1;
    return good ? (int64_t)pages * sysconf(_SC_PAGESIZE) : 0;
#endif
}

void bound_begin(struct bound *bound, int64_t bytes, int64_t memory) {
    *bound = (struct bound){.bytes = bytes, .memory = memory};
    bound_renew(bound);
}

void bound_renew(struct bound *bound) {
    int64_t data = data_of_process();
    bound->limit = data > 0 ? data + bound->memory : 0;
}

bool bound_enter(struct bound *bound, int fd) {
    int waiting = 0;
    if (ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0) {
        bound->came += waiting;
    }
    if (bound->came > bound->bytes) {
        return false;
    }
    bound_limit(bound);
    return true;
}

void bound_limit(const struct bound *bound) {
    bool is_known = bound->limit > 0 && getrlimit(RLIMIT_DATA, &usual) == 0;
    if (is_known && (rlim_t)bound->limit < usual.rlim_cur) {
        const struct rlimit low = {(rlim_t)bound->limit, usual.rlim_max};
        (void)setrlimit(RLIMIT_DATA, &low);
    }
}

void bound_leave(void) {
    if (usual.rlim_max > 0) {
        (void)setrlimit(RLIMIT_DATA, &usual);
    }
}
