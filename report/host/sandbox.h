// SPDX-License-Identifier: Apache-2.0
//
// The command line of a rule's process: Python, in bubblewrap where that is there.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define REPORT_SANDBOX_WORDS 128    // of a command line, with the NULL at its end
#define REPORT_SANDBOX_FOLDERS 8    // of an interpreter
#define REPORT_SANDBOX_REASON 256   // bytes
#define REPORT_SANDBOX_TMP 67108864 // bytes of its /tmp: 64 MiB
#define REPORT_SANDBOX_TEXT_(n) #n  // a number as a word
#define REPORT_SANDBOX_TEXT(n) REPORT_SANDBOX_TEXT_(n)

struct report_command_line {
    const char *words[REPORT_SANDBOX_WORDS]; // ends with NULL; borrowed
    size_t count;
};

// An interpreter, and the folders outside of /usr that have it and its modules.
struct report_interpreter {
    char program[PATH_MAX]; // empty: there is none
    char folders[REPORT_SANDBOX_FOLDERS][PATH_MAX];
    size_t count;
};

// Finds a program along PATH; a name with a slash is a path. False: there is none that may be run.
bool report_sandbox_find(const char *name, char path[PATH_MAX]);

// The folder of a path, which may be the same memory.
void report_sandbox_folder_of(const char *path, char folder[PATH_MAX]);

// Finds an interpreter, and its folders by where it is and where its links lead: it is not run.
void report_sandbox_find_interpreter(struct report_interpreter *interpreter, const char *name);

// Begins a command line with bubblewrap, a path, and what it is asked for: a read-only root with
// the system's programs and libraries and the folders (NULL ends them), a /tmp of its own, no
// network, no other processes, no capability. A program is to follow.
void report_sandbox_begin(struct report_command_line *line, const char *bubblewrap,
                          const char *const *folders);

void report_sandbox_add(struct report_command_line *line, const char *word);

// Whether bubblewrap starts a program here; if not, `reason` says why.
bool report_sandbox_starts(const char *bubblewrap, char reason[REPORT_SANDBOX_REASON]);
