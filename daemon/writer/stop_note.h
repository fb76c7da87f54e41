// SPDX-License-Identifier: Apache-2.0
//
// A stop that gives up on a store that cannot be written cannot say so in that store. What plain
// sources lose by that (sessions send their lines again) is noted beside the store, and becomes a
// row of NVTXT_LOSSES at the next start, or as soon as the store can be written after that.
//
// The usual reason is a full disk, on which a file can be made but cannot hold data. So the note is
// the target of a symbolic link that leads nowhere: a target of fewer than 60 bytes is in the inode
// itself (ext4, XFS, tmpfs) and needs no room for data.
#pragma once

#include <stdint.h>

struct store;

// Adds `events` that were lost to those in the note `<store>.lost`. Returns 0 or -errno.
int stop_note_add(const char *store_path, int64_t at_ns, uint64_t events);

// Moves the note into the store, and removes it when it is committed there; a note that the store
// has already is only removed. A file that is no note of ours counts as one event. Returns 0, a
// store_result, or -errno.
int stop_note_move(const char *store_path, struct store *store);
