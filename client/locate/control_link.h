// SPDX-License-Identifier: Apache-2.0
//
// The connection to a daemon's control socket: one request, one answer at a time. What is waited
// for can be given up when the person has something to say (a key, a signal): the connection is
// of no use after it, because the answer may still come.
#pragma once

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

void ctl_link_init(struct ctl_link *link, const char *path);
int ctl_link_open(struct ctl_link *link); // 0 or -errno
void ctl_link_close(struct ctl_link *link);

// Sends a command and waits for its answer, which the caller deinits. `arguments` may be NULL.
// Returns 0, or -errno: -EPIPE the daemon closed, -EPROTO its answer is not understood, -ECANCELED
// something watched became readable, -ETIMEDOUT nothing came for `timeout_ms` (-1: for ever).
int ctl_link_ask(struct ctl_link *link, const char *command, json_t *arguments, int timeout_ms,
                 struct nvtxt_ctl_reply *reply);
