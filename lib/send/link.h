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

// Called once by the sender's thread, which needs no descriptor of the program's but, perhaps, its
// stderr.
void link_init(struct link *link, bool keeps_stderr);

// Connects without waiting. Returns 0 or -errno; -EAGAIN: the daemon's backlog is full.
int link_connect(struct link *link, const char *path);

// Returns how many bytes went, 0 when it would have to wait. The end of a connection is known to
// who reads, because the daemon may have said why.
ssize_t link_send(struct link *link, const char *data, size_t len);

// Returns bytes, 0 when it would have to wait, or -EPIPE: the link is closed.
ssize_t link_receive(struct link *link, char *to, size_t size);

// Waits until there is something to read, or, with `to_send`, room to send; `timeout_ms` at most.
void link_wait(struct link *link, bool to_send, int timeout_ms);

void link_close(struct link *link);
