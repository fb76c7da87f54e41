// SPDX-License-Identifier: Apache-2.0
//
// Without libsystemd the daemon takes no sockets and reports nothing to a service manager. If one
// hands sockets over all the same, the start fails: the daemon's own sockets would replace the
// manager's.
#include "daemon/socket/activation.h"

#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

int activation_take(struct activation *activation, char *why, size_t size) {
    *activation = (struct activation){.data = -1, .control = -1};
    const char *pid = getenv("LISTEN_PID");
    if (!getenv("LISTEN_FDS") || !pid || strtol(pid, NULL, 10) != (long)getpid()) {
        return 0;
    }
    snprintf(why, size,
             "sockets were handed over (LISTEN_FDS), but this nvtxtd was built without "
             "libsystemd and cannot take them");
    return EX_CONFIG;
}

void activation_notify(const char *state) {
    (void)state;
}

uint64_t activation_watchdog_ms(void) {
    return 0;
}
