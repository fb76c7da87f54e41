// SPDX-License-Identifier: Apache-2.0
//
// The two listening sockets of the daemon: handed over by the service manager or made here, each
// for itself. A socket that was handed over keeps its file, mode and group, which are the
// manager's; each of our own has a lock file beside it and its file goes when it is closed.
// Loop thread only.
#pragma once

#include <stddef.h>
#include <uv.h>

#include "daemon/conf/conf.h"
#include "daemon/socket/activation.h"
#include "daemon/socket/listener.h"

struct sockets {
    struct listener data, control; // their owner and callbacks are the user's to set
    struct activation handed;
    struct socket_lock {
        int fd;     // of the lock file; -1: none
        char *path; // of the socket; owned
    } data_lock, control_lock;
};

// Before paths are resolved: takes what was handed over and writes where that is into `config`.
// All return 0, or an exit status of sysexits.h with a sentence in `why`.
int sockets_take(struct sockets *sockets, struct conf *config, char *why, size_t size);

// Keeps a second daemon away from the sockets that we are to make, and finds out what will be in
// their way, before anything else is begun. sockets_unlock() ends it.
int sockets_lock(struct sockets *sockets, const struct conf *config, char *why, size_t size);
void sockets_unlock(struct sockets *sockets);

// Listens. The data socket is last, so that all is there when somebody can connect. Close in any
// case. `store_group` is the group of the store's files; (gid_t)-1: not known.
int sockets_open(struct sockets *sockets, uv_loop_t *loop, const struct conf *config,
                 gid_t store_group, char *why, size_t size);
void sockets_close(struct sockets *sockets);
