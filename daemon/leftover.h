// SPDX-License-Identifier: Apache-2.0
//
// A stop that gives up on a store that cannot be written cannot say so in that store. What plain
// sources lose then (sessions come again with it) is noted in a file beside the store, a line a
// stop, and becomes rows of NVTXT_LOSSES at the next start.
#pragma once

#include <stdint.h>

struct store;

// Adds `events` that were lost to `<store>.lost`. Returns 0 or -errno.
int leftover_note(const char *store_path, int64_t at_ns, uint64_t events);

// Moves what is noted into the store, and removes the file when it is committed there. What is no
// note of ours counts as 1. Returns 0, a store_result, or -errno.
int leftover_move(const char *store_path, struct store *store);
