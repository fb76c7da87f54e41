// SPDX-License-Identifier: Apache-2.0
//
// Which user and which process are at the other end of a connection: what the kernel says
// (SO_PEERCRED), never what the peer says, and the name of the process from /proc if it can be
// read. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/process.h"

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
