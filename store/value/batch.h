// SPDX-License-Identifier: Apache-2.0
//
// store/value: what goes into a store and what comes out of it, as values that know no SQLite. The
// filling side (the daemon's loop thread, or an importer) makes batches; store/write turns them
// into rows. What is read back (session.h, rows.h, event_rows.h) owns its texts until its deinit.
// Nothing here opens a file, locks or waits; a value belongs to one thread at a time.
//
// A batch is what goes into the store in one transaction, or in a part of one. Ownership moves with
// it to the side that writes, and nothing in it is shared. After the commit the filling side reads
// from it which lines of which source are safe and which diagnostics belong to them; then it
// empties the batch and fills it again.
//
// A batch copies everything into its own memory: arenas of chunks whose addresses never move.
// Entries are grouped by source; a source's events stand in their order.
#pragma once

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

// Notes that the source has the extension `nvtx`, which a file says on its first line. Call before
// the other side gets the first batch of the source.
void store_batch_nvtx(struct store_batch_source *share);

// A sink that appends what an interpreter makes to the share.
void store_batch_sink(struct store_batch_source *share, struct nvtxt_sink *sink);

// Counters and display name as they stand after the last line of this source in the batch. Call
// before the other side gets the batch. Returns 0 or -ENOMEM.
int store_batch_progress(struct store_batch_source *share, const struct nvtxt_counters *counters,
                         struct nvtxt_slice display_name);

// A range that is still open when the other side gets the batch (nvtxt_interp_take_opened()).
// Returns 0 or -ENOMEM.
int store_batch_open_range(struct store_batch_source *share, const struct nvtxt_open_range *range);

// A session's last line and its saved state (JSON text, copied). Without data the state stays as it
// is in the store, or in this batch. Returns 0 or -ENOMEM.
int store_batch_session(struct store_batch_source *share, uint64_t line, struct nvtxt_slice state);

// A part of the saved state of a session or of a followed file, which stands in rows of its own
// (NVTXT_STATE) so that what changes seldom is not written with each batch. Parts are numbered from
// 1, and number 1 takes the place of all that are stored. Returns 0 or -ENOMEM.
int store_batch_state(struct store_batch_source *share, uint64_t part, struct nvtxt_slice state);

// How far a followed file was read, and the saved state of its source, copied. Both stay when the
// source ends: when the file grows again, the source is open again. A state without data says that
// nobody can go on with the source. Returns 0 or -ENOMEM.
int store_batch_file(struct store_batch_source *share, const struct store_followed *file,
                     struct nvtxt_slice state);

// Nobody will go on with the file of this source: takes its place and state out of the store.
// Returns 0 or -ENOMEM.
int store_batch_forget_file(struct store_batch *batch, int64_t source_id);

// Ends the source: `how` is a short word for NVTXT_SOURCES.ended ("closed", "end", "expired",
// "disconnected", "shutdown"). Its session state and open ranges go with the same transaction; the
// session id stays known through its NVTXT_SOURCES row.
int store_batch_end_source(struct store_batch_source *share, const char *how, int64_t closed_ns);

// Throws away everything that this batch holds of the source, because memory ran short in the
// middle of a line. store_batch_source() then gives the same share again, empty.
void store_batch_discard(struct store_batch_source *share);

// A row of NVTXT_OWNERS. Of names that were `taken` the process has `comm` left, or "Process <pid>"
// when that is NULL. Names in this batch that are not the last owner's, nor root's, have no effect
// then. Returns 0 or -ENOMEM.
int store_batch_owner(struct store_batch *batch, const struct store_owner_change *change);

// A clock measurement and a loss, rows of NVTXT_CLOCKS and NVTXT_LOSSES. Return 0 or -ENOMEM.
int store_batch_clock(struct store_batch *batch, const char *clock, int64_t clock_ns,
                      int64_t realtime_ns, int64_t uncertainty_ns);
int store_batch_loss(struct store_batch *batch, int64_t at_ns, int64_t source_id, int64_t uid,
                     int64_t pid, const char *reason, uint64_t count);

// A loss that a source reports about itself. It belongs to the share and is thrown away with it.
// Losses with the same reason become one row, and a source has few rows in a batch: after that
// many, the newest one takes the count.
#define STORE_SOURCE_LOSSES_MAX 16
int store_batch_source_loss(struct store_batch_source *source, int64_t at_ns, const char *reason,
                            uint64_t count);
