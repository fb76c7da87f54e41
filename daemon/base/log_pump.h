// SPDX-License-Identifier: Apache-2.0
//
// The loop's part of the log: while lines wait because standard error does not take them, it tries
// again from time to time. Nothing wakes up while nothing waits. Loop thread only, but for the
// bell, which any thread that logs may ring.
#pragma once

#include <stdbool.h>
#include <uv.h>

struct log_pump {
    uv_async_t bell;
    uv_timer_t timer;
    bool open;
};

// Returns 0 or -errno (nothing is left). The handles do not keep the loop alive.
int log_pump_start(struct log_pump *pump, uv_loop_t *loop);
void log_pump_stop(struct log_pump *pump); // safe when it was not started
