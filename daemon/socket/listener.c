// SPDX-License-Identifier: Apache-2.0
//
// A poll handle says that connections wait; accept4() takes them one at a time, each after the
// owner said that it has room. Without room polling stops, so that nothing spins; a timer or
// listener_go_on() begins it again. Whether another daemon listens on a socket file is found out by
// connecting to it.
#include "daemon/socket/listener.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "protocol/base/origin.h"

#define BACKLOG 4096 // cut to net.core.somaxconn by the kernel

// Long enough to be no load, short enough for a peer that waits.
#define RETRY_MS 100

static void on_again(uv_timer_t *timer);
static void on_poll(uv_poll_t *poll, int status, int events);

static void poll_on(struct listener *listener) {
    listener->waiting = false;
    int r = uv_poll_start(&listener->poll, UV_READABLE, on_poll);
    if (r < 0) {
        log_error("a socket cannot be listened on any more: %s", uv_strerror(r));
    }
}

static void wait_for_room(struct listener *listener, bool ask_again) {
    listener->waiting = true;
    uv_poll_stop(&listener->poll);
    if (ask_again) {
        uv_timer_start(&listener->again, on_again, RETRY_MS, 0);
    }
}

static void on_again(uv_timer_t *timer) {
    listener_go_on(timer->data);
}

// Accepts one connection. Returns whether more may wait.
static bool take_one(struct listener *listener) {
    int r = listener->prepare(listener);
    if (r != 0) {
        wait_for_room(listener, r < 0);
        return false;
    }
    int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        listener->on_connection(listener, fd);
        return listener->open;
    }
    if (errno == EAGAIN) {
        return false;
    }
    if (errno == EINTR || errno == ECONNABORTED) {
        return true;
    }
    static struct log_limit limit;
    log_limited(&limit, LOG_LEVEL_WARNING, "connections wait: none can be accepted: %s",
                strerror(errno));
    wait_for_room(listener, true);
    return false;
}

static void on_poll(uv_poll_t *poll, int status, int events) {
    struct listener *listener = poll->data;
    (void)status;
    (void)events;
    for (int i = 0; i < LISTENER_ACCEPTS_MAX && take_one(listener); i++) {
        continue;
    }
}

void listener_take_waiting(struct listener *listener) {
    for (int i = 0; i < BACKLOG && listener->open && take_one(listener); i++) {
        continue;
    }
}

void listener_go_on(struct listener *listener) {
    if (listener->open && listener->waiting) {
        poll_on(listener);
    }
}

static int start(struct listener *listener, uv_loop_t *loop, int fd_take) {
    int r = uv_poll_init(loop, &listener->poll, fd_take); // makes it non-blocking
    if (r < 0) {
        close(fd_take);
        return r;
    }
    uv_timer_init(loop, &listener->again); // cannot fail
    listener->poll.data = listener->again.data = listener;
    listener->fd = fd_take;
    listener->open = true;
    if (listen(fd_take, BACKLOG) < 0) {
        return nvtxt_origin(-errno);
    }
    return uv_poll_start(&listener->poll, UV_READABLE, on_poll);
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

// Returns 0 when nothing is at the path (any more), else an exit status.
static int clear_path(const char *path, const struct sockaddr_un *address, char *why, size_t size) {
    struct stat stat;
    if (lstat(path, &stat) < 0) {
        if (errno == ENOENT) {
            return 0;
        }
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
    if (fd >= 0) {
        close(fd);
    }
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
    return r ?: clear_path(path, &address, why, size);
}

// Mode and group are set between bind and listen, when nobody can connect yet.
static int bind_socket(struct listener *listener, int fd, const struct sockaddr_un *address,
                       mode_t mode, gid_t group, char *why, size_t size) {
    const char *path = address->sun_path;
    struct stat made;
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
    if (lstat(path, &made) == 0) {
        listener->device = made.st_dev;
        listener->inode = made.st_ino;
    }
    return 0;
}

int listener_open(struct listener *listener, uv_loop_t *loop, const char *path, mode_t mode,
                  gid_t group, char *why, size_t size) {
    struct sockaddr_un address;
    int r = address_of(path, &address, why, size);
    r = r ?: clear_path(path, &address, why, size);
    if (r) {
        return r;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    listener->path = strdup(path);
    if (fd < 0 || !listener->path) {
        snprintf(why, size, "the socket '%s' cannot be made: %s", path, strerror(errno));
        r = EX_OSERR;
    } else {
        r = bind_socket(listener, fd, &address, mode, group, why, size);
    }
    if (r) {
        if (fd >= 0) {
            close(fd);
        }
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

static bool is_ours(const struct listener *listener) {
    struct stat there;
    return lstat(listener->path, &there) == 0 && there.st_dev == listener->device &&
           there.st_ino == listener->inode;
}

void listener_close(struct listener *listener) {
    if (listener->path && is_ours(listener)) {
        unlink(listener->path);
    }
    free(listener->path);
    listener->path = NULL;
    if (listener->open) {
        uv_close((uv_handle_t *)&listener->poll, NULL);
        uv_close((uv_handle_t *)&listener->again, NULL);
        close(listener->fd); // after the end of polling
    }
    listener->open = false;
}
