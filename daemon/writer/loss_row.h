// SPDX-License-Identifier: Apache-2.0
//
// A row of NVTXT_LOSSES for what no source can report: a store that was replaced, events of an
// earlier stop. Used by the thread that owns the store.
#pragma once

#include <stdint.h>

struct store;

// Writes and commits the row; no transaction may be open. `reason` as in daemon/base/loss_notes.h.
// Returns 0, a store_result, or -ENOMEM; nothing is written then.
int loss_row_write(struct store *store, int64_t at_ns, const char *reason, uint64_t count);
