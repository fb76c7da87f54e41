// SPDX-License-Identifier: Apache-2.0
//
// The kernel keeps the credentials of who connected. The process may be gone since, and another one
// may have its number: one that has started after the check began is not the peer.
#include "daemon/socket/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/clocks.h"

static ssize_t read_stat(int64_t pid, char *buffer, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    ssize_t n = read(fd, buffer, size - 1);
    close(fd);
    if (n >= 0) {
        buffer[n] = '\0';
    }
    return n;
}

// Field 22 of proc(5)'s stat: when the process started, in clock ticks since boot. `after_comm`
// points to the byte after the closing parenthesis: field 3 is next. Returns -1 if it is missing.
static int64_t start_ticks(const char *after_comm) {
    const char *at = after_comm;
    for (int field = 2; field < 22; field++) {
        at = strchr(at, ' ');
        if (!at) {
            return -1;
        }
        at++;
    }
    int64_t ticks = 0;
    const char *first = at;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(ticks, 10, &ticks) ||
            __builtin_add_overflow(ticks, *at - '0', &ticks)) {
            return -1;
        }
    }
    return at == first ? -1 : ticks;
}

static int64_t ticks_now(void) {
    long per_second = sysconf(_SC_CLK_TCK);
    return per_second > 0 ? clocks_boottime_ns() / (1000000000 / per_second) : INT64_MAX;
}

// Name and start time are in one file, so they are of one process. A process that started after the
// connection was made is not the peer: it has got the peer's number.
static void read_process(struct peer *peer) {
    char stat[1024];
    int64_t now = ticks_now();
    if (read_stat(peer->pid, stat, sizeof(stat)) <= 0) {
        return;
    }
    const char *open = strchr(stat, '(');
    const char *close = strrchr(stat, ')');
    if (!open || !close || close <= open) {
        return;
    }
    int64_t started = start_ticks(close + 1);
    if (started < 0 || started > now) {
        return;
    }
    peer->start = started;
    size_t len = (size_t)(close - open - 1);
    if (len >= sizeof(peer->comm)) {
        len = sizeof(peer->comm) - 1;
    }
    memcpy(peer->comm, open + 1, len);
    peer->comm[len] = '\0';
}

int peer_get(int fd, struct peer *peer) {
    struct ucred cred;
    socklen_t size = sizeof(cred);
    *peer = (struct peer){.pid = 0, .uid = -1, .gid = -1};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0) {
        return -errno;
    }
    peer->pid = cred.pid;
    peer->uid = (int64_t)cred.uid;
    peer->gid = (int64_t)cred.gid;
    return 0;
}

void peer_read_process(struct peer *peer) {
    if (peer->pid > 0) { // 0: a process of another pid namespace
        read_process(peer);
    }
}

bool peer_may_read(int fd) {
    struct pollfd poll_fd = {.fd = fd};
    return poll(&poll_fd, 1, 0) == 0; // poll() always reports POLLHUP and POLLERR
}
