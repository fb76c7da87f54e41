// SPDX-License-Identifier: Apache-2.0
//
// client/ctl: the program nvtxt-ctl. It sends commands to the control socket of a daemon and prints
// the answers as text or JSON; `top` and `tail` go on until the user ends them. It owns the
// terminal while `top` runs, and the file of `metrics --output`; it has one thread. It does not
// find or connect the daemon (client/locate does), and the daemon alone decides who may do what.
//
// This header is the command line: a command, its operand, and the options that belong to it.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/common/outcome.h"

struct term;

struct ctl_options {
    const char *socket; // NULL: search for it
    bool json;
    const char *command;
    const char *operand;  // NULL: none given
    int64_t timeout_ms;   // for the answer; -1: no limit
    int64_t lines;        // -n; -1: not given
    int64_t source;       // 0: not given
    const char *output;   // NULL: standard output
    int64_t pid;          // -1: not given
    const char *category; // this and the next three: NULL: not given
    const char *message, *regex, *kind;
    int64_t count;       // 0: not given
    int64_t interval_ms; // 0: not given
    bool only_store;     // of where
    bool utc;            // of tail: times of day, else local
    bool has[12];        // which of the commands' own options were given
};

enum outcome ctl_options_parse(struct ctl_options *options, struct term *term, int argc,
                               char **argv);

// The arguments of a command that is one request. NULL when memory is short.
json_t *ctl_options_arguments(const struct ctl_options *options);
