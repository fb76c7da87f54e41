// SPDX-License-Identifier: Apache-2.0
//
// The files that are known: those in watched folders, and those that the store knows. Found by
// device and inode. Owns no memory but its table's; the watch frees what is in it. Loop thread
// only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/base/hash.h"

struct follow;
struct watch_stat;

struct follows {
    struct follow *first; // in no order
    struct nvtxt_hash by_inode;
    size_t count;
};

void follows_deinit(struct follows *follows); // of the table; a zeroed struct is an empty one

int follows_add(struct follows *follows, struct follow *follow); // returns 0 or -ENOMEM
void follows_remove(struct follows *follows, struct follow *follow);

// The file as looked at just now, or NULL. A file system may have another number since the machine
// was started again: a file that nobody saw since then is known by inode and path, and gets the
// number that its file system has now.
struct follow *follows_find(struct follows *follows, const char *path,
                            const struct watch_stat *stat);

// An older file whose number was given to a newer one is not there any more: it is not found again.
void follows_retire(struct follows *follows, int64_t device, int64_t inode);
