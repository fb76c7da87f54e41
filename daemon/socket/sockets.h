// SPDX-License-Identifier: Apache-2.0
//
// The two listening sockets of the daemon, for data and for control. Each is handed over by the
// service manager or made here, independently of the other. A socket that was handed over keeps its
// file, mode and group, which belong to the manager. A socket of our own has a lock file beside it,
// and its file is removed when it is closed. Loop thread only.
#pragma once

#include "daemon/conf/conf.h"
#include "daemon/socket/activation.h"
#include "daemon/socket/listener.h"

struct sockets {
    struct listener data, control; // the daemon sets their owner and callbacks
    struct activation handed;
    struct socket_lock {
        int fd;     // of the lock file; -1: none
        char *path; // of the socket; owned
    } data_lock, control_lock;
};

// All return 0, or an exit status of sysexits.h with a sentence in `why`.

// Takes the sockets that were handed over, and writes their paths into `config`. To be called
// before paths are resolved.
int sockets_take(struct sockets *sockets, struct conf *config, char *why, size_t size);

// Locks the sockets that will be made here against a second daemon, and checks that they can be
// made. sockets_unlock() ends that.
int sockets_lock(struct sockets *sockets, const struct conf *config, char *why, size_t size);
void sockets_unlock(struct sockets *sockets);

// Listens; the data socket is last, so that everything works when somebody can connect. Call
// sockets_close() in any case. `store_group` is the group of the store's files; (gid_t)-1: not
// known.
int sockets_open(struct sockets *sockets, uv_loop_t *loop, const struct conf *config,
                 gid_t store_group, char *why, size_t size);
void sockets_close(struct sockets *sockets);
