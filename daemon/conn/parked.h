// SPDX-License-Identifier: Apache-2.0
//
// Sessions without a client, with what each keeps open in the store. It counts for its user
// (quota.h) as if the client were connected: else one user could fill the store by leaving. Read
// from the store at the start (NVTXT_SESSIONS.openBytes). A session that keeps nothing open and has
// no expiry of its own is not here. Loop thread only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/source/quota.h"
#include "protocol/base/clock.h"
#include "protocol/table/hash.h"

struct parked { // zeroed is ready, but for the quota
    struct nvtxt_hash sessions;
    struct quota *quota; // borrowed
    // The owner's: a session came that is due at a time. NULL: nobody asks.
    void (*on_due)(void *context);
    void *on_due_context;
};

void parked_deinit(struct parked *parked);

// The session has no client since `seen_ns` (realtime) and keeps so many bytes open; replaces what
// was here of it. It expires `expiry_s` seconds from now; 0: when SessionExpiry says. Returns 0, or
// -ENOMEM: it is not counted.
int parked_put(struct parked *parked, const char *session_id, int64_t uid, size_t bytes,
               int64_t seen_ns, int64_t expiry_s);

// A session that is due is being connected: it is due a second later.
void parked_delay(struct parked *parked, const char *session_id, int64_t uid);

// The session does not end at a time of its own: SessionExpiry counts.
void parked_keep(struct parked *parked, const char *session_id, int64_t uid);

// The session that is due first, its user, and the time (nvtxt_boottime_ns()); NULL: none is.
const char *parked_first_due(const struct parked *parked, int64_t *uid, int64_t *due_ns);

// The bytes that the session keeps open; 0 when it is not here.
size_t parked_bytes(const struct parked *parked, const char *session_id, int64_t uid);

// The session is resumed or over: gives its bytes back. Does nothing when it is not here.
void parked_take(struct parked *parked, const char *session_id, int64_t uid);

// The store has no session that was last seen before: drops those, which were in another store.
void parked_forget(struct parked *parked, int64_t before_ns);
