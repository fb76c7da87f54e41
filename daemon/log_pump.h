// SPDX-License-Identifier: Apache-2.0
//
// Writes log lines that had to wait because standard error did not take them (base/log_out.h): the
// event loop tries again ten times a second. While no line waits, nothing wakes up. Loop thread;
// any thread may log.
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
