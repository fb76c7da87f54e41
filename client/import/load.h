// SPDX-License-Identifier: Apache-2.0
//
// Runs files through the interpreter without a daemon, for nvtxt-check and nvtxt-import. Reads an
// input, prints its diagnostics, and gives events, names and diagnostics to a target.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/common/arguments.h"
#include "client/common/input.h"
#include "client/common/term.h"
#include "protocol/interp/interp.h"

// ---- Clocks of this machine (client/import/clock_here.c) ----------------------------------------

// --clock=here: the clocks of this machine still run, so times that a file got from them since the
// boot can be moved to the timeline.

#define CLOCK_HERE_MAX 5

struct clock_here {
    size_t count;
    struct clock_here_reading {
        enum nvtxt_timebase base;
        int64_t clock_ns;       // the clock (a counter scaled to ns)
        int64_t realtime_ns;    // CLOCK_REALTIME at that moment
        int64_t uncertainty_ns; // the two readings are at most so far apart
        struct nvtxt_clock_offset offset;
    } readings[CLOCK_HERE_MAX];
};

// Reads all clocks of this machine against CLOCK_REALTIME.
void clock_here_measure(struct clock_here *clocks);

// Gives an interpreter these readings.
void clock_here_apply(const struct clock_here *clocks, struct nvtxt_interp *interp);

// ---- Files --------------------------------------------------------------------------------------

// How to read the files; the same for all files of a command line.
struct load_options {
    struct arguments_mapping mapping;
    struct clock_here clocks; // count 0: the states of the clocks are not known
    int64_t origin_ns;        // of TimeBase Relative
    bool has_origin;          // it was given
    bool no_clock;            // the target does not say when it began, so no clock helps
    uint32_t default_pid;
};

extern const struct nvtxt_option load_rows[]; // for a group: the options of struct load_options

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

// Loads an open input. `target` NULL: diagnostics only. Returns OUTCOME_DONE whatever the input's
// lines hold (see `counters`), OUTCOME_USAGE for a mapping that the file makes impossible,
// OUTCOME_NO_INPUT when it cannot be read to its end (what was read is loaded), OUTCOME_SYSTEM, or
// OUTCOME_STOPPED; or -errno of the target, without a message.
int load_input(struct input *input, const struct load_options *options, struct diag_print *report,
               const struct load_target *target, struct nvtxt_counters *counters);
