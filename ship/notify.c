// SPDX-License-Identifier: Apache-2.0
//
// libsystemd finds the manager's socket in the environment; where there is none its calls do
// nothing.
#include "ship/ship.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#ifdef HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>

static void tell(const char *state) {
    sd_notify(0, state);
}

int64_t notify_interval_ms(void) {
    uint64_t us = 0;
    int64_t ms = sd_watchdog_enabled(0, &us) > 0 ? (int64_t)(us / 3000) : INT64_MAX;
    return ms > 0 ? ms : 1;
}
#else
static void tell(const char *state) {
    (void)state;
}

int64_t notify_interval_ms(void) {
    return INT64_MAX;
}
#endif

void notify_ready(void) {
    tell("READY=1");
}

void notify_alive(void) {
    tell("WATCHDOG=1");
}

void notify_stopping(void) {
    tell("STOPPING=1");
}
