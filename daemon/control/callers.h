// SPDX-License-Identifier: Apache-2.0
//
// What each user has of the control socket, so that it can be bounded: connections, requests that
// are not answered (also those whose connection is gone), and commits that it asked for in a
// second. There are never more callers than connections and requests, and those of the last second.
// Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLERS_FLUSHES 10 // commits in a second

struct caller {
    struct caller *next;
    int64_t uid;
    size_t conns, calls;
    int64_t second_ns; // since when
    unsigned flushes;  // so many commits were asked for
    uint64_t flush;    // the last of them
};

struct callers { // zeroed is ready
    struct caller *first;
};

// The user's; a new one when it is not known. NULL when memory is short. `now_ns` is of a clock
// that never goes back.
struct caller *callers_get(struct callers *callers, int64_t uid, int64_t now_ns);
void callers_deinit(struct callers *callers);

// Whether the commit `number` (not 0) may be made for the user now; counts it once. If not,
// `wait_ns` is how long it has to wait.
bool caller_may_flush(struct caller *caller, uint64_t number, int64_t now_ns, int64_t *wait_ns);
