// SPDX-License-Identifier: Apache-2.0
//
// A batch: what goes into the store in one transaction, or the part of one. It is filled by the
// side that interprets lines (the daemon's loop thread, or an importer), then handed to the side
// that writes; ownership moves with it and nothing in it is shared. After the commit the filling
// side reads from it which lines of which source are safe now and which diagnostics belong to
// them, and uses it again.
//
// Everything a batch holds is copied into its own memory (chunked arenas whose addresses never
// move). Entries are grouped by source; a source's events stand in their order. Nothing here
// knows SQLite.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/interp/interp.h"
#include "store/value/source.h"

struct store_batch *store_batch_new(void); // NULL when memory is short
void store_batch_free(struct store_batch *batch);
void store_batch_reset(struct store_batch *batch); // empty again; keeps a bounded amount of memory

bool store_batch_is_empty(const struct store_batch *batch);
size_t store_batch_bytes(const struct store_batch *batch); // memory that its content takes

// The share of a source, made on first use (then the source's row is inserted or updated when the
// batch is written). NULL when memory is short. The pointer lives until the batch is reset.
struct store_batch_source *store_batch_source(struct store_batch *batch,
                                              const struct store_source *source);
struct store_batch_source *store_batch_first(const struct store_batch *batch);
size_t store_batch_source_events(const struct store_batch_source *share);

// A sink that appends what an interpreter makes to the share.
void store_batch_sink(struct store_batch_source *share, struct nvtxt_sink *sink);

// Counters and display name as they stand after the last line of this source in the batch. Call
// before the batch is handed over. Returns 0 or -ENOMEM.
int store_batch_progress(struct store_batch_source *share, const struct nvtxt_counters *counters,
                         struct nvtxt_slice display_name);

// A range that is still open when the batch is handed over (from nvtxt_interp_take_opened).
int store_batch_open_range(struct store_batch_source *share, const struct nvtxt_open_range *range);

// A session's last line and saved state (JSON text, copied). A state without data leaves the one
// that the store has (or that this batch already holds). Returns 0 or -ENOMEM.
int store_batch_session(struct store_batch_source *share, uint64_t line, struct nvtxt_slice state);

// A followed file's place and saved state, copied. It stays when the source ends, so that the
// source goes on when the file does: one that had ended is open again then. A state without data
// is that of a source that nobody can go on with. Returns 0 or -ENOMEM.
int store_batch_file(struct store_batch_source *share, const struct store_followed *file,
                     struct nvtxt_slice state);

// Nobody will go on with the file of this source: its place and state go. Returns 0 or -ENOMEM.
int store_batch_forget_file(struct store_batch *batch, int64_t source_id);

// The source is over: `how` is a short word for NVTXT_SOURCES.ended ("closed", "end", "expired",
// "disconnected", "shutdown"). Its session state and open ranges go with the same transaction; the
// session id stays known through its NVTXT_SOURCES row.
int store_batch_end_source(struct store_batch_source *share, const char *how, int64_t closed_ns);

// Takes back everything that this batch holds of the source (the filling side ran out of memory
// in the middle of a line). The share is empty after it; asking store_batch_source for it again
// takes it up again, empty.
void store_batch_discard(struct store_batch_source *share);

// From now on the names of a process are this user's. `taken`: over from another one, whose names
// of it go; `comm` is what it is called then, NULL when that is not known. Returns 0 or -ENOMEM.
int store_batch_owner(struct store_batch *batch, int64_t pid, int64_t uid, bool taken,
                      const char *comm);

// A clock measurement and a loss, rows of NVTXT_CLOCKS and NVTXT_LOSSES. Return 0 or -ENOMEM.
int store_batch_clock(struct store_batch *batch, const char *clock, int64_t clock_ns,
                      int64_t realtime_ns, int64_t uncertainty_ns);
int store_batch_loss(struct store_batch *batch, int64_t at_ns, int64_t source_id, int64_t uid,
                     int64_t pid, const char *reason, uint64_t count);

// A loss that a source tells of itself. It is a part of the share: taken back with it. Those of one
// reason become one row of the batch, and a source has few rows in it: beyond them the newest one
// takes the count.
#define STORE_SOURCE_LOSSES_MAX 16
int store_batch_source_loss(struct store_batch_source *source, int64_t at_ns, const char *reason,
                            uint64_t count);
