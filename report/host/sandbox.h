// SPDX-License-Identifier: Apache-2.0
//
// The command line of a rule's process: Python, in bubblewrap where that is there.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define REPORT_SANDBOX_WORDS 48 // of a command line, with the NULL at its end

struct report_command_line {
    const char *words[REPORT_SANDBOX_WORDS]; // ends with NULL; borrowed
    size_t count;
};

// Finds a program along PATH; a name with a slash is a path. False: there is none that may be run.
bool report_sandbox_find(const char *name, char path[PATH_MAX]);

// Begins a command line with bubblewrap, a path, and what it is asked for: a read-only root, a
// /tmp of its own, no network, no other processes.
void report_sandbox_begin(struct report_command_line *line, const char *bubblewrap);

// A folder that is to be seen though it may be in /tmp.
void report_sandbox_show(struct report_command_line *line, const char *folder);

void report_sandbox_add(struct report_command_line *line, const char *word);

// Whether bubblewrap starts a program here.
bool report_sandbox_starts(const char *bubblewrap);
