// SPDX-License-Identifier: Apache-2.0
//
// How often users are told that they are refused. A refused connection must not stay in the
// listening socket's backlog, which all users share, so it is always accepted; but telling why
// costs. A user is told REFUSALS_A_SECOND times in a second, and hears nothing beyond that. The
// memory of it is bounded: a table of the users of this second; when it is full, others are not
// told. Loop thread only.
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
        unsigned told;    // in it; 0: the place is free
    } users[REFUSALS_USERS];
};

// Whether the user is told now; counts it. `now_ns` is of a clock that never goes back.
bool refusals_tell(struct refusals *refusals, int64_t uid, int64_t now_ns);

// Closes the descriptor of a connection whose user is refused, and with `reply` says why before.
// Returns whether the peer had sent something that is lost by it: nothing was read, and lines of a
// session come again, so it is what does not begin like `hello` (NULL: nothing counts).
bool refusals_close(int fd_take, const char *reply, size_t len, const char *hello);
