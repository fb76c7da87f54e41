// SPDX-License-Identifier: Apache-2.0
//
// Files through the interpreter without a daemon: what nvtxt-check and nvtxt-import have in common.
// Reads an input, prints its diagnostics, and hands events, names and diagnostics on.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/common/arguments.h"
#include "client/common/clock_here.h"
#include "client/common/diag_print.h"
#include "client/common/input.h"
#include "protocol/interp/interp.h"

// How files are to be understood; the same for all files of a command line.
struct load_options {
    struct options_mapping mapping;
    struct clock_here clocks; // count 0: where the clocks stood is not known
    int64_t origin_ns;        // of TimeBase Relative
    bool has_origin;          // it was given
    bool no_clock;            // what the times go to does not say when it began: no clock helps
    uint32_t default_pid;
};

// Their lines of a struct option table.
#define LOAD_OPTIONS                                                                               \
    OPTIONS_MAPPING, {"pid", required_argument, NULL, OPTIONS_PID},                                \
        {"origin", required_argument, NULL, OPTIONS_ORIGIN}, {                                     \
        "clock", required_argument, NULL, OPTIONS_CLOCK                                            \
    }

// Takes one of these options. Returns an outcome, or OPTIONS_OTHER when `option` is none of them.
int load_take_option(struct load_options *options, struct term *term, int option, const char *text);

// Who takes what a file makes. Each returns 0 or -errno, which ends the loading.
struct load_target {
    struct nvtxt_sink sink;
    int64_t opened_ns; // realtime when the source was opened, as on its row
    // Now and then between two lines, and once behind the last: a place to write and to look
    // whether to go on. The interpreter is at rest; its counters and display name are good.
    int (*on_pause)(void *context, const struct nvtxt_interp *interp);
    void *context;
};

// Loads an open input. `target` NULL: diagnostics only. Returns DONE whatever the input's lines
// hold (look at `counters`), USAGE for a mapping that the file makes impossible, NO_INPUT when it
// cannot be read to its end (what was read is loaded), SYSTEM, or STOPPED; or -errno of the target,
// about which nothing is said.
int load_input(struct input *input, const struct load_options *options, struct report *report,
               const struct load_target *target, struct nvtxt_counters *counters);
