// SPDX-License-Identifier: Apache-2.0
//
// The lease on a store's cursor: who ships it. A holder is machine, boot, pid namespace, pid and
// start time of the process, joined by colons; so a process that was killed is known to be gone at
// once on its own machine, and after the lease's time elsewhere. The lease spares shippers from
// hindering each other; that rows come exactly once does not depend on it (engine/cursor.h).
#pragma once

#include "ship/engine/pg.h"

#define LEASE_HOLDER_SIZE 256

// This process as a holder.
void lease_self(char holder[LEASE_HOLDER_SIZE]);

enum lease_state {
    LEASE_FREE,  // nobody has it
    LEASE_OURS,  // this process
    LEASE_OLD,   // its holder was not seen for the lease's time
    LEASE_DEAD,  // its holder ran here and is gone
    LEASE_TAKEN, // by another one
};

// What a holder (NULL: none) that was seen `age_ms` ago means. `is_alive`: whether a process of
// this machine with that pid began at that time.
enum lease_state lease_judge(const char *holder, const char *self, int64_t age_ms, int64_t lease_ms,
                             bool (*is_alive)(int64_t pid, const char *start));

bool lease_is_alive(int64_t pid, const char *start);

// The pid in a holder; 0 when there is none.
int64_t lease_pid(const char *holder);

// Takes the lease of the store, or renews it. FAILURE_OTHER: another shipper has it; the sentence
// names `host`, the process and when it was seen.
enum failure_class lease_take(struct pg *pg, int64_t store_id, const char *self, int64_t lease_ms,
                              const char *host, struct failure *failure);

// Says that this process is alive. FAILURE_MOVED: the lease is not ours any more.
enum failure_class lease_renew(struct pg *pg, int64_t store_id, const char *self,
                               int64_t behind_rows);

// Takes all leases back, for as long as `most_ms` and one row: each shipper, of any version, looks
// at the schema anew before its next rows. `*kept`: how many could not be, as their rows were
// locked.
enum failure_class lease_take_back(struct pg *pg, int64_t most_ms, size_t *kept);

enum failure_class lease_give_back(struct pg *pg, int64_t store_id, const char *self);
