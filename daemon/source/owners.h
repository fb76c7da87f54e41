// SPDX-License-Identifier: Apache-2.0
//
// Whose a process is, as far as we know: a user's by the word of the kernel (proven), a user's
// because it used or named the process first, or nobody's, because two users used it and neither
// could prove it then. What a source may do with that is in claims.h. The store has the same
// (NVTXT_OWNERS); it is read at the start.
//
// Two bytes a process, in pages of 4,096 processes that are made when they are needed: at most 32
// MiB, whatever numbers peers send. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OWNERS_NOBODY INT64_MIN   // no user has used the process
#define OWNERS_SHARED INT64_C(-1) // two users have, and it was gone then

#define OWNERS_PAGES 4096 // of 4,096 processes each: all numbers of 24 bits

struct owners { // zeroed is ready
    uint16_t *pages[OWNERS_PAGES];
    int64_t *uids; // [1 … uid_count]: an entry of a page is an index of this
    size_t uid_count;
    uint32_t *changed; // when a process got another owner; processes share places of this
    uint32_t changes;  // their number: the time of `changed`
};

void owners_deinit(struct owners *owners);

// The owner of a process: a user, or one of the two above.
int64_t owners_of(const struct owners *owners, uint32_t pid);
bool owners_is_proven(const struct owners *owners, uint32_t pid);

// Returns 0 or -ENOMEM (also when there are more users than an entry can hold).
int owners_set(struct owners *owners, uint32_t pid, int64_t uid, bool proven);

// Whether the owner may have changed since `changes` was so.
bool owners_changed_since(const struct owners *owners, uint32_t pid, uint32_t changes);
