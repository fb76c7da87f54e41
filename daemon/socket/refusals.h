// SPDX-License-Identifier: Apache-2.0
//
// How often refused users get an answer. A refused connection must not stay in the backlog of the
// listening socket, which all users share, so it is always accepted; but an answer costs time. A
// user gets REFUSALS_A_SECOND answers in a second; further connections are closed without one. The
// memory for this is bounded: a table of the users of this second. When it is full, other users get
// no answer. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/process.h"

#define REFUSALS_A_SECOND 100
#define REFUSALS_USERS 64

struct refusals { // zeroed is ready
    struct refusals_user {
        int64_t uid;
        int64_t since_ns; // of its second
        unsigned answers; // in it; 0: the place is free
    } users[REFUSALS_USERS];
};

// Counts a refusal. Returns whether the user gets an answer. `now_ns` is of a clock that never goes
// back.
bool refusals_allow_answer(struct refusals *refusals, int64_t uid, int64_t now_ns);

// Writes `reply` (may be NULL), and closes the descriptor of a connection that is refused. Returns
// whether lines are lost with it: the peer has sent something that does not begin like `hello`. A
// session sends its lines again. With NULL for `hello` the result is false.
bool refusals_close(int fd_take, const char *reply, size_t len, const char *hello);

// ---- Peers (daemon/socket/peer.c) ---------------------------------------------------------------
//
// Which user and which process are at the other end of a connection: what the kernel says
// (SO_PEERCRED), never what the peer says, and the name of the process from /proc if it can be
// read. Loop thread only.

struct peer {
    int64_t pid, uid, gid;
    int64_t start;                // of its process, in ticks as in /proc/PID/stat; 0: not known
    char comm[PROCESS_COMM_SIZE]; // "" when not known
};

// Fills pid, uid and gid of the process at the other end; the rest is empty. Costs one system call.
// Returns 0 or -errno (no credentials).
int peer_get(int fd, struct peer *peer);

// Adds the start and the name of that process from /proc; what cannot be read stays empty.
void peer_read_process(struct peer *peer);

// Whether the peer can still read what is written to it: false when it has closed the socket, or
// only its reading side; true when it has closed no more than its sending side.
bool peer_may_read(int fd);
