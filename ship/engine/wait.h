// SPDX-License-Identifier: Apache-2.0
//
// Waiting for the engine: until a deadline, or until the time is over that the program has left
// once it shall end, with signs of life for whoever watches it. It does not know libpq: its caller
// says whether a statement runs, and is told when to break it off.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Times are in ms of CLOCK_MONOTONIC. The caller sets the first four, and `stop_ms` where the
// program ends already.
struct wait {
    int stop_fd;          // readable once the program shall end; -1: never
    int64_t grace_ms;     // how long waits may last from then on, all together
    void (*alive)(void);  // called while it waits; NULL: nobody wants to know
    int64_t alive_ms;     // how often, at least
    int64_t stop_ms;      // no wait ends later; 0: the program goes on
    int64_t break_ms;     // when a statement is broken off; 0: it is not
    int64_t alive_due_ms; // when `alive` is called again
};

enum wait_result {
    WAIT_READY,
    WAIT_LATE, // the deadline came first, or the program ends
    WAIT_BREAK // half of the program's time is over: break the statement off and wait again; once
};

// The time in `ms` from now, or when the program ends.
int64_t wait_deadline(const struct wait *wait, int64_t ms);

// Waits for `events` of poll(2) on a socket. `may_break`: WAIT_BREAK is wanted. Returns enum
// wait_result or -errno.
int wait_for(struct wait *wait, int fd, short events, int64_t deadline, bool may_break);
