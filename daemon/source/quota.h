// SPDX-License-Identifier: Apache-2.0
//
// What one user has of what all share, so that it can be bounded: connections, bytes on their way
// to the store, bytes of unfinished lines, and events a second. Who is over a bound of bytes or
// events is not read for a while, on any of its connections; nothing is lost by it. Loop thread
// only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/hash.h"

struct quota_user {
    struct nvtxt_hash_node node;
    int64_t uid;
    int64_t connections;
    size_t bytes;      // taken into batches that are not committed
    size_t partial;    // of lines whose end has not come
    size_t held;       // by open ranges, variables and waiting names of its sources, also of those
                       // whose sessions wait to be resumed
    size_t held_max;   // and how much that may be
    int64_t credit;    // events that may come at once; below 0: too many came
    int64_t credit_ns; // what was earned up to then is in the credit; 0: no rate was asked for yet
    int64_t rested_ns; // when the credit is whole again
    uint64_t sessions; // that its connections began, all told
    bool full, fast;   // over the bound of bytes, of events: not read
};

struct quota { // zeroed is ready
    struct nvtxt_hash users;
};

void quota_deinit(struct quota *quota);

// Counts one connection more. Returns 0 with the user, 1 when it would be more than `limit`, or
// -ENOMEM. The user lives until its last connection and its last byte are given back, and until the
// events that it sent are made up for, so that coming again makes nobody faster. `now_ns` is of the
// clock of quota_spend().
int quota_take(struct quota *quota, int64_t uid, int64_t limit, int64_t now_ns,
               struct quota_user **user);
void quota_give(struct quota *quota, struct quota_user *user);

// What a session that nobody is connected to keeps open counts for the user, and not any more.
// Holding returns 0 or -ENOMEM. The user lives as long as something is held.
int quota_hold(struct quota *quota, int64_t uid, size_t bytes);
void quota_release(struct quota *quota, int64_t uid, size_t bytes);

// Bytes of a batch are safe. Returns the user if it still exists.
struct quota_user *quota_give_bytes(struct quota *quota, int64_t uid, size_t bytes);

// Whether the bytes are too many, with some distance between too many and few enough.
void quota_weigh(struct quota_user *user, size_t limit);

// `events` came; `rate` may come in a second, 0 for any number.
void quota_spend(struct quota_user *user, uint64_t events, int64_t rate, int64_t now_ns);

// How long until it may be read again, in ms; 0 when it may.
uint64_t quota_wait_ms(const struct quota_user *user, int64_t rate);

// The next user that is too fast; NULL after the last. Starts after `user`, or at the first one.
struct quota_user *quota_next_fast(struct quota *quota, struct quota_user *user);
