// SPDX-License-Identifier: Apache-2.0
//
// Rules that are programs (nvtxt-rule(5), "PYTHON RULES"): what this room asks of the one who runs
// them. A runner begins with this struct, and fills it in; the one of Python is report/host.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "protocol/base/slice.h"
#include "report/text/files.h"

struct report_builder;
struct report_messages;
struct report_metrics;
struct report_result;
struct store_arena;

// What a program is, and what it says of itself. All is in the arena of the call.
struct report_program {
    struct report_program_text text; // all its processes get it
    struct nvtxt_slice identifier, name, description;
    struct nvtxt_slice section; // data NULL: of none
    const struct nvtxt_slice *parents;
    size_t parent_count;
    // Why it could not be asked, or failed to answer; data NULL: it did answer. `not_run`: there is
    // nothing to run it with; else it failed.
    struct nvtxt_slice reason;
    bool not_run;
    struct nvtxt_slice output; // what it printed, when it failed
};

enum { REPORT_PROGRAM_IS_HELPER = NVTXT_WRONG + 1 }; // a module for rules, and no rule

// A program that is applied to the scope of `metrics`.
struct report_program_call {
    const char *file;
    const struct report_program *program;
    struct report_metrics *metrics;
    struct report_builder *builder;
    // Whether there is a rule of that identifier.
    bool (*has_rule)(const void *rules, struct nvtxt_slice identifier);
    const void *rules;
    // The results of the scope so far, in their order.
    const struct report_result *results;
    size_t result_count;
};

struct report_runner {
    // Asks a file, whose text is there, what it is. Returns 0, one of the above, -EINTR after a
    // signal, or -ENOMEM.
    int (*describe)(struct report_runner *runner, const struct report_file *file,
                    struct store_arena *arena, struct report_program *program,
                    struct report_messages *messages);
    // The next calls are for another scope: what rules told each other is forgotten.
    void (*begin)(struct report_runner *runner);
    // Returns 0, -EINTR after a signal, or -ENOMEM. All else is in the result.
    int (*apply)(struct report_runner *runner, const struct report_program_call *call);
};
