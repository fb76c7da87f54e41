// SPDX-License-Identifier: Apache-2.0
//
// close_range() with CLOSE_RANGE_UNSHARE copies the table and closes all of the copy: the thread
// has no descriptors, the others keep theirs. The locks that a process holds on files belong to the
// table, so they stay as well.
#include "lib/send/link.h"

#include <errno.h>
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

void link_init(struct link *link, int kept) {
    *link = (struct link){.fd = -1};
#ifdef SYS_close_range
    unsigned first = kept < 0 ? 0 : (unsigned)kept + 1;
    link->is_private = syscall(SYS_close_range, first, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0;
    if (link->is_private && kept > 0) {
        (void)syscall(SYS_close_range, 0, kept - 1, 0);
    }
#endif
}

int link_lift(int fd) {
    int lifted = fcntl(fd, F_DUPFD_CLOEXEC, LINK_LOWEST);
    if (lifted < 0) {
        return fd;
    }
    close(fd);
    return lifted;
}

static int remember(struct link *link) {
    struct stat what;
    if (fstat(link->fd, &what) < 0) {
        return -errno;
    }
    link->device = what.st_dev;
    link->inode = what.st_ino;
    return 0;
}

// Whether the number still stands for our socket.
static bool is_ours(struct link *link) {
    struct stat what;
    if (link->is_private) {
        return true;
    }
    bool ours =
        fstat(link->fd, &what) == 0 && what.st_dev == link->device && what.st_ino == link->inode;
    if (!ours) {
        link->fd = -1; // somebody else's now: it is not closed
    }
    return ours;
}

int link_connect(struct link *link, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof(address.sun_path)) {
        return -ENAMETOOLONG;
    }
    memcpy(address.sun_path, path, len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -errno;
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        int r = -errno;
        close(fd);
        return r;
    }
    link->fd = link->is_private ? fd : link_lift(fd);
    int r = remember(link);
    if (r < 0) {
        link_close(link);
    }
    return r;
}

static ssize_t result(struct link *link, ssize_t bytes) {
    if (bytes > 0) {
        return bytes;
    }
    int r = bytes == 0 ? -EPIPE : -errno;
    if (r == -EAGAIN || r == -EINTR) {
        return 0;
    }
    link_close(link);
    return r;
}

ssize_t link_send(struct link *link, const char *data, size_t len) {
    return is_ours(link) ? result(link, send(link->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT))
                         : -EPIPE;
}

ssize_t link_receive(struct link *link, char *to, size_t size) {
    return is_ours(link) ? result(link, recv(link->fd, to, size, MSG_DONTWAIT)) : -EPIPE;
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
