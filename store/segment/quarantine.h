// SPDX-License-Identifier: Apache-2.0
//
// Moves the files of a store out of the way of a new one. Deletes nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/segment/segments.h"

// Renames `file`, `file`-wal and `file`-shm, whichever of them exist, to a new name that begins
// with `path`.broken and the time, with the same endings, so that SQLite finds them together.
// Returns 0 with the new name in `name`, 1 when there is none of them, or -errno.
int store_quarantine(const char *file, const char *path, int64_t now_ns, char *name, size_t size);

// What was put aside for the store at `path` and is still there: main files, in no order; for
// store_segments_deinit(). Returns 0 or -errno.
int store_quarantine_list(const char *path, struct store_segments *list);
