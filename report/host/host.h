// SPDX-License-Identifier: Apache-2.0
//
// report/host: rules that are Python files (nvtxt-rule(5), "PYTHON RULES"). Each is run by a
// process of its own, with limits, that asks for figures and says what it found over a socket. The
// room owns the processes while they run, and what rules of one scope leave for each other. One
// thread, which waits for one process at a time. It contains accidents, not attackers; it prints
// nothing.
//
// This header is the host: the runner of report/judge.
#pragma once

#include <stdbool.h>

#include "report/judge/runner.h"

struct report_definitions;
struct report_filter_view;
struct report_sections;

enum report_sandbox { REPORT_SANDBOX_AUTO, REPORT_SANDBOX_ALWAYS, REPORT_SANDBOX_NEVER };

// All but the folder is borrowed.
struct report_host_options {
    const char *python;  // a program, found along PATH
    const char *folder;  // of rule_host.py
    const char *version; // of nvtxt-report
    enum report_sandbox sandbox;
    double timeout_s; // of one use of a rule: time that passes, and time of the processor
    const struct report_definitions *definitions; // NULL: none
    const struct report_sections *sections;
    const struct report_filter_view *view;
    int interrupt_fd; // readable once all has to end; -1: none
};

#define REPORT_HOST_NO_SANDBOX 1 // REPORT_SANDBOX_ALWAYS, and there is none that starts

// Looks for Python and, if it is asked for, for bubblewrap. Returns 0, REPORT_HOST_NO_SANDBOX, or
// -errno.
int report_host_new(struct report_runner **runner, const struct report_host_options *options);
void report_host_free(struct report_runner *runner); // NULL is fine
