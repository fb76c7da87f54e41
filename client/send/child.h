// SPDX-License-Identifier: Apache-2.0
//
// A command that runs as our child, with pipes for its output if that is wanted: starting it, its
// signals and ours, its end. It gets our stdin, signal mask and dispositions as we got them.
//
// Signals that are for the command arrive at a descriptor and are passed on; one that a terminal
// sent to the whole foreground group has reached the command already. When a terminal's signal
// stops the command we stop too, and it goes on when we do.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
    pid_t pid;
    int out, err;     // what it writes; owned by whoever takes them out (-1, and without pipes)
    int signals;      // readable when child_look() has something to do; owned
    bool running;     // it has not ended
    bool interrupted; // a signal that ends programs came after it had ended
    int status;       // of wait(2), once it has ended
    sigset_t mask;    // what we had, and it has
    struct sigaction on_pipe, on_size, on_child;
};

// Starts `argv`. Returns 0; a positive errno when it cannot be run (ENOENT: there is no such
// command); or -errno when something of the system is short. In any case it can be closed. Without
// `pipes` it writes to where we do.
int child_start(struct child *child, char *const *argv, bool pipes);
void child_close(struct child *child); // the command is left alone

void child_look(struct child *child);

// Its exit status, 128 + n when signal n ended it.
int child_exit_code(const struct child *child);

bool child_was_killed(const struct child *child); // a signal ended it

uint32_t child_color(const struct child *child); // of its range: how it ended

// Ends us by the signal that ended it, without a core of our own; returns when none did.
void child_die_likewise(const struct child *child);
