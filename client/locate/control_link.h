// SPDX-License-Identifier: Apache-2.0
//
// The connection to a daemon's control socket: one request, one answer at a time. A wait ends early
// when the user has something to say (a key, a signal). After that the connection is of no use,
// because the answer may still come.
#pragma once

#include <stdbool.h>

#include "protocol/base/buf.h"
#include "protocol/base/slice.h"
#include "protocol/wire/ctlmsg.h"

#define CONTROL_LINK_WATCHED 2

struct control_link {
    const char *path; // borrowed; fits a socket address
    int fd;           // -1 while there is no connection
    struct nvtxt_buf line;
    int watched[CONTROL_LINK_WATCHED]; // descriptors that end the wait when readable; or -1
    int passed;                        // borrowed: goes with the next request; -1: none
};

enum {
    CONTROL_LINK_FULL = 1,   // the daemon is there, but its queue of connections is full
    CONTROL_LINK_CLOSED,     // the daemon closed the connection
    CONTROL_LINK_BAD_ANSWER, // its answer is not understood
    CONTROL_LINK_GIVEN_UP,   // a watched descriptor became readable
    CONTROL_LINK_TIMEOUT,    // nothing came in time
};

// One of these codes, or a negative errno, in words: "it closed the connection".
const char *control_link_why(int r);

void control_link_init(struct control_link *link, const char *path);

// Connects; with `wait` also waits for a full queue. Returns 0, CONTROL_LINK_FULL or -errno.
int control_link_open(struct control_link *link, bool wait);
void control_link_close(struct control_link *link);

// Sends bytes and waits for a line, which `line` then holds without its LF. Returns as
// control_link_ask(), never CONTROL_LINK_BAD_ANSWER.
int control_link_exchange(struct control_link *link, struct nvtxt_slice bytes, int timeout_ms);

// Sends a command and waits for its answer, at most `timeout_ms` (-1: for ever). The caller deinits
// the answer. `arguments` may be NULL. Returns 0, one of the other codes, or -errno.
int control_link_ask(struct control_link *link, const char *command, json_t *arguments,
                     int timeout_ms, struct nvtxt_ctl_reply *reply);
