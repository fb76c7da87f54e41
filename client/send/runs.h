// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-send --repeat N --range NAME -- COMMAND`: the same command, one run after the other, so
// that the runs can be compared. This is which runs there are, and what is said of them; command.c
// records them. Runs for warm-up come before all recording.
//
// A run that fails is the last one, unless failures are ignored; so is a run during which a signal
// for us came. It is left out: its range has a name of its own, and no figure has it.
#pragma once

#include "client/common/term.h"
#include "client/run/child.h"

#define RUNS_MOST 100000

struct runs {
    size_t wanted; // 0: the command runs once, and nothing is said
    size_t warm_ups;
    bool ignore_failure;
    const char *session; // in which the runs are recorded; NULL: they are not

    size_t begun;               // the latest run's number, from 1; those for warm-up are counted
    int64_t begun_ns;           // when it began
    int error;                  // why it could not be started: what child_start() returned
    uint64_t *ns;               // owned: how long the runs took that are not left out
    size_t count;               // of these
    size_t ignored;             // of these failed
    int64_t user_us, system_us; // of the processor, of all of these
    bool stopped;               // no other run follows
    bool left_out;              // the latest run is
    bool rewinds;               // stdin is a file: each run reads it from `stdin_at` on
    off_t stdin_at;
};

// Looks at stdin: a file is read again by each run; anything else is empty for them, since only the
// first one would have it. Returns 0 or -errno.
int runs_begin(struct runs *runs);
void runs_deinit(struct runs *runs); // fine when zeroed

// Starts the next run, of a child that was zeroed or has ended. Returns as child_start().
int runs_start(struct runs *runs, struct child *child, char *const *argv, bool pipes);

// The runs for warm-up, before the others. `stopped`: one of them failed, or a signal came. Returns
// as child_start().
int runs_warm_up(struct runs *runs, struct child *child, char *const *argv, struct term *term);

// The latest run has ended at that time; its process is reaped.
void runs_ended(struct runs *runs, struct child *child, int64_t now_ns);

// Whether another run follows. Looks whether a signal came.
bool runs_go_on(struct runs *runs, struct child *child);

#define RUNS_KEY 32

// The key of the latest run in tokens: "run", or "run-N" of several.
void runs_key(const struct runs *runs, char key[RUNS_KEY]);

// What stands after the name of the latest run's range: "" when it is not left out.
const char *runs_suffix(const struct runs *runs, const struct child *child);

// Says why the runs stopped, and what those took that are not left out. `name`: of their ranges.
void runs_print(const struct runs *runs, const struct child *child, const char *name,
                struct term *term);

// Says which command shows the ranges of that name one by one.
void runs_print_hint(const char *name, struct term *term);
