// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-send --steps -- make`: each command line that make runs, a sub-make's too, becomes a
// range. A folder of our own in $TMPDIR holds what GNU make is led to by the variable GPATH of its
// environment, and a FIFO on which each command line's end arrives as a line of NVTXT.
//
//   nvtxt-send   a link to this program; "step", a script of the shell that makes the detour
//   ends         the FIFO; a line and its name are one write, which is whole or not there
//
// Nobody waits for us longer than STEPS_PATIENCE_MS, and without the folder (in a chroot, after our
// end) make runs as if it knew nothing.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "client/common/outcome.h"
#include "client/common/term.h"

#define STEPS_OPTION "--step" // what the detour begins with: our own word, not for people
#define STEPS_PATIENCE_MS 5000
#define STEPS_ROOM 65536 // bytes of lines that are held; a FIFO has as many

struct steps {
    char folder[PATH_MAX]; // empty: there is none
    int fd;                // reads the FIFO, never blocks; owned; -1
    char *data;            // owned; STEPS_ROOM bytes: lines that were read and not taken
    size_t at, len;
    bool drained; // the FIFO was empty when it was read last
};

// Makes the folder and puts GPATH into our environment, which the command gets.
enum outcome steps_begin(struct steps *steps, struct term *term);
void steps_end(struct steps *steps); // fine when it has not begun and `folder` is empty

void steps_read(struct steps *steps); // what is there and has room

// The next whole line with its LF; NULL when there is none. Lives until the next call of
// steps_read(); steps_taken() goes on behind it.
const char *steps_line(const struct steps *steps, size_t *len);
void steps_taken(struct steps *steps, size_t len);

// One command line: `argv` is FOLDER SHELL FLAGS... LINE. Runs it, says its end, and returns its
// exit status, or ends as it did.
int steps_run_line(char **argv);
