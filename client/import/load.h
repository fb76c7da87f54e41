// SPDX-License-Identifier: Apache-2.0
//
// Runs files through the interpreter without a daemon, for nvtxt-check and nvtxt-import. Reads an
// input, prints its diagnostics, and gives events, names and diagnostics to a target.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/common/arguments.h"
#include "client/common/clock_here.h"
#include "client/common/diag_print.h"
#include "client/common/input.h"
#include "protocol/interp/interp.h"

// How to read the files; the same for all files of a command line.
struct load_options {
    struct options_mapping mapping;
    struct clock_here clocks; // count 0: the states of the clocks are not known
    int64_t origin_ns;        // of TimeBase Relative
    bool has_origin;          // it was given
    bool no_clock;            // the target does not say when it began, so no clock helps
    uint32_t default_pid;
};

// The lines for these in a table of struct option.
#define LOAD_OPTIONS                                                                               \
    OPTIONS_MAPPING, {"pid", required_argument, NULL, OPTIONS_PID},                                \
        {"origin", required_argument, NULL, OPTIONS_ORIGIN}, {                                     \
        "clock", required_argument, NULL, OPTIONS_CLOCK                                            \
    }

// Takes one of these options. Returns an outcome, or OPTIONS_OTHER when `option` is none of them.
int load_take_option(struct load_options *options, struct term *term, int option, const char *text);

// Takes what the interpreter makes of a file. Each function returns 0, or -errno to end the
// loading.
struct load_target {
    struct nvtxt_sink sink;
    int64_t opened_ns; // realtime when the source was opened, as on its row
    // Called now and then between two lines, and once after the last: a place to write, and to
    // check for signals. The counters and the display name of `interp` are up to date.
    int (*on_pause)(void *context, const struct nvtxt_interp *interp);
    void *context;
};

// Loads an open input. `target` NULL: diagnostics only. Returns DONE whatever the input's lines
// hold (look at `counters`), USAGE for a mapping that the file makes impossible, NO_INPUT when it
// cannot be read to its end (what was read is loaded), SYSTEM, or STOPPED; or -errno of the target,
// without a message.
int load_input(struct input *input, const struct load_options *options, struct report *report,
               const struct load_target *target, struct nvtxt_counters *counters);
