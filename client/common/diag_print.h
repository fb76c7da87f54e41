// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics for people: one line each as a compiler prints it, in colour on a terminal, and a
// summary for a file that had any. nvtxt-send, nvtxt-check and nvtxt-import print the same.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/common/term.h"

struct diag_print {
    struct term *term; // borrowed
    const char *name;  // of the file, as given; borrowed
    bool quiet;        // nothing is printed
    FILE *file;        // where the lines go instead of the terminal, without colour; may be NULL
    uint64_t printed;  // diagnostics so far
};

// One diagnostic: `file.nvtxt:12:9: error: undefined variable '$Pid' [undefined-variable]`.
void diag_print_line(struct diag_print *report, uint64_t line, uint32_t column,
                     const char *severity, const char *message, const char *code);

// The summary, when there was any error or warning. It says so when not all were printed.
void diag_print_summary(struct diag_print *report, uint64_t lines, uint64_t events, uint64_t errors,
                        uint64_t warnings);
