// SPDX-License-Identifier: Apache-2.0
//
// daemon: the program nvtxtd, assembled from its rooms. Here are the order of the start and its
// reverse (daemon.c), a reload of the configuration (reload.h), the watchdog of the service manager
// (watchdog.c), and the log lines that have to wait (log_pump.c). It owns one of everything: loop,
// locks, store until the writer has it, sockets, server, watch, control. It does no work of a room:
// what is decided here is who calls whom. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/writer/bqueue.h"

// Runs nvtxtd with its command line. Returns the exit status (sysexits.h).
int daemon_main(int argc, char **argv);

// ---- Log lines that have to wait (daemon/log_pump.c) --------------------------------------------
//
// Writes log lines that had to wait because standard error did not take them (base/log_out.h): the
// event loop tries again ten times a second. While no line waits, nothing wakes up. Loop thread;
// any thread may log.

struct log_pump {
    uv_async_t bell;
    uv_timer_t timer;
    bool open;
};

// Returns 0 or -errno (nothing is left). The handles do not keep the loop alive.
int log_pump_start(struct log_pump *pump, uv_loop_t *loop);
void log_pump_stop(struct log_pump *pump); // safe when it was not started

// ---- The watchdog (daemon/watchdog.c) -----------------------------------------------------------
//
// Tells the service manager that the daemon makes progress (WATCHDOG=1), which means both threads:
// a timer of the loop pushes a job that does nothing, and the WATCHDOG=1 is sent when it is done.
// While the writer hangs nothing is sent, so the manager restarts the daemon. A writer that cannot
// write and tries again and again (a full disk, a lock of another process) does not hang: a restart
// would not help it, and the loop would lose what it holds.
//
// There is a timer only when the manager asked for it. Loop thread only.

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
