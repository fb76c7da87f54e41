// SPDX-License-Identifier: Apache-2.0
//
// A request is written whole before its answer is read. poll(2) waits for the answer, and beside it
// for the descriptors that end the wait.
#include "client/locate/control_link.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/base/origin.h"

void control_link_init(struct control_link *link, const char *path) {
    *link = (struct control_link){.path = path, .fd = -1, .watched = {-1, -1}, .passed = -1};
}

const char *control_link_why(int r) {
    static const char *const reasons[] = {
        [CONTROL_LINK_FULL] = "its queue of connections is full",
        [CONTROL_LINK_CLOSED] = "it closed the connection",
        [CONTROL_LINK_BAD_ANSWER] = "its answer is not understood",
        [CONTROL_LINK_GIVEN_UP] = "the wait was given up",
        [CONTROL_LINK_TIMEOUT] = "it does not answer",
    };
    return r > 0 ? reasons[r] : strerror(-r);
}

int control_link_open(struct control_link *link, bool wait) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(link->path);
    if (len >= sizeof(address.sun_path)) {
        return nvtxt_origin(-ENAMETOOLONG);
    }
    memcpy(address.sun_path, link->path, len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (wait ? 0 : SOCK_NONBLOCK), 0);
    if (fd < 0) {
        return nvtxt_origin(-errno);
    }
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
        int error = errno;
        close(fd);
        return error == EAGAIN ? CONTROL_LINK_FULL : nvtxt_origin(-error);
    }
    link->fd = fd;
    return 0;
}

void control_link_close(struct control_link *link) {
    if (link->fd >= 0) {
        close(link->fd);
    }
    link->fd = -1;
    nvtxt_buf_deinit(&link->line);
}

// The descriptor that is passed goes with the first byte.
static ssize_t write_some(struct control_link *link, const char *data, size_t len) {
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } room = {.bytes = {0}};
    struct iovec bytes = {(char *)(uintptr_t)data, len};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (link->passed >= 0) {
        message.msg_control = room.bytes;
        message.msg_controllen = sizeof(room.bytes);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &link->passed, sizeof(int));
    }
    ssize_t n = sendmsg(link->fd, &message, MSG_NOSIGNAL);
    link->passed = n > 0 ? -1 : link->passed;
    return n;
}

// Returns 0, CONTROL_LINK_CLOSED or -errno.
static int write_all(struct control_link *link, const char *data, size_t len) {
    while (len > 0) {
        ssize_t n = write_some(link, data, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno == EPIPE ? CONTROL_LINK_CLOSED : nvtxt_origin(-errno);
        }
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

// Waits until the socket is readable. Returns 0, CONTROL_LINK_GIVEN_UP, CONTROL_LINK_TIMEOUT or
// -errno.
static int wait_for(const struct control_link *link, int timeout_ms) {
    struct pollfd fds[1 + CONTROL_LINK_WATCHED] = {{.fd = link->fd, .events = POLLIN}};
    for (int i = 0; i < CONTROL_LINK_WATCHED; i++) {
        fds[1 + i] = (struct pollfd){.fd = link->watched[i], .events = POLLIN};
    }
    int ready = poll(fds, 1 + CONTROL_LINK_WATCHED, timeout_ms);
    if (ready < 0) {
        return errno == EINTR ? 0 : nvtxt_origin(-errno);
    }
    for (int i = 0; i < CONTROL_LINK_WATCHED; i++) {
        if (fds[1 + i].revents) {
            return CONTROL_LINK_GIVEN_UP;
        }
    }
    return ready == 0 ? CONTROL_LINK_TIMEOUT : 0;
}

// Reads up to the first LF, which the line is without. Returns as control_link_ask().
static int read_line(struct control_link *link, int timeout_ms) {
    for (;;) {
        char chunk[16384];
        int r = wait_for(link, timeout_ms);
        if (r != 0) {
            return r;
        }
        ssize_t n = recv(link->fd, chunk, sizeof(chunk), MSG_DONTWAIT);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (n <= 0) {
            return n < 0 ? nvtxt_origin(-errno) : CONTROL_LINK_CLOSED;
        }
        const char *end = memchr(chunk, '\n', (size_t)n);
        nvtxt_buf_add(&link->line, chunk, end ? (size_t)(end - chunk) : (size_t)n);
        if (nvtxt_buf_failed(&link->line)) {
            return nvtxt_origin(-ENOMEM);
        }
        if (end) {
            return 0;
        }
    }
}

int control_link_exchange(struct control_link *link, struct nvtxt_slice bytes, int timeout_ms) {
    nvtxt_buf_clear(&link->line);
    int r = write_all(link, bytes.data, bytes.len);
    // A daemon that refuses without reading has written why before it closed.
    return r == 0 || r == CONTROL_LINK_CLOSED ? read_line(link, timeout_ms) : r;
}

int control_link_ask(struct control_link *link, const char *command, json_t *arguments,
                     int timeout_ms, struct nvtxt_ctl_reply *reply) {
    struct nvtxt_buf request = {0};
    *reply = (struct nvtxt_ctl_reply){0};
    nvtxt_ctl_request_format(&request, 1, command, arguments);
    int r = nvtxt_buf_failed(&request)
                ? nvtxt_origin(-ENOMEM)
                : control_link_exchange(link, (struct nvtxt_slice){request.data, request.len},
                                        timeout_ms);
    nvtxt_buf_deinit(&request);
    if (r == 0 &&
        nvtxt_ctl_reply_parse((struct nvtxt_slice){link->line.data, link->line.len}, reply) != 0) {
        r = CONTROL_LINK_BAD_ANSWER;
    }
    return r;
}
