// SPDX-License-Identifier: Apache-2.0
//
// State that outlives a connection: a session's last line and saved state, the parts of the state
// of sessions and followed files, and open ranges. Written with the batch whose events it belongs
// to; read back when a session resumes. The public side is store_session_load().
//
// Functions return SQLite result codes. Used by the thread that owns the store.
#pragma once

#include "store/value/session.h"
#include "store/write/domains.h"

#define STORE_SESSIONS_STMTS 14

struct store_sessions {
    struct store_txn *txn;
    struct store_domains *domains;
    sqlite3_stmt *stmts[STORE_SESSIONS_STMTS];
};

void store_sessions_init(struct store_sessions *sessions, struct store_txn *txn,
                         struct store_domains *domains);
void store_sessions_deinit(struct store_sessions *sessions);

// Writes open ranges and states of the batch; deletes those of sources that ended, or of which
// nobody can go on with.
int store_sessions_write(struct store_sessions *sessions, const struct store_batch *batch);

// As store_session_load(), without diagnostics; `*found` is false for an id that was never seen.
// store_sessions_diags() appends the diagnostics of lines > acked.
int store_sessions_load(struct store_sessions *sessions, const char *session_id, int64_t uid,
                        struct store_session *session, bool *found);
int store_sessions_diags(struct store_sessions *sessions, uint64_t acked,
                         struct store_session *session);

// The parts of a source's state, appended to an empty array of the session.
int store_sessions_parts(struct store_sessions *sessions, struct store_session *session);

// See store_session_expired().
int store_sessions_expired(struct store_sessions *sessions, int64_t before_ns,
                           struct store_session_place *after, char *session_id, size_t size,
                           int64_t *uid, bool *found);

// The open ranges of a source in the order of seq, appended to an empty array. The caller frees it
// with store_ranges_free(), also after a failure.
int store_sessions_ranges(struct store_sessions *sessions, int64_t source_id,
                          struct nvtxt_open_range **ranges, size_t *count);

// Counters from six columns that begin at `first`: lines, events, warnings, errors, first, last.
struct nvtxt_counters store_sessions_counters(sqlite3_stmt *stmt, int first);

// As store_session_count().
int store_sessions_count(struct store_sessions *sessions, int64_t uid, int64_t *count);
