// SPDX-License-Identifier: Apache-2.0
//
// The connection to a daemon's data socket: connecting, how long to wait before the next try, and
// bytes in and out without blocking. Knows nothing of what the bytes mean.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct link {
    const char *path;  // borrowed; fits a socket address
    int fd;            // -1 while there is no connection
    bool blocked;      // the socket takes nothing more until poll() says so
    bool write_failed; // the daemon reads no more; what it wrote before may still be read
    unsigned failures; // tries since the last success
    int64_t next_ms;   // when to try again, by the clock of `now_ms` below
};

#define LINK_DELAY_FIRST_MS 20
#define LINK_DELAY_MOST_MS 2000

void link_init(struct link *link, const char *path);
void link_close(struct link *link);

// True when the process that listens was stopped, as by SIGSTOP, and so cannot answer. False also
// when systemd listens for the daemon: this cannot be seen then.
bool link_is_stopped(const struct link *link);

enum {
    LINK_FULL = 1, // link_connect: the daemon is there, but its queue of connections is full
    LINK_END,      // link_read: the daemon closed the connection
    LINK_NOTHING,  // link_read: there is nothing yet
};

// One try. Returns 0, LINK_FULL or -errno.
int link_connect(struct link *link);

// The daemon answered as it should: the next break is tried again at once.
void link_worked(struct link *link);

// Sets when to try again: at once after the first failure, then after delays that double up to
// LINK_DELAY_MOST_MS. A random part is taken from each, so that many clients do not come at one
// moment.
void link_back_off(struct link *link, int64_t now_ms);

// Writes what the socket takes. Returns the number of bytes; 0 when it is blocked or a write has
// failed.
size_t link_write(struct link *link, const struct iovec *pieces, int count);

// Returns 0 with `*got` bytes, LINK_END, LINK_NOTHING or -errno.
int link_read(struct link *link, char *data, size_t size, size_t *got);
