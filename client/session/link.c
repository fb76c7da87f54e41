// SPDX-License-Identifier: Apache-2.0
//
// A Unix socket that never blocks. A write that fails does not end the connection: the daemon may
// have written why before it closed, and that is read first. Only a read finds the end.
#include "client/session/link.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/base/origin.h"

void link_init(struct link *link, const char *path) {
    *link = (struct link){.path = path, .fd = -1};
}

void link_close(struct link *link) {
    if (link->fd >= 0) {
        close(link->fd);
    }
    link->fd = -1;
    link->blocked = link->write_failed = false;
}

int link_connect(struct link *link) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(link->path);
    if (len >= sizeof(address.sun_path)) {
        return nvtxt_origin(-ENAMETOOLONG);
    }
    memcpy(address.sun_path, link->path, len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return nvtxt_origin(-errno);
    }
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        int error = errno;
        close(fd);
        return error == EAGAIN ? LINK_FULL : nvtxt_origin(-error);
    }
    link->fd = fd;
    link->blocked = link->write_failed = false;
    return 0;
}

void link_worked(struct link *link) {
    link->failures = 0;
}

void link_back_off(struct link *link, int64_t now_ms) {
    int64_t delay = 0;
    if (link->failures > 0) {
        unsigned doublings = link->failures - 1 < 16 ? link->failures - 1 : 16;
        delay = (int64_t)LINK_DELAY_FIRST_MS << doublings;
        delay = delay < LINK_DELAY_MOST_MS ? delay : LINK_DELAY_MOST_MS;
        uint32_t random = 0;
        if (getrandom(&random, sizeof(random), GRND_NONBLOCK) == (ssize_t)sizeof(random)) {
            delay -= (int64_t)(random % (uint32_t)(delay / 2 + 1));
        }
    }
    link->failures++;
    link->next_ms = now_ms + delay;
}

// The state is the letter after the name, which stands in brackets and may hold brackets.
bool link_is_stopped(const struct link *link) {
    struct ucred peer;
    socklen_t size = sizeof(peer);
    char text[256];
    if (link->fd < 0 || getsockopt(link->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        return false;
    }
    snprintf(text, sizeof(text), "/proc/%d/stat", (int)peer.pid);
    int fd = open(text, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) {
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    const char *state = strrchr(text, ')');
    return state && state[1] == ' ' && (state[2] == 'T' || state[2] == 't');
}

size_t link_write(struct link *link, const struct iovec *pieces, int count) {
    if (link->blocked || link->write_failed) {
        return 0;
    }
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)pieces,
                             .msg_iovlen = (size_t)count};
    ssize_t n = sendmsg(link->fd, &message, MSG_NOSIGNAL);
    if (n >= 0) {
        return (size_t)n;
    }
    if (errno == EAGAIN || errno == ENOBUFS) {
        link->blocked = true;
    } else if (errno != EINTR) {
        link->write_failed = true;
    }
    return 0;
}

int link_read(struct link *link, char *data, size_t size, size_t *got) {
    ssize_t n;
    do {
        n = recv(link->fd, data, size, 0);
    } while (n < 0 && errno == EINTR);
    *got = n > 0 ? (size_t)n : 0;
    if (n < 0) {
        return errno == EAGAIN ? LINK_NOTHING : nvtxt_origin(-errno);
    }
    return n > 0 ? 0 : LINK_END;
}
