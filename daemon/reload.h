// SPDX-License-Identifier: Apache-2.0
//
// Reads the configuration again while the daemon runs (SIGHUP, `nvtxt-ctl reload`): files and
// command line, as at the start. Values that can change while the daemon runs are applied; those
// that need a restart are named. If there is any fault, nothing changes. Loop thread only: this is
// the one time that the loop reads files, small ones, and only when somebody asks for it.
#pragma once

#include "daemon/conf/conf.h"

struct expiry;
struct server;
struct watch;

struct reload {
    struct server *server;  // borrowed
    struct expiry *expiry;  // borrowed
    struct watch *watch;    // borrowed
    struct conf *config;    // borrowed: what is in force, with its paths resolved
    struct conf as_written; // what is in force, as the user wrote it
    int argc;
    char **argv; // borrowed
};

// To be called at the start, with the configuration as options_read() has set it. Returns 0 or
// -ENOMEM; needs reload_deinit() in both cases.
int reload_init(struct reload *reload, struct conf *config, int argc, char **argv);
void reload_deinit(struct reload *reload); // `reload` may be zeroed

// Returns 0, or 1 with the faults in `result`. Logs the result, and tells the service manager when
// the reload begins and ends.
int reload_run(struct reload *reload, struct reload_result *result);
