// SPDX-License-Identifier: Apache-2.0
//
// The kernel keeps the credentials of who connected. The process may be gone since, and another one
// may have its number: one that has started after the check began is not the peer.
#include "daemon/socket/refusals.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/clocks.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"

static int64_t ticks_now(void) {
    long per_second = sysconf(_SC_CLK_TCK);
    return per_second > 0 ? nvtxt_boottime_ns() / (1000000000 / per_second) : INT64_MAX;
}

// A process that started after the connection was made is not the peer: it has got the peer's
// number.
void peer_read_process(struct peer *peer) {
    struct process_stat stat = {0};
    int64_t now = ticks_now();
    if (peer->pid <= 0 || !process_read_stat(peer->pid, &stat) || stat.start > now) {
        return; // pid 0: a process of another pid namespace
    }
    peer->start = stat.start;
    memcpy(peer->comm, stat.comm, sizeof(peer->comm));
}

int peer_get(int fd, struct peer *peer) {
    struct ucred cred;
    socklen_t size = sizeof(cred);
    *peer = (struct peer){.pid = 0, .uid = -1, .gid = -1};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0) {
        return nvtxt_origin(-errno);
    }
    peer->pid = cred.pid;
    peer->uid = (int64_t)cred.uid;
    peer->gid = (int64_t)cred.gid;
    return 0;
}

bool peer_may_read(int fd) {
    struct pollfd poll_fd = {.fd = fd};
    return poll(&poll_fd, 1, 0) == 0; // poll() always reports POLLHUP and POLLERR
}
