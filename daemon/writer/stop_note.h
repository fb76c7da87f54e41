// SPDX-License-Identifier: Apache-2.0
//
// A stop that gives up on a store that cannot be written cannot say so in that store. What plain
// sources lose then (sessions come again with it) is noted beside the store, and becomes a row of
// NVTXT_LOSSES at the next start, or as soon as the store can be written then.
//
// The usual reason is a full disk, on which a file can be made but holds nothing. So the note is
// the target of a symbolic link that leads nowhere: a target of fewer than 60 bytes stands in the
// inode itself (ext4, XFS, tmpfs) and needs no room for data.
#pragma once

#include <stdint.h>

struct store;

// Adds `events` that were lost to those that `<store>.lost` tells of already. Returns 0 or -errno.
int leftover_note(const char *store_path, int64_t at_ns, uint64_t events);

// Moves what is noted into the store, and removes the note when it is committed there; a note that
// the store has already is only removed. What is no note of ours, or an empty one, counts as 1.
// Returns 0, a store_result, or -errno.
int leftover_move(const char *store_path, struct store *store);
