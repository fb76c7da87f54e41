// SPDX-License-Identifier: Apache-2.0
//
// Which user owns the names of a process. The first user that uses or names a process owns its name
// and those of its threads and categories; name lines of other users have no effect on them. A user
// whose process really has that number, as the kernel says, becomes the owner
// (source_claim_names()). The store has the same (NVTXT_OWNERS); it is read at the start.
//
// Two bytes a process, in pages of 4,096 processes that are made when they are needed: at most 32
// MiB, whatever numbers peers send. Loop thread only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define OWNERS_NOBODY INT64_MIN // no user has used the process

#define OWNERS_PAGES 4096 // of 4,096 processes each: all numbers of 24 bits

struct owners { // zeroed is ready
    uint16_t *pages[OWNERS_PAGES];
    int64_t *uids; // [1 … uid_count]: an entry of a page is an index of this
    size_t uid_count;
};

void owners_deinit(struct owners *owners);

// The owner of a process, or OWNERS_NOBODY.
int64_t owners_of(const struct owners *owners, uint32_t pid);

// Returns 0 or -ENOMEM (also when there are more users than an entry can hold).
int owners_set(struct owners *owners, uint32_t pid, int64_t uid);
