// SPDX-License-Identifier: Apache-2.0
//
// The connection to a daemon's control socket: one request, one answer at a time. What is waited
// for can be given up when the person has something to say (a key, a signal): the connection is
// of no use after it, because the answer may still come.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/buf.h"
#include "protocol/wire/ctlmsg.h"

#define CTL_LINK_WATCHED 2

struct ctl_link {
    const char *path; // borrowed; fits a socket address
    int fd;           // -1 while there is no connection
    struct nvtxt_buf line;
    int watched[CTL_LINK_WATCHED]; // descriptors that end the waiting when they are readable; or -1
};

enum {
    CTL_LINK_FULL = 1,   // the daemon is there, but its queue of connections is full
    CTL_LINK_CLOSED,     // the daemon closed the connection
    CTL_LINK_BAD_ANSWER, // its answer is not understood
    CTL_LINK_GIVEN_UP,   // something watched became readable
    CTL_LINK_TIMEOUT,    // nothing came in time
};

// One of these codes, or a negative errno, for a sentence about the daemon: "it ..." or the
// system's own words.
const char *ctl_link_why(int result);

void ctl_link_init(struct ctl_link *link, const char *path);

// Connects. With `wait` a full queue is waited for. Returns 0, CTL_LINK_FULL or -errno.
int ctl_link_open(struct ctl_link *link, bool wait);
void ctl_link_close(struct ctl_link *link);

// Sends a command and waits for its answer, at most `timeout_ms` (-1: for ever). The caller deinits
// the answer. `arguments` may be NULL. Returns 0, one of the other codes, or -errno.
int ctl_link_ask(struct ctl_link *link, const char *command, json_t *arguments, int timeout_ms,
                 struct nvtxt_ctl_reply *reply);
