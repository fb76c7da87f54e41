// SPDX-License-Identifier: Apache-2.0
//
// What a follower remembers of rows that change: a hash value of each one's contents, by a hash
// value of its key. Two rows with the same key value would be handed out again and again, which
// does no harm.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct store_seen { // zeroed: empty
    struct store_seen_row {
        uint64_t key; // 0: free
        uint64_t contents;
    } *rows;      // owned
    size_t room;  // a power of two
    size_t count; // at most STORE_SEEN_MAX: then it forgets all
};

#define STORE_SEEN_MAX ((size_t)1 << 19)

// Remembers the contents. Returns 1 when they are new, 0 when they are those of the last time, or
// -ENOMEM.
int store_seen_put(struct store_seen *seen, uint64_t key, uint64_t contents);

void store_seen_forget(struct store_seen *seen);
void store_seen_deinit(struct store_seen *seen);
