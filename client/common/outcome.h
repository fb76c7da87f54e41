// SPDX-License-Identifier: Apache-2.0
//
// How a client's work ended. Functions return one of these, each but OUTCOME_DONE and
// OUTCOME_RUNNING after a sentence; the mains make an exit status of it. Where several files have
// outcomes, the largest one counts for all. No other module of the clients looks at the value of a
// negative errno.
#pragma once

#include <stdbool.h>

enum outcome {
    OUTCOME_DONE,
    OUTCOME_FAULTS,    // done, but the input had errors, or not all of it could be kept
    OUTCOME_FINDINGS,  // done, and something was found that the caller asked to be told of
    OUTCOME_UNDECIDED, // done, but there is too little for a verdict
    OUTCOME_USAGE,
    OUTCOME_BAD_DATA,
    OUTCOME_NO_INPUT,
    OUTCOME_NO_DAEMON,
    OUTCOME_SYSTEM, // memory, descriptors or the like are short
    OUTCOME_NO_OUTPUT,
    OUTCOME_IO,
    OUTCOME_LATER, // another try may succeed
    OUTCOME_PROTOCOL,
    OUTCOME_FORBIDDEN,
    OUTCOME_CONFIG,    // a configuration has faults
    OUTCOME_STOPPED,   // by a signal
    OUTCOME_NO_READER, // whoever read our output went away
    OUTCOME_ANSWERED,  // the command line asked for --help or --version only
    OUTCOME_RUNNING,   // none yet: the work goes on
};

// The exit status, one of <sysexits.h> or 128 + signal. For mains.
int outcome_exit_status(enum outcome outcome);

// What an error of the system means. `error` is a negative errno. Memory that is short is
// OUTCOME_SYSTEM, anything else is `other`.
enum outcome outcome_of_error(int error, enum outcome other);

// The same for a file that cannot be opened: OUTCOME_NO_INPUT when it is not there or not ours to
// read, OUTCOME_SYSTEM, or OUTCOME_IO.
enum outcome outcome_of_open(int error);

// The same for a file that cannot be made: OUTCOME_IO when the disk is full or broken, else
// OUTCOME_NO_OUTPUT.
enum outcome outcome_of_write(int error);

// ---- Signals (client/common/signals.c) ----------------------------------------------------------
//
// SIGINT, SIGTERM and SIGHUP as something that an event loop can wait for. The one piece of
// process-wide state of the clients: a signal handler has nowhere else to write to.

// Catches the three signals, SIGHUP unless it is ignored. Ignores SIGPIPE and SIGXFSZ: a write
// returns an error instead. Returns 0 or -errno.
int signals_init(void);

// For programs that lose nothing but a temporary file: after the first signal the program may
// go on for SIGNALS_SOON_MS more, then it ends with that signal's status.
#define SIGNALS_SOON_MS 500 // who presses the key sees the end within a second
void signals_stop_soon(void);

// The file that such an end removes; borrowed. NULL: none.
void signals_remove(const char *path);

// For programs that have some work left when a signal comes: the first one has no such limit. When
// the program has heard of it and begins that work, the first one is forgotten: signals_came() is
// false, and signals_fd() is not readable, until the second one.
void signals_allow_last_work(void);
void signals_begin_last_work(void);

int signals_fd(void);    // readable once a signal came; for poll()
int signals_count(void); // signals so far
bool signals_came(void); // whether there was one
int signals_first(void); // the first one's number, 0 before it
