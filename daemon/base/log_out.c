// SPDX-License-Identifier: Apache-2.0
//
// The flags of the descriptor stay as they are, because other processes may share it (the shell has
// the same terminal). So each kind is written in its own way: a socket with MSG_DONTWAIT, a pipe or
// a terminal through a second, non-blocking descriptor from /proc/self/fd. Where that cannot be
// opened, poll() says before each write whether the pipe has a free page.
#include "daemon/base/log_out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/clocks.h"
#include "protocol/base/clock.h"

static size_t waiting(const struct log_out *out) {
    return out->end - out->start;
}

static bool is_writable(int fd, int ms) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    return poll(&poll_fd, 1, ms) > 0;
}

// A pipe that is writable takes PIPE_BUF bytes at once: see pipe(7); poll(2) of Linux looks for a
// free page.
static ssize_t write_some(const struct log_out *out) {
    const char *data = out->data + out->start;
    size_t len = waiting(out);
    if (out->how == LOG_OUT_SENT) {
        return send(out->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (out->how == LOG_OUT_WRITTEN) {
        return write(out->fd, data, len);
    }
    if (!is_writable(out->fd, 0)) {
        errno = EAGAIN;
        return -1;
    }
    return write(out->fd, data, len < PIPE_BUF ? len : PIPE_BUF);
}

static void drop_all(struct log_out *out) {
    for (size_t i = out->start; i < out->end; i++) {
        out->lost += out->data[i] == '\n';
    }
    out->start = out->end = 0;
}

static void push(struct log_out *out) {
    while (waiting(out) > 0) {
        ssize_t n = write_some(out);
        if (n > 0) {
            out->start += (size_t)n;
        } else if (n == 0 || errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            drop_all(out); // no reader, or no room on the disk
        }
    }
    out->start = out->end = 0;
}

static bool has_room(struct log_out *out, size_t len) {
    if (out->start > 0 && LOG_OUT_BYTES - out->end < len) {
        memmove(out->data, out->data + out->start, waiting(out));
        out->end -= out->start;
        out->start = 0;
    }
    return LOG_OUT_BYTES - out->end >= len;
}

static void add_line(struct log_out *out, const char *line, size_t len) {
    memcpy(out->data + out->end, line, len);
    out->end += len;
}

// Adds the line about lost lines, in their place.
static void add_lost_line(struct log_out *out) {
    char line[256];
    if (out->lost == 0 || !has_room(out, sizeof(line))) {
        return;
    }
    add_line(out, line, out->format_lost(line, sizeof(line), out->lost));
    out->lost = 0;
}

static void wake(struct log_out *out) {
    if (waiting(out) > 0 && out->on_wait) {
        out->on_wait(out->context);
    }
}

void log_out_write(struct log_out *out, const char *line, size_t len) {
    pthread_mutex_lock(&out->lock);
    add_lost_line(out);
    if (out->lost == 0 && has_room(out, len)) {
        add_line(out, line, len);
    } else {
        out->lost++;
    }
    push(out);
    wake(out);
    pthread_mutex_unlock(&out->lock);
}

bool log_out_retry(struct log_out *out) {
    pthread_mutex_lock(&out->lock);
    push(out);
    if (waiting(out) == 0 && out->lost > 0) {
        add_lost_line(out);
        push(out);
    }
    bool still = waiting(out) > 0;
    pthread_mutex_unlock(&out->lock);
    return still;
}

void log_out_drain(struct log_out *out, int ms) {
    int64_t end = nvtxt_monotonic_ns() + (int64_t)ms * 1000000, now;
    while (log_out_retry(out) && (now = nvtxt_monotonic_ns()) < end) {
        is_writable(out->fd, (int)((end - now) / 1000000) + 1);
    }
}

void log_out_set_waker(struct log_out *out, void (*on_wait)(void *context), void *context) {
    pthread_mutex_lock(&out->lock);
    out->on_wait = on_wait;
    out->context = context;
    wake(out);
    pthread_mutex_unlock(&out->lock);
}

static int open_again(int fd) {
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void log_out_open(struct log_out *out) {
    struct stat stat;
    if (fstat(out->fd, &stat) < 0) {
        return;
    }
    pthread_mutex_lock(&out->lock);
    if (S_ISSOCK(stat.st_mode)) {
        out->how = LOG_OUT_SENT;
    } else if (S_ISFIFO(stat.st_mode) || isatty(out->fd)) {
        int fd = open_again(out->fd);
        if (fd >= 0) {
            out->how = LOG_OUT_WRITTEN;
            out->own = true;
            out->fd = fd;
        }
    } else {
        out->how = LOG_OUT_WRITTEN;
    }
    pthread_mutex_unlock(&out->lock);
}

void log_out_close(struct log_out *out) {
    if (out->own) {
        close(out->fd);
    }
    out->own = false;
}
