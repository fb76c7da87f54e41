// SPDX-License-Identifier: Apache-2.0
#include "daemon/listener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/log.h"

#define BACKLOG 4096 // cut to net.core.somaxconn by the kernel

// Long enough to be no load, short enough for a peer that waits.
#define MEMORY_RETRY_MS 100

static void on_again(uv_timer_t *timer);

static void try_accept(struct listener *listener) {
    int r = listener->on_connection(listener);
    listener->waiting = r != 0;
    if (r < 0)
        uv_timer_start(&listener->again, on_again, MEMORY_RETRY_MS, 0);
}

static void on_again(uv_timer_t *timer) {
    listener_go_on(timer->data);
}

static void on_connection(uv_stream_t *stream, int status) {
    struct listener *listener = stream->data;
    if (status < 0) {
        static struct log_limit limit;
        log_limited(&limit, LOG_LEVEL_WARNING, "a connection could not be accepted: %s",
                    uv_strerror(status));
        return;
    }
    try_accept(listener);
}

void listener_go_on(struct listener *listener) {
    if (!listener->open || !listener->waiting)
        return;
    listener->waiting = false;
    try_accept(listener);
}

static int start(struct listener *listener, uv_loop_t *loop, int fd_take) {
    uv_pipe_init(loop, &listener->pipe, 0);
    uv_timer_init(loop, &listener->again); // neither can fail
    listener->pipe.data = listener->again.data = listener;
    listener->open = true;
    int r = uv_pipe_open(&listener->pipe, fd_take);
    if (r < 0) {
        close(fd_take); // else it is the handle's
        return r;
    }
    return uv_listen((uv_stream_t *)&listener->pipe, BACKLOG, on_connection);
}

int listener_adopt(struct listener *listener, uv_loop_t *loop, int fd_take) {
    return start(listener, loop, fd_take);
}

// The path as an address. Returns 0 or an exit status.
static int address_of(const char *path, struct sockaddr_un *address, char *why, size_t size) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address->sun_path)) {
        snprintf(why, size, "the socket path '%s' is too long", path);
        return EX_CANTCREAT;
    }
    strcpy(address->sun_path, path);
    return 0;
}

// What stands at the path: 0 nothing (any more), else an exit status.
static int clear_path(const char *path, const struct sockaddr_un *address, char *why, size_t size) {
    struct stat stat;
    if (lstat(path, &stat) < 0) {
        if (errno == ENOENT)
            return 0;
        snprintf(why, size, "the socket '%s' cannot be made: %s", path, strerror(errno));
        return EX_CANTCREAT;
    }
    if (!S_ISSOCK(stat.st_mode)) {
        snprintf(why, size, "'%s' exists and is no socket", path);
        return EX_CANTCREAT;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int r = fd < 0 ? -1 : connect(fd, (const struct sockaddr *)address, sizeof(*address));
    int error = r < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (error && error != ECONNREFUSED && error != EAGAIN) { // EAGAIN: its backlog is full
        snprintf(why, size, "the socket '%s' cannot be looked at: %s", path, strerror(error));
        return EX_CANTCREAT;
    }
    if (error != ECONNREFUSED) {
        snprintf(why, size, "another process listens on the socket '%s'", path);
        return EX_CANTCREAT;
    }
    if (unlink(path) < 0 && errno != ENOENT) {
        snprintf(why, size, "the stale socket '%s' cannot be removed: %s", path, strerror(errno));
        return EX_CANTCREAT;
    }
    return 0;
}

int listener_clear(const char *path, char *why, size_t size) {
    struct sockaddr_un address;
    int r = address_of(path, &address, why, size);
    return r ? r : clear_path(path, &address, why, size);
}

// Mode and group are set between bind and listen, when nobody can connect yet.
static int bind_socket(int fd, const struct sockaddr_un *address, mode_t mode, gid_t group,
                       char *why, size_t size) {
    const char *path = address->sun_path;
    mode_t before = umask(0177);
    int r = bind(fd, (const struct sockaddr *)address, sizeof(*address));
    umask(before);
    if (r < 0) {
        snprintf(why, size, "the socket '%s' cannot be made: %s", path, strerror(errno));
        return EX_CANTCREAT;
    }
    if ((group != (gid_t)-1 && chown(path, (uid_t)-1, group) < 0) || chmod(path, mode) < 0) {
        snprintf(why, size, "mode or group of the socket '%s' cannot be set: %s", path,
                 strerror(errno));
        unlink(path);
        return EX_CANTCREAT;
    }
    return 0;
}

int listener_open(struct listener *listener, uv_loop_t *loop, const char *path, mode_t mode,
                  gid_t group, char *why, size_t size) {
    struct sockaddr_un address;
    int r = address_of(path, &address, why, size);
    if (r == 0)
        r = clear_path(path, &address, why, size);
    if (r)
        return r;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    listener->path = strdup(path);
    if (fd < 0 || !listener->path) {
        snprintf(why, size, "the socket '%s' cannot be made: %s", path, strerror(errno));
        r = EX_OSERR;
    } else {
        r = bind_socket(fd, &address, mode, group, why, size);
    }
    if (r) {
        if (fd >= 0)
            close(fd);
        free(listener->path);
        listener->path = NULL;
        return r;
    }
    r = start(listener, loop, fd);
    if (r < 0) {
        snprintf(why, size, "the socket '%s' cannot be listened on: %s", path, uv_strerror(r));
        listener_close(listener);
        return EX_OSERR;
    }
    return 0;
}

void listener_close(struct listener *listener) {
    if (listener->path)
        unlink(listener->path);
    free(listener->path);
    listener->path = NULL;
    if (listener->open) {
        uv_close((uv_handle_t *)&listener->pipe, NULL);
        uv_close((uv_handle_t *)&listener->again, NULL);
    }
    listener->open = false;
}
