// SPDX-License-Identifier: Apache-2.0
//
// The connection to the daemon. The sender gives itself a table of descriptors of its own, so that
// no number of the program's is ever used and the program closes none of ours. Where the kernel
// does not give one (before Linux 5.9, or a filter), the socket lies at LINK_LOWEST or above in the
// program's table, and is compared before each use.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define LINK_LOWEST 500

struct link {
    int fd;          // -1: none
    bool is_private; // the descriptors of this thread are its own
    dev_t device;
    ino_t inode;
};

// Called once by the sender's thread, which needs no other descriptor of the program's than `kept`
// (-1: none).
void link_init(struct link *link, int kept);

// Connects without waiting. Returns 0 or -errno; -EAGAIN: the daemon's backlog is full.
int link_connect(struct link *link, const char *path);

// Both return bytes, 0 when they would have to wait, or -errno, which ends the link: -EPIPE when
// the daemon has closed it.
ssize_t link_send(struct link *link, const char *data, size_t len);
ssize_t link_receive(struct link *link, char *to, size_t size);

// Waits until there is something to read, or, with `to_send`, room to send; `timeout_ms` at most.
void link_wait(struct link *link, bool to_send, int timeout_ms);

void link_close(struct link *link);

// Moves a descriptor of the program's table to LINK_LOWEST or above, else leaves it. Returns the
// new number.
int link_lift(int fd);
