// SPDX-License-Identifier: Apache-2.0
//
// store: the store as its users see it. Opens one, writes batches in transactions, answers what the
// daemon asks, recovers what a killed daemon left, and rotates (rotation.h). It puts the rooms
// below together and owns their state; they write, read and name files. No SQLite code leaves it:
// functions return 0, a documented positive code, or -errno, and leave a sentence for people in
// store_error().
//
// A store is one SQLite file in the schema of Nsight Systems' SQLite export, plus tables of our own
// (nvtxt-store(5)). One thread at a time uses it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/value/batch.h"
#include "store/value/codes.h"
#include "store/value/event_rows.h"
#include "store/value/rows.h"
#include "store/value/session.h"

struct store;

// Opens or creates. On failure `*store` is NULL and `error` holds a sentence that names the path
// and what to do. `error` may be NULL.
int store_open(struct store **store, const char *path, const struct store_options *options,
               char *error, size_t error_size);

// Checkpoints, so that the main file is complete, and closes. NULL is fine.
void store_close(struct store *store);

// The same for a segment that the link left: first deletes from it what the next one took over,
// while it still has the lock. What fails now, store_rotation_leave() does later.
void store_leave(struct store *store);

// Closes a broken store without touching its files any more.
void store_abandon(struct store *store);

const char *store_error(const struct store *store); // sentence of the last failure

// The id for the next new source: larger than every id in the store, in any segment. The filling
// side counts on from it.
int64_t store_next_source_id(const struct store *store);

// ---- Transactions: begin, write batches, commit or roll back ------------------------------------

int store_begin(struct store *store);
int store_write(struct store *store, struct store_batch *batch);
// True when the transaction has as many batches as it should: commit it. Later writes may fail
// (STORE_FAILED) for lack of room in it.
bool store_is_full(const struct store *store);
// Commits with one NVTXT_BATCHES row for the events of the transaction (none when it had none).
int store_commit(struct store *store);
void store_rollback(struct store *store); // forgets cached ids as well; fine without a transaction

// For a batch that was refused (STORE_REFUSED, STORE_FAILED), without a transaction: writes and
// commits it share by share. Rows that are refused even then are left out; NVTXT_LOSSES gets their
// number, with the reason "refused". After a failure that may pass (disk full) call it again: it
// goes on.
int store_write_refused(struct store *store, struct store_batch *batch, int64_t now_ns);

// For a store that keeps its write lock, without a transaction: releases it, so that somebody else
// can write, until the next transaction takes it again.
void store_release_lock(struct store *store);
bool store_has_released_lock(const struct store *store);

// Moves the WAL into the main file and cuts it, on demand. `*done` says what was moved; a reader
// that prevents it is no failure.
struct store_checkpointed {
    int64_t before_bytes, bytes; // the WAL file
    int64_t pages, moved_pages;  // of the WAL, and those of them that are in the main file; -1:
                                 // not known, because another process has locked the WAL
    bool pinned;                 // a reader prevents that the WAL starts again
};
int store_checkpoint(struct store *store, struct store_checkpointed *done);

// ---- Sessions ---------------------------------------------------------------------------------

// A session belongs to its user: the same id of two users is two sessions. One whose user the store
// does not know is anybody's.

// Returns STORE_DONE, STORE_NOT_FOUND for an id that was never seen of that user, STORE_BUSY when
// it may be in a segment that others have locked, STORE_UNSURE when it may be in one that was put
// aside or cannot be read, or a failure. What was found in one that was put aside has ended as
// "lost". Diagnostics are read only when `want_diags`, those of lines > acked. Lines of a resumed
// session go on at line+1.
int store_session_load(struct store *store, const char *session_id, int64_t uid, bool want_diags,
                       uint64_t acked, struct store_session *session);

// After STORE_UNSURE: the file that cannot be read.
const char *store_unreadable(const struct store *store);

// Ends a session that cannot go on, in its share of a batch. `session` is what was loaded of it.
// Its open ranges become events, each with the warning that it was never closed. Returns 0, or
// -ENOMEM: then discard the share.
int store_session_end(struct store_batch_source *share, const struct store_session *session,
                      const char *how, int64_t closed_ns);

