// SPDX-License-Identifier: Apache-2.0
//
// Reads the configuration again while the daemon runs (SIGHUP, `nvtxt-ctl reload`): files and
// command line as at the start. What can change is applied, what needs a restart is named; with any
// fault nothing is changed. Loop thread only: it reads small files there, which is the one time
// that the loop touches a disk, and only when somebody asks.
#pragma once

#include "daemon/conf/conf.h"

struct expiry;
struct server;
struct watch;

struct reload {
    struct server *server; // borrowed
    struct expiry *expiry; // borrowed
    struct watch *watch;   // borrowed
    struct conf *config;   // borrowed: what is in force, with its paths resolved
    struct conf given;     // what is in force, as it was given
    int argc;
    char **argv; // borrowed
};

// At the start, with the configuration as options_read() left it. Returns 0 or -ENOMEM; deinit in
// any case.
int reload_init(struct reload *reload, struct conf *config, int argc, char **argv);
void reload_deinit(struct reload *reload); // zeroed is fine

// Returns 0, or 1 with the faults in `result`; says either in the log, and the manager that it
// happens.
int reload_run(struct reload *reload, struct reload_result *result);
