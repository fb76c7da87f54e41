// SPDX-License-Identifier: Apache-2.0
//
// Who is behind a connection: what the kernel says (SO_PEERCRED), never what the peer says, plus
// the name of its process as /proc shows it, best effort. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PEER_COMM_SIZE 64 // the kernel's own limit is 16; threads of user space can do no better

struct peer {
    int64_t pid, uid, gid;
    int64_t start;             // of its process, as /proc/PID/stat counts it; 0: not known
    char comm[PEER_COMM_SIZE]; // "" when not known
};

// Fills pid, uid and gid of the process behind the socket; the rest is empty. Costs one system
// call. Returns 0 or -errno (no credentials).
int peer_get(int fd, struct peer *peer);

// Adds the start and the name of that process, as /proc shows them; what is not known stays empty.
void peer_look(struct peer *peer);

// Whether it may still read what is written to it. False when it has closed, or vanished; one that
// closed no more than its sending side may.
bool peer_may_read(int fd);
