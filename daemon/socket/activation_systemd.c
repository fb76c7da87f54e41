// SPDX-License-Identifier: Apache-2.0
//
// libsystemd reads the environment that the manager has set and talks to its socket. A single
// descriptor without a name of its own is taken as the data socket.
#include "daemon/socket/activation.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <systemd/sd-daemon.h>

// A name that nobody chose: sd_listen_fds_with_names(3) returns "unknown" when there is none, and a
// unit without FileDescriptorName= gives the name of the unit, systemd.socket(5).
static bool is_nobodys(const char *name) {
    size_t len = strlen(name);
    return strcmp(name, "unknown") == 0 || (len > 7 && strcmp(name + len - 7, ".socket") == 0);
}

int activation_take(struct activation *activation, char *why, size_t size) {
    char **names = NULL;
    int status = 0;
    *activation = (struct activation){.data = -1, .control = -1};
    int count = sd_listen_fds_with_names(1, &names);
    if (count < 0) {
        snprintf(why, size, "what the service manager handed over cannot be understood: %s",
                 strerror(-count));
        return EX_CONFIG;
    }
    for (int i = 0; i < count; i++) {
        if (!status) {
            status = activation_assign(activation, SD_LISTEN_FDS_START + i,
                                       count == 1 && is_nobodys(names[i]) ? "data" : names[i], why,
                                       size);
        }
        free(names[i]);
    }
    free(names);
    return status;
}

void activation_notify(const char *state) {
    sd_notify(0, state); // fails without a manager
}

uint64_t activation_watchdog_ms(void) {
    uint64_t us;
    if (sd_watchdog_enabled(0, &us) <= 0) {
        return 0;
    }
    return us < 1000 ? 1 : us / 1000;
}
