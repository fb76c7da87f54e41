// SPDX-License-Identifier: Apache-2.0
//
// What each user has of the control socket, so that it can be bounded: connections, unanswered
// calls (also those whose connection is closed), and commits that it asked for in the last second.
// A user who has none of these is forgotten. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLERS_FLUSHES 10 // commits in a second

struct caller {
    struct caller *next;
    int64_t uid;
    size_t conns, calls;
    int64_t second_ns; // when the second began in which the commits are counted
    unsigned flushes;  // commits that were made for the user in it
    uint64_t flush;    // number of the last one
};

struct callers { // zeroed is ready
    struct caller *first;
};

// The caller of this user, a new one if there is none. NULL when memory is short. `now_ns` is of a
// clock that never goes back.
struct caller *callers_get(struct callers *callers, int64_t uid, int64_t now_ns);
void callers_deinit(struct callers *callers);

// Whether the commit `number` (not 0) may be made for the user now; counts it once. If not,
// `wait_ns` says how long the user has to wait.
bool caller_may_flush(struct caller *caller, uint64_t number, int64_t now_ns, int64_t *wait_ns);
