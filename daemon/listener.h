// SPDX-License-Identifier: Apache-2.0
//
// A listening Unix socket: made with its final mode and group before anybody can connect, or
// adopted from the service manager. A socket file whose daemon is dead is replaced, one that is
// alive never. When the owner cannot take another connection it leaves it waiting: libuv listens
// no further until that one is accepted, so a full descriptor table makes no spin. The owner says
// when there is room again; for memory, which nobody gives back with a word, a timer asks again.
// Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

enum { LISTENER_NO_ROOM = 1 };

struct listener {
    uv_pipe_t pipe;
    uv_timer_t again; // runs only while a connection waits for memory
    char *path;       // owned; of a socket file that we made and remove; NULL for an adopted one
    bool open;        // the handles want closing
    bool waiting;     // a connection that was not accepted yet
    // Accepts with uv_accept, whatever becomes of the connection then: 0. Left waiting: -ENOMEM (it
    // is called again by itself), or LISTENER_NO_ROOM (it is called again by listener_go_on()).
    int (*on_connection)(struct listener *listener);
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

// There is room again: takes the connection that waits.
void listener_go_on(struct listener *listener);

// Listens no more; removes a socket file of our own. The handles end when the loop runs on.
void listener_close(struct listener *listener);
