// SPDX-License-Identifier: Apache-2.0
//
// Sessions that wait for their client, with what each keeps open in the store: it counts for its
// user (quota.h) as if it were connected, or one user could fill the store by leaving. What the
// store has is read at the start (NVTXT_SESSIONS.openBytes). One that keeps nothing open is not
// here. Loop thread only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/source/quota.h"
#include "protocol/base/hash.h"

struct parked { // zeroed is ready, but for the quota
    struct nvtxt_hash sessions;
    struct quota *quota; // borrowed
};

void parked_deinit(struct parked *parked);

// The session waits, since `seen_ns` (realtime), with so many bytes; before, it was not here or had
// others. Returns 0 or -ENOMEM: then it is not counted.
int parked_put(struct parked *parked, const char *session_id, int64_t uid, size_t bytes,
               int64_t seen_ns);

// It goes on, or is over: its bytes are given back. One that is not here is fine.
void parked_take(struct parked *parked, const char *session_id);

// The store has none that was seen before: those that are here went with a store.
void parked_forget(struct parked *parked, int64_t before_ns);
