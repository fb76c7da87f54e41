// SPDX-License-Identifier: Apache-2.0
//
// Many connections from one process: each gets the same number of events, and all of them are fed
// as fast as the daemon reads. A session is over when the daemon has sent `end`, which means
// committed; a plain connection is over when the daemon has closed it.
//
//   drive SOCKET KIND EVENTS CONNECTIONS session|plain
//
// prints when the first connection was made and when the last was over, in seconds of the monotonic
// clock. The lines are made before that.
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#include "bench/workload.h"
#include "protocol/wire/hello.h"

#define USAGE "drive SOCKET KIND EVENTS CONNECTIONS session|plain"
#define WRITE_BYTES ((size_t)64 << 10) // of one connection, then the next one writes
#define TAIL_BYTES 1024                // of the last replies of a session

struct drive {
    int fd;
    struct workload_text text;
    size_t written;
    char tail[2 * TAIL_BYTES + 1];
    size_t tail_len;
};

static void append(struct workload_text *text, struct workload_text more) {
    char *data = realloc(text->data, text->len + more.len + 1);
    if (!data) {
        err(EX_OSERR, "memory");
    }
    text->data = data;
    memcpy(data + text->len, more.data, more.len);
    text->len += more.len;
    free(more.data);
}

static void make_text(struct drive *drive, enum workload_kind kind, uint64_t first, uint64_t count,
                      unsigned number, bool session) {
    if (session) {
        append(&drive->text, workload_hello(number));
    }
    append(&drive->text, workload_head(kind));
    append(&drive->text, workload_lines(kind, first, count));
    if (session) {
        const char *end = NVTXT_END_LINE "\n";
        append(&drive->text, (struct workload_text){strdup(end), strlen(end), 0});
    }
}

static void write_some(struct drive *drive, int epoll, bool session) {
    size_t left = drive->text.len - drive->written;
    ssize_t n = send(drive->fd, drive->text.data + drive->written,
                     left < WRITE_BYTES ? left : WRITE_BYTES, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) {
        err(EX_IOERR, "a connection broke after %zu bytes", drive->written);
    }
    drive->written += n > 0 ? (size_t)n : 0;
    if (drive->written == drive->text.len) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = drive};
        epoll_ctl(epoll, EPOLL_CTL_MOD, drive->fd, &event);
        if (!session) {
            shutdown(drive->fd, SHUT_WR);
        }
    }
}

// Returns true at the end of the connection.
static bool read_some(struct drive *drive) {
    ssize_t n = read(drive->fd, drive->tail + drive->tail_len, TAIL_BYTES);
    if (n < 0 && errno != EAGAIN) {
        err(EX_IOERR, "a connection broke");
    }
    drive->tail_len += n > 0 ? (size_t)n : 0;
    if (drive->tail_len > TAIL_BYTES) {
        size_t cut = drive->tail_len - TAIL_BYTES;
        memmove(drive->tail, drive->tail + cut, TAIL_BYTES);
        drive->tail_len = TAIL_BYTES;
    }
    return n == 0;
}

static void finish(struct drive *drive, bool session) {
    drive->tail[drive->tail_len] = 0;
    if (session && !strstr(drive->tail, "\"type\":\"end\"")) {
        errx(EX_PROTOCOL, "a session was closed before its end: %s", drive->tail);
    }
    close(drive->fd);
    free(drive->text.data);
}

static void open_all(struct drive *drives, size_t count, const char *path, int epoll) {
    for (size_t i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = &drives[i]};
        drives[i].fd = workload_connect(path);
        if (fcntl(drives[i].fd, F_SETFL, O_NONBLOCK) < 0 ||
            epoll_ctl(epoll, EPOLL_CTL_ADD, drives[i].fd, &event) < 0) {
            err(EX_OSERR, "connection %zu", i);
        }
    }
}

static void run(int epoll, size_t count, bool session) {
    struct epoll_event events[64];
    while (count > 0) {
        int ready = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            struct drive *drive = events[i].data.ptr;
            if (events[i].events & EPOLLOUT && drive->written < drive->text.len) {
                write_some(drive, epoll, session);
            }
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR) && read_some(drive)) {
                finish(drive, session);
                count--;
            }
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 6) {
        errx(EX_USAGE, "usage: %s", USAGE);
    }
    enum workload_kind kind = workload_kind_of(argv[2]);
    uint64_t events = workload_number(argv[3], USAGE);
    uint64_t count = workload_number(argv[4], USAGE);
    bool session = strcmp(argv[5], "session") == 0;
    struct drive *drives = calloc(count, sizeof(*drives));
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!drives || epoll < 0) {
        err(EX_OSERR, "%s connections", argv[4]);
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t first = events * i / count;
        make_text(&drives[i], kind, first, events * (i + 1) / count - first, (unsigned)i, session);
    }
    double started = workload_seconds();
    open_all(drives, count, argv[1], epoll);
    run(epoll, count, session);
    printf("%.6f %.6f\n", started, workload_seconds());
    free(drives);
    return 0;
}
