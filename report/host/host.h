// SPDX-License-Identifier: Apache-2.0
//
// report/host: rules that are Python files (nvtxt-rule(5), "PYTHON RULES"). Each is run by a
// process of its own, with limits, that asks for figures and says what it found over a socket. The
// room owns the processes while they run, and what rules of one scope leave for each other. One
// thread, which waits for one process at a time; it prints nothing.
//
// This header is the host: the runner of report/rule.
#pragma once

#include "report/rule/runner.h"

struct report_definitions;
struct report_section_filter_view;
struct report_sections;

enum report_sandbox { REPORT_SANDBOX_AUTO, REPORT_SANDBOX_ALWAYS, REPORT_SANDBOX_NEVER };

#define REPORT_HOST_WHY 256

// All but the folder is borrowed.
struct report_host_options {
    const char *python;  // a program, found along PATH
    const char *folder;  // of rule_host.py
    const char *version; // of nvtxt-report
    enum report_sandbox sandbox;
    double timeout_s; // of one use of a rule: time that passes, and time of the processor
    const struct report_definitions *definitions; // NULL: none
    const struct report_sections *sections;
    const struct report_section_filter_view *view;
    int interrupt_fd; // readable once all has to end; -1: none
    char *why;        // REPORT_HOST_WHY bytes for why there is no sandbox; NULL: nobody asks
};

// REPORT_SANDBOX_ALWAYS, and there is none that starts.
enum { REPORT_HOST_NO_SANDBOX = NVTXT_WRONG + 1 };

// Looks for Python and, if it has to be there, for bubblewrap. Returns 0, REPORT_HOST_NO_SANDBOX
// (`why` says why), or -errno.
int report_host_new(struct report_runner **runner, const struct report_host_options *options);

// Why rules run without a sandbox though one was to be there if it can; NULL: they do not, or none
// was asked so far. Good as long as the runner.
const char *report_host_missing(struct report_runner *runner);
void report_host_free(struct report_runner *runner); // NULL is fine
