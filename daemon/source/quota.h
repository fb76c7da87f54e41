// SPDX-License-Identifier: Apache-2.0
//
// What one user takes of what all share, so that it can be bounded: connections, bytes on their way
// to the store, bytes of unfinished lines, what its sources keep open, and events a second. No
// connection of a user that is over a bound of bytes or events is read for a while; nothing is lost
// by that. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/table/hash.h"

struct quota_user {
    struct nvtxt_hash_node node;
    int64_t uid;
    int64_t connections;
    size_t bytes;      // taken into batches that are not committed
    size_t partial;    // of lines without their end so far
    size_t held;       // by open ranges, variables and waiting names of its sources, and of
                       // sessions that wait for their client
    size_t held_max;   // the bound of that
    int64_t credit;    // events that may come at once; below 0: too many came
    int64_t credit_ns; // up to when time was added to the credit; 0: no rate was in force yet
    int64_t rested_ns; // when the credit is full again
    uint64_t sessions; // that its connections have begun, in all
    bool full, fast;   // over the bound of bytes, of events: not read
    size_t loading;    // held by its sessions that are being loaded
};

struct quota { // zeroed is ready
    struct nvtxt_hash users;
};

void quota_deinit(struct quota *quota);

// Counts one connection more. Returns 0 with the user, 1 when there would be more than `limit`, or
// -ENOMEM. The user lives until its last connection and its last byte are given back, and its
// credit is full again: a user that connects again gets no new credit. `now_ns` is of the clock of
// quota_spend().
int quota_take(struct quota *quota, int64_t uid, int64_t limit, int64_t now_ns,
               struct quota_user **user);
void quota_give(struct quota *quota, struct quota_user *user);

// Counts, and no longer counts, what a session without a client keeps open. quota_hold() returns 0
// or -ENOMEM. The user lives as long as something is held.
int quota_hold(struct quota *quota, int64_t uid, size_t bytes);
void quota_release(struct quota *quota, int64_t uid, size_t bytes);

// A session of the user that holds so many bytes was loaded.
void quota_loaded(struct quota *quota, int64_t uid, size_t bytes);

// Bytes of a batch are committed. Returns the user if it still exists.
struct quota_user *quota_give_bytes(struct quota *quota, int64_t uid, size_t bytes);

// Sets `full` at the limit, and clears it below half of the limit.
void quota_check_bytes(struct quota_user *user, size_t limit);

// `events` came. `rate` may come in a second; 0: any number.
void quota_spend(struct quota_user *user, uint64_t events, int64_t rate, int64_t now_ns);

// How long until the user may be read again, in ms; 0: now.
uint64_t quota_wait_ms(const struct quota_user *user, int64_t rate);

// The next user after `user` (NULL: the first) that is too fast; NULL after the last.
struct quota_user *quota_next_fast(struct quota *quota, struct quota_user *user);