// How many sessions of this user can be resumed. Returns 0 or a failure.
int store_session_count(struct store *store, int64_t uid, int64_t *count);

// The id and user (-1: not known) of one open session that was last seen before `before_ns`: of
// those after the place `after` the one that was seen longest ago. STORE_DONE (id written, size at
// least NVTXT_SESSION_ID_BYTES + 1; `*after` is its place), or STORE_NOT_FOUND.
int store_session_expired(struct store *store, int64_t before_ns, struct store_session_place *after,
                          char *session_id, size_t size, int64_t *uid);

// ---- Followed files ---------------------------------------------------------------------------

int store_file_list(struct store *store, struct store_file_list *list);

// Everything that is needed to go on with the file of a source: how far it was read in `file`,
// state and open ranges in `session`. Returns STORE_DONE, STORE_NOT_FOUND or a failure (then both
// are empty).
int store_file_load(struct store *store, int64_t source_id, struct store_file *file,
                    struct store_session *session);

// ---- After a kill -----------------------------------------------------------------------------

// The daemon calls this once after it opened the store. Closes the plain sources that a killed
// daemon left open as "lost", and stores their open ranges as the language says for a source that
// ended.
int store_recover(struct store *store, int64_t now_ns);

// ---- Owners -----------------------------------------------------------------------------------

// Hands out the sessions of known users that have open ranges or an expiry of their own (seconds;
// else 0), each with the bytes of those ranges and when it was last seen. Ends at the first
// callback that does not return 0, and returns that; else STORE_DONE or a failure.
int store_sessions_open(struct store *store,
                        int (*on_session)(void *context, const char *session_id, int64_t uid,
                                          size_t open_bytes, int64_t seen_ns, int64_t expiry_s),
                        void *context);

// Hands out which user the names of each process belong to (see store_batch_owner). Ends and
// returns in the same way.
int store_owners_load(struct store *store,
                      int (*on_owner)(void *context, int64_t pid, int64_t uid, bool proven),
                      void *context);

// ---- Losses -----------------------------------------------------------------------------------

// At most `limit` of them.
int store_losses_load(struct store *store, size_t limit, struct store_losses *losses);

// How many rows NVTXT_LOSSES has, as of the last transaction or load; -1 when that cannot be read.
int64_t store_loss_count(struct store *store);

// ---- Diagnostics ------------------------------------------------------------------------------

// At most `limit` of them; of one source unless `source_id` is 0.
int store_diags_load(struct store *store, int64_t source_id, size_t limit,
                     struct store_diags *diags);

// ---- Events, read back ------------------------------------------------------------------------

// Only what is committed is seen, also while a transaction is open. `path` is the configured one.
int store_events_load(struct store *store, const char *path, const struct store_event_query *query,
                      struct store_events *events);

// ---- Totals ----------------------------------------------------------------------------------

int store_totals_load(struct store *store, struct store_totals *totals);

int64_t store_file_bytes(const struct store *store);
int64_t store_wal_bytes(const struct store *store);

// The size of the file when its write-ahead log will be in it. Also within a transaction.
int64_t store_content_bytes(struct store *store);

// Between two transactions: does the checkpoint that is due, if one is. Without it one big commit
// would look like a reader that keeps the log in use.
void store_checkpoint_if_due(struct store *store);

// Bytes of the log that readers keep in use, or that are not worth a checkpoint yet.
int64_t store_wal_held_bytes(const struct store *store);

const char *store_file_path(const struct store *store); // its real path; lives as long as the store
int64_t store_begun_ns(struct store *store);  // when its segment was begun; 0: it is no segment
bool store_holds_events(struct store *store); // that are committed
const char *store_identity(const struct store *store); // its STORE_ID; "" when it has none
int64_t store_carried_bytes(struct store *store); // what its segment took over from the one before
bool store_is_empty(struct store *store);         // no events, diagnostics or losses of its own
