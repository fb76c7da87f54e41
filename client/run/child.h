// SPDX-License-Identifier: Apache-2.0
//
// client/run: what nvtxt-send runs. child is a command as our child, its signals and its end;
// parent is the environment by which its ranges get a parent; steps leads make to us, step runs one
// command line of it, and step_name with step_file gives it a short name (shell_words: what a shell
// reads). The room owns a child and the folder of --steps. It knows no session and no daemon:
// client/send has the loop and sends the lines. One thread.
//
// A command that runs as our child, with pipes for its output if the caller wants them: its start,
// its signals and ours, its end. It gets our stdin, signal mask and dispositions as we got them.
//
// A signal for the command arrives at a descriptor here and is passed on; one that a terminal sent
// to the whole foreground group has reached the command already. When a terminal's signal stops the
// command we stop too, and when we go on, so does the command.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/common/term.h"
#include "protocol/base/limits.h"
#include "protocol/text/forms.h"

struct child {
    pid_t pid;
    int out, err;     // its output; owned by whoever takes them and leaves -1; -1 without pipes
    int signals;      // readable when child_update() is to be called; owned
    bool running;     // it has not ended
    bool reaped;      // after its end: its number is free
    bool interrupted; // after its end a signal came that ends programs
    bool goes_on;     // set by the caller: another start follows, so that is no interruption
    int asked_to_end; // the latest such signal, whenever it came; 0: none
    int status;       // of wait(2), once it has ended
    int64_t user_us, system_us; // of the processor, once it is reaped
    sigset_t mask;              // as we got it, and as the command has it
    struct sigaction on_pipe, on_size, on_child;
};

// Starts `argv`. Without `pipes` it writes to our stdout and stderr. Returns 0; a positive errno
// when it cannot be run (ENOENT: there is no such command); or -errno when the system lacks
// something. The child can be closed in any case.
int child_start(struct child *child, char *const *argv, bool pipes);
void child_close(struct child *child); // the command runs on

// Starts it once more after its end, without pipes. Returns as child_start().
int child_start_next(struct child *child, char *const *argv);

void child_update(struct child *child); // passes signals on, and sees whether it has ended

// After its end: gives its number back.
void child_reap(struct child *child);

// After its end, and after child_close(): signals come to us as before child_start().
void child_release_signals(const struct child *child);

// Its exit status, or 128 + n when signal n ended it.
int child_exit_code(const struct child *child);

uint32_t child_color(const struct child *child); // of its range: how it ended

// Ends us by the signal that ended it, without a core file of our own. Returns when no signal did.
void child_die_likewise(const struct child *child);

// ---- Parents (parent.c) -------------------------------------------------------------------------
//
// NVTXT_PARENT holds the token of the range in which a process was started. Whoever records hands
// it on in its hello, and gives what it starts a token of its own.

#define PARENT_RUN "run" // the key of a command's range

// What the environment gives us: "" when it gives nothing, or, after one warning (`term` NULL:
// none), no token. A program with other rights than its caller's gets nothing.
void parent_take(char parent[NVTXT_PARENT_BYTES + 1], struct term *term);

// The token of a range: of its session, and its key there.
void parent_token(char token[NVTXT_PARENT_BYTES + 1], const char *session, const char *key);

// Puts a token into our environment, which what we start gets.
void parent_give(const char *token);
