// SPDX-License-Identifier: Apache-2.0
//
// Closes sessions that nobody has resumed for SessionExpiry: their open ranges are stored as the
// language says for a source that ended, their state is removed, their id stays known. The writer
// finds one at a time; its state is loaded, ended and given to the batcher like any other source.
// One whose state cannot be read is ended from its rows; one that a newer version saved stays. A
// connected session does not expire: it is written again, which sets the time when it was seen.
//
// A session may ask for a shorter time in its hello. The parked sessions (parked.h) know it, and
// the timer fires when the first of them is due. Its time begins anew when the daemon starts.
//
// The search for the others runs 24 times in SessionExpiry, first a minute after the start at the
// latest: a client that has waited for days for the daemon must be connected before its session is
// found. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/log.h"
#include "store/value/session.h"

struct server;

struct expiry {
    struct server *server; // borrowed
    uv_timer_t timer;
    int64_t offset_ns; // from CLOCK_BOOTTIME to the wall clock, at the start
    bool stopped;
    struct store_session_place after; // of the session that was found last in this search
    struct log_limit log_newer;
};

int expiry_start(struct expiry *expiry, struct server *server); // 0 or -errno
void expiry_configure(struct expiry *expiry);                   // SessionExpiry may have changed
void expiry_stop(struct expiry *expiry); // closes the timer; also when it never started
