// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-send --steps -- make`: each command line that make runs, a sub-make's too, becomes a
// range. The variable GPATH of make's environment leads GNU make to a folder of our own in $TMPDIR,
// and each command line's end arrives as lines of NVTXT on a FIFO there. What the line starts finds
// the line's range in NVTXT_PARENT. What make's function shell runs is no step: it has no target.
//
//   nvtxt-send   a link to this program
//   step         a shell script that starts it instead of the command line
//   ends         the FIFO; the lines of one range are one write, which is whole or not there
//
// No command waits for us longer than STEPS_PATIENCE_MS. Without the folder (in a chroot, after our
// end) make runs as it would without us.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "client/common/outcome.h"
#include "client/common/term.h"

#define STEPS_OPTION "--step"            // the first argument when make starts us; not for people
#define STEPS_TARGET "NVTXT_STEP_TARGET" // make's environment tells the target by it
#define STEPS_PATIENCE_MS 5000
#define STEPS_ROOM 65536 // bytes of lines that are held; a FIFO has as many

struct steps {
    char folder[PATH_MAX]; // empty: there is none
    int fd;                // reads the FIFO, never blocks; owned; -1
    char *data;            // owned; STEPS_ROOM bytes: lines that were read and not taken
    size_t at, len;
    bool drained; // the FIFO was empty when it was read last
};

// Makes the folder and puts GPATH into our environment, which the command gets. `session` is that
// in which the steps are recorded.
enum outcome steps_begin(struct steps *steps, const char *session, struct term *term);
void steps_end(struct steps *steps); // fine when it has not begun and `folder` is empty

void steps_read(struct steps *steps); // reads what is there and has room

// The next whole line with its LF; NULL when there is none. Good until the next steps_read().
// steps_taken() moves to the line after it.
const char *steps_line(const struct steps *steps, size_t *len);
void steps_taken(struct steps *steps, size_t len);

// ---- One command line (step.c) ------------------------------------------------------------------

// Runs it: `argv` is FOLDER SESSION SHELL FLAGS... LINE. Sends its range. Returns the exit status
// that make has to see, for main() to end with: the command's own (128 + n for signal n), or 127,
// as of a shell, when it cannot be started. Where a signal ended the command, we end by the same
// signal.
int steps_run_line(char **argv);
