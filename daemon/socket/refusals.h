// SPDX-License-Identifier: Apache-2.0
//
// How often refused users get an answer. A refused connection must not stay in the backlog of the
// listening socket, which all users share, so it is always accepted; but an answer costs time. A
// user gets REFUSALS_A_SECOND answers in a second; further connections are closed without one. The
// memory for this is bounded: a table of the users of this second. When it is full, other users get
// no answer. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REFUSALS_A_SECOND 100
#define REFUSALS_USERS 64

struct refusals { // zeroed is ready
    struct refusals_user {
        int64_t uid;
        int64_t since_ns; // of its second
        unsigned answers; // in it; 0: the place is free
    } users[REFUSALS_USERS];
};

// Counts a refusal. Returns whether the user gets an answer. `now_ns` is of a clock that never goes
// back.
bool refusals_allow_answer(struct refusals *refusals, int64_t uid, int64_t now_ns);

// Writes `reply` (may be NULL), and closes the descriptor of a connection that is refused. Returns
// whether lines are lost with it: the peer has sent something that does not begin like `hello`. A
// session sends its lines again. With NULL for `hello` the result is false.
bool refusals_close(int fd_take, const char *reply, size_t len, const char *hello);
