// SPDX-License-Identifier: Apache-2.0
//
// A listening Unix socket: made with its final mode and group before anybody can connect, or
// adopted from the service manager. A socket file whose daemon is dead is replaced, one that is
// alive never.
//
// The descriptor is polled and accepted from here, not by libuv, whose accept loop ends only when
// nobody waits: a process that connects and closes in a loop would keep it, and with it all others,
// for ever. Here a turn of the loop takes LISTENER_A_TURN connections at most. When the owner has
// no room the next one is left waiting until the owner says that there is; when the system has none
// (descriptors, memory), it is asked again a little later, so that nothing spins. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

// Enough that a crowd is served in no time, and no more than a part of a millisecond of work.
#define LISTENER_A_TURN 16

enum { LISTENER_NO_ROOM = 1 };

struct listener {
    uv_poll_t poll;
    uv_timer_t again; // runs only while connections wait for what the system is short of
    int fd;
    char *path;   // owned; of a socket file that we made and remove; NULL for an adopted one
    dev_t device; // of that file: another one that took its place is not ours to remove
    ino_t inode;
    bool open;    // the handles want closing
    bool waiting; // for room: not polled
    // Whether a connection can be taken: 0, LISTENER_NO_ROOM (until listener_go_on()), or -ENOMEM
    // (asked again by itself).
    int (*is_ready)(struct listener *listener);
    // Takes the descriptor of a connection, whatever becomes of it. May close the listener.
    void (*on_connection)(struct listener *listener, int fd_take);
    void *owner;
};

// Makes the socket and listens. Returns 0, or an exit status of sysexits.h with a sentence in
// `why`; nothing is left behind then. A `group` of (gid_t)-1 is none.
int listener_open(struct listener *listener, uv_loop_t *loop, const char *path, mode_t mode,
                  gid_t group, char *why, size_t size);

// Whether a socket could be made at the path, as far as that can be seen without making one; a
// socket file whose daemon is dead is removed. Returns as listener_open() does.
int listener_clear(const char *path, char *why, size_t size);

// Listens on a descriptor of the service manager. Returns 0 or -errno; close the listener in any
// case, and the descriptor is closed with it.
int listener_adopt(struct listener *listener, uv_loop_t *loop, int fd_take);

// There is room again: goes on accepting.
void listener_go_on(struct listener *listener);

// Before a stop: takes the connections that wait now, one backlog of them at most. A peer that has
// written its lines and closed would not come again.
void listener_take_waiting(struct listener *listener);

// Listens no more; removes a socket file of our own. The handles end when the loop runs on.
void listener_close(struct listener *listener);
