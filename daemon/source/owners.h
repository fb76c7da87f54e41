// SPDX-License-Identifier: Apache-2.0
//
// Whose the names of a process are. The first user that uses or names a process owns its name and
// those of its threads and categories; another user's name lines for it have no effect. A process
// that really has the number, by the kernel's word, takes it over (source.c). What is known here is
// in the store as well (NVTXT_OWNERS), and read from it at the start.
//
// A page of two bytes a process for each 4,096 numbers that were used: at most 32 MiB, whatever
// numbers peers say. Loop thread only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define OWNERS_NOBODY INT64_MIN // no user has used the process

#define OWNERS_PAGES 4096 // of as many processes each: all numbers of 24 bits

struct owners { // zeroed is ready
    uint16_t *pages[OWNERS_PAGES];
    int64_t *uids; // [1 … uid_count]: what the entries of pages stand for
    size_t uid_count;
};

void owners_deinit(struct owners *owners);

// The owner of a process, or OWNERS_NOBODY.
int64_t owners_of(const struct owners *owners, uint32_t pid);

// Returns 0 or -ENOMEM (also for more users than entries can tell apart).
int owners_set(struct owners *owners, uint32_t pid, int64_t uid);
