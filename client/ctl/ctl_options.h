// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-ctl's command line: a command, what it takes, and which options belong to it.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/common/outcome.h"

struct term;

struct ctl_options {
    const char *socket; // NULL: derived
    bool json;
    const char *command;
    const char *operand;  // NULL: none given
    int64_t timeout_ms;   // for the answer; -1: for ever
    int64_t lines;        // -n; -1: not given
    int64_t source;       // 0: not given
    const char *output;   // NULL: standard output
    int64_t pid;          // -1: not given
    const char *category; // this and the next three: NULL: not given
    const char *message, *regex, *kind;
    int64_t count;       // 0: not given
    int64_t interval_ms; // the same
    unsigned given;      // a bit for each of the commands' own options
};

enum outcome ctl_options_parse(struct ctl_options *options, struct term *term, int argc,
                               char **argv);

// The arguments of a command that is one request. NULL when memory is short.
json_t *ctl_options_arguments(const struct ctl_options *options);
