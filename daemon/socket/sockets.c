// SPDX-License-Identifier: Apache-2.0
//
// A lock file decides which daemon may replace a socket file. Modes and groups of the data socket
// come from the configuration, those of the control socket from the group of the store's files,
// because who may read the store may use the control socket.
#include "daemon/socket/sockets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/conf/paths.h"

static int note_path(int fd, char **field, char *why, size_t size) {
    char path[sizeof(struct sockaddr_un) + 1];
    char *copy = NULL;
    if (fd < 0) {
        return 0;
    }
    int r = activation_path(fd, path, sizeof(path));
    if (r < 0 || !(copy = strdup(path))) {
        snprintf(why, size, "a socket that was handed over cannot be used: %s",
                 strerror(r < 0 ? -r : ENOMEM));
        return EX_OSERR;
    }
    free(*field);
    *field = copy;
    return 0;
}

int sockets_take(struct sockets *sockets, struct conf *config, char *why, size_t size) {
    sockets->data_lock.fd = sockets->control_lock.fd = -1;
    int status = activation_take(&sockets->handed, why, size);
    if (!status) {
        status = note_path(sockets->handed.data, &config->socket, why, size);
    }
    if (!status) {
        status = note_path(sockets->handed.control, &config->control_socket, why, size);
    }
    return status;
}

static int lock(struct socket_lock *lock, const char *path, char *why, size_t size) {
    lock->path = strdup(path);
    if (!lock->path) {
        snprintf(why, size, "out of memory");
        return EX_OSERR;
    }
    lock->fd = lock_file_take(lock->path, "socket", why, size);
    return lock->fd < 0 ? EX_CANTCREAT : listener_clear(path, why, size);
}

static void unlock(struct socket_lock *lock) {
    if (lock->path) {
        lock_file_release(lock->path, lock->fd);
    }
    free(lock->path);
    *lock = (struct socket_lock){.fd = -1};
}

static int data_group(const struct conf *config, gid_t *group, char *why, size_t size) {
    return paths_group(config->socket_group, "SocketGroup", group, why, size);
}

int sockets_lock(struct sockets *sockets, const struct conf *config, char *why, size_t size) {
    int status = 0;
    gid_t group;
    if (sockets->handed.data < 0) {
        status = lock(&sockets->data_lock, config->socket, why, size);
    }
    if (!status && sockets->handed.data < 0) {
        status = data_group(config, &group, why, size);
    }
    if (!status && sockets->handed.control < 0) {
        status = lock(&sockets->control_lock, config->control_socket, why, size);
    }
    return status;
}

void sockets_unlock(struct sockets *sockets) {
    unlock(&sockets->data_lock);
    unlock(&sockets->control_lock);
}

// ---- Listening ----------------------------------------------------------------------------------

static int adopt(struct listener *listener, uv_loop_t *loop, int fd, const char *path, char *why,
                 size_t size) {
    int r = listener_adopt(listener, loop, fd);
    if (r == 0) {
        return 0;
    }
    snprintf(why, size, "the socket '%s' that was handed over cannot be listened on: %s", path,
             uv_strerror(r));
    return EX_OSERR;
}

static int open_data(struct sockets *sockets, uv_loop_t *loop, const struct conf *config, char *why,
                     size_t size) {
    if (sockets->handed.data >= 0) {
        return adopt(&sockets->data, loop, sockets->handed.data, config->socket, why, size);
    }
    gid_t group;
    int status = data_group(config, &group, why, size);
    if (status) {
        return status;
    }
    mode_t mode = config->socket_mode >= 0 ? (mode_t)config->socket_mode
                  : geteuid() == 0         ? 0660
                                           : 0600;
    return listener_open(&sockets->data, loop, config->socket, mode, group, why, size);
}

// Who may read the store may connect. The daemon of a plain user serves that user only, unless
// StoreGroup is set.
static int open_control(struct sockets *sockets, uv_loop_t *loop, const struct conf *config,
                        gid_t store_group, char *why, size_t size) {
    bool shared = store_group != (gid_t)-1 && (geteuid() == 0 || *config->store_group);
    return listener_open(&sockets->control, loop, config->control_socket, shared ? 0660 : 0600,
                         shared ? store_group : (gid_t)-1, why, size);
}

int sockets_open(struct sockets *sockets, uv_loop_t *loop, const struct conf *config,
                 gid_t store_group, char *why, size_t size) {
    int status;
    if (sockets->handed.control >= 0) {
        status = adopt(&sockets->control, loop, sockets->handed.control, config->control_socket,
                       why, size);
    } else {
        status = open_control(sockets, loop, config, store_group, why, size);
    }
    return status ?: open_data(sockets, loop, config, why, size);
}

void sockets_close(struct sockets *sockets) {
    listener_close(&sockets->data);
    listener_close(&sockets->control);
}
