// SPDX-License-Identifier: Apache-2.0
//
// daemon/socket: the two Unix sockets of the daemon, and what every peer of them needs. It makes
// the listening sockets or takes them from the service manager (sockets.h, activation.h), finds out
// which user a peer is (peer.c), writes replies without waiting (outq.h), and bounds how often a
// refused user gets an answer (refusals.h). It owns the socket files and their lock files. It knows
// neither what peers say nor what becomes of a connection. Loop thread only.
//
// A listener is one listening socket. A socket of our own gets its final mode and group before
// anybody can connect. A socket file whose daemon is dead is replaced, one whose daemon lives
// never.
//
// The descriptor is polled and accepted from here, not by libuv, whose accept loop ends only when
// nobody waits: a process that connects and closes in a loop would keep it, and with it all others,
// for ever. Here one iteration of the loop accepts LISTENER_ACCEPTS_MAX connections at most. When
// the owner has no room, the next connection waits until the owner says that there is. When the
// system has none (descriptors, memory), the listener tries again a little later.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

// Enough to serve a crowd quickly; less than a millisecond of work.
#define LISTENER_ACCEPTS_MAX 16

enum { LISTENER_NO_ROOM = 1 };

struct listener {
    uv_poll_t poll;
    uv_timer_t again; // runs only while the system is short of descriptors or memory
    int fd;
    char *path;   // owned; of a socket file that we made and remove; NULL for one handed over
    dev_t device; // of that file: a file that replaced it is not removed
    ino_t inode;
    bool open;    // the handles are to be closed
    bool waiting; // for room: not polled
    // Prepares for one more connection. Returns 0, LISTENER_NO_ROOM (wait for listener_go_on()), or
    // -ENOMEM (the listener asks again soon).
    int (*prepare)(struct listener *listener);
    // Owns the descriptor from now on. May close the listener.
    void (*on_connection)(struct listener *listener, int fd_take);
    void *owner;
};

// Makes the socket and listens. Returns 0, or an exit status of sysexits.h with a sentence in
// `why`; nothing is left then. A `group` of (gid_t)-1 is none.
int listener_open(struct listener *listener, uv_loop_t *loop, const char *path, mode_t mode,
                  gid_t group, char *why, size_t size);

// Checks, without making a socket, that one can be made at the path. Removes a socket file whose
// daemon is dead. Returns as listener_open() does.
int listener_clear(const char *path, char *why, size_t size);

// Listens on a descriptor of the service manager. Returns 0 or -errno; call listener_close() in any
// case, which closes the descriptor too.
int listener_adopt(struct listener *listener, uv_loop_t *loop, int fd_take);

// There is room again: accepts the connections that wait.
void listener_go_on(struct listener *listener);

// Before a stop: accepts the connections that wait now, one backlog of them at most. A peer that
// has written its lines and closed does not connect again.
void listener_take_waiting(struct listener *listener);

// Stops to listen; removes a socket file of our own. The loop must run on to close the handles.
void listener_close(struct listener *listener);
