// SPDX-License-Identifier: Apache-2.0
//
// ship: nvtxt-ship, which brings the rows of one host's store into a PostgreSQL database, each row
// exactly once. Here are its face and its assembly: the command line and the configuration
// (options, conf), the commands, and the loop that follows a store. The room owns the program's
// signals and its exit status. One thread. It writes nothing into a store; what a statement says is
// known in ship/engine, and how a row looks on the wire in ship/rows.
//
// This header: the command line. Options that are keys of the configuration override its files,
// wherever they stand. A command takes options that it has no use for.
#pragma once

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "protocol/base/buf.h"
#include "ship/conf.h"
#include "ship/engine/schema.h"
#include "ship/simulate/simulate.h"

enum ship_command {
    SHIP_FOLLOW, // none was named
    SHIP_INIT,
    SHIP_STATUS,
    SHIP_METRICS,
    SHIP_PULL,
    SHIP_MAINTAIN,
    SHIP_SIMULATE,
};

struct ship_options {
    enum ship_command command;
    struct ship_conf conf;
    struct schema_wishes wishes; // of init
    struct nvtxt_buf hosts;      // each --host of the command line, with its NUL
    bool once, dry_run;
    bool print;                        // init
    bool json;                         // status, simulate
    struct simulate_wishes simulation; // what keys do not say
    bool check_config;
    const char *file;          // of -c; NULL: the usual one
    const char *output;        // of metrics and pull; NULL: none
    const char *since, *until; // pull; NULL: not given
};

// Reads configuration and command line. OUTCOME_ANSWERED: --help or --version was printed. Needs
// ship_options_deinit() in any case.
enum outcome ship_options_read(struct ship_options *options, struct term *term, int argc,
                               char **argv);
void ship_options_deinit(struct ship_options *options);
