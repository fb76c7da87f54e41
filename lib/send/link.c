// SPDX-License-Identifier: Apache-2.0
//
// close_range() with CLOSE_RANGE_UNSHARE copies the table and closes all of the copy: the thread
// has no descriptors, the others keep theirs. The locks that a process holds on files belong to the
// table, so they stay as well.
#include "lib/send/link.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/base/origin.h"

void link_init(struct link *link, bool keeps_stderr) {
    *link = (struct link){.fd = -1};
    (void)keeps_stderr;
#if defined(SYS_close_range) && !defined(__SANITIZE_THREAD__) // it knows of one table only
    unsigned first = keeps_stderr ? STDERR_FILENO + 1 : 0;
    link->is_private = syscall(SYS_close_range, first, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0;
    if (link->is_private && keeps_stderr) {
        (void)syscall(SYS_close_range, 0, STDERR_FILENO - 1, 0);
    }
#endif
}

// Moves a descriptor of the program's table out of its way, or closes it.
static int lift(int fd) {
    int lifted = fcntl(fd, F_DUPFD_CLOEXEC, LINK_LOWEST);
    int r = lifted < 0 ? nvtxt_origin(-errno) : lifted;
    close(fd);
    return r;
}

static int remember(struct link *link) {
    struct stat what;
    if (fstat(link->fd, &what) < 0) {
        return nvtxt_origin(-errno);
    }
    link->device = what.st_dev;
    link->inode = what.st_ino;
    return 0;
}

// Whether the number still stands for our socket.
static bool is_ours(struct link *link) {
    struct stat what;
    if (link->is_private || link->fd < 0) {
        return link->fd >= 0;
    }
    bool ours =
        fstat(link->fd, &what) == 0 && what.st_dev == link->device && what.st_ino == link->inode;
    if (!ours) {
        link->fd = -1; // somebody else's now: it is not closed
        errno = EBADF;
    }
    return ours;
}

int link_connect(struct link *link, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof(address.sun_path)) {
        return nvtxt_origin(-ENAMETOOLONG);
    }
    memcpy(address.sun_path, path, len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return nvtxt_origin(-errno);
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        int r = nvtxt_origin(-errno);
        close(fd);
        return r;
    }
    link->fd = link->is_private ? fd : lift(fd);
    int r = link->fd < 0 ? link->fd : remember(link);
    if (r < 0) {
        link_close(link);
    }
    return r;
}

ssize_t link_send(struct link *link, const char *data, size_t len) {
    ssize_t sent = is_ours(link) ? send(link->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
    if (sent < 0 && errno != EAGAIN && errno != EINTR && errno != EPIPE && errno != ECONNRESET) {
        link_close(link); // what the daemon said before it closed can still be read
    }
    return sent < 0 ? 0 : sent;
}

ssize_t link_receive(struct link *link, char *to, size_t size) {
    ssize_t got = is_ours(link) ? recv(link->fd, to, size, MSG_DONTWAIT) : -1;
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) {
        return got > 0 ? got : 0;
    }
    link_close(link);
    return nvtxt_origin(-EPIPE);
}

void link_wait(struct link *link, bool to_send, int timeout_ms) {
    struct pollfd wanted = {.fd = link->fd, .events = (short)(POLLIN | (to_send ? POLLOUT : 0))};
    poll(&wanted, 1, timeout_ms);
}

void link_close(struct link *link) {
    if (link->fd >= 0 && is_ours(link)) {
        close(link->fd);
    }
    link->fd = -1;
}
