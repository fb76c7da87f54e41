// SPDX-License-Identifier: Apache-2.0
//
// Closes sessions that nobody resumed for SessionExpiry: their open ranges are stored as the
// language says for a source that ended, their state is removed, their id stays known. The writer
// finds one at a time; its state is loaded, ended and handed to the batcher like any other source.
// One whose state cannot be read is ended with what its rows say, so that the others go on.
// A connected session does not expire: it is written again, which sets the time it was seen.
//
// Looked for every 24th of the expiry, and a minute after the start at the latest: a client that
// waited for days for the daemon to come back must be there before its session is looked at.
// Loop thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "protocol/base/limits.h"

struct server;

struct expiry {
    struct server *server; // borrowed
    uv_timer_t timer;
    int64_t offset_ns; // of the wall clock to CLOCK_BOOTTIME, at the start
    bool stopped;
    char last[NVTXT_SESSION_ID_BYTES + 1]; // the session that was found last
};

int expiry_start(struct expiry *expiry, struct server *server); // 0 or -errno
void expiry_configure(struct expiry *expiry);                   // SessionExpiry may have changed
void expiry_stop(struct expiry *expiry);                        // closes the timer; zeroed is fine
