// SPDX-License-Identifier: Apache-2.0
//
// Tells the service manager that the daemon makes progress (WATCHDOG=1), which means both threads:
// the loop's timer asks the writer through the queue, with a job that does nothing, and the answer
// is what is told. A writer that hangs does not answer, so the manager hears nothing and restarts
// the daemon. One that is in trouble and says so again and again (a full disk, a foreign lock) does
// not hang: a restart would not help it, and the loop would lose what it holds.
//
// There is a timer only when the manager asked for it. Loop thread.
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
    bool asked; // the probe is in the writer's hands
    uint64_t commits;
    int64_t last_error_ns;
};

int watchdog_start(struct watchdog *watchdog, struct hub *hub); // 0 or -errno

// Asks no more; to be called before the writer gets its JOB_STOP. Fine when it never started.
void watchdog_stop(struct watchdog *watchdog);
