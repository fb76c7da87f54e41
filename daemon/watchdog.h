// SPDX-License-Identifier: Apache-2.0
//
// Tells the service manager that the daemon makes progress (WATCHDOG=1), which means both threads:
// a timer of the loop pushes a job that does nothing, and the WATCHDOG=1 is sent when it is done.
// While the writer hangs nothing is sent, so the manager restarts the daemon. A writer that cannot
// write and tries again and again (a full disk, a lock of another process) does not hang: a restart
// would not help it, and the loop would lose what it holds.
//
// There is a timer only when the manager asked for it. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/writer/bqueue.h"

struct hub;

struct watchdog {
    struct hub *hub; // borrowed
    uv_timer_t timer;
    struct job probe;
    bool asked; // the probe was pushed and is not back
    uint64_t commits;
    int64_t last_error_ns;
};

int watchdog_start(struct watchdog *watchdog, struct hub *hub); // 0 or -errno

// Pushes no more; to be called before the JOB_STOP is pushed. Does nothing when it never started.
void watchdog_stop(struct watchdog *watchdog);
