// SPDX-License-Identifier: Apache-2.0
//
// State that outlives a connection: a session's last line and saved state, and the ranges that are
// open. Written with the batch whose events it belongs to; read back when a session resumes. The
// public side is store_session_load().
//
// Functions return SQLite result codes. Used by the thread that owns the store.
#pragma once

#include <sqlite3.h>
#include <stdint.h>

#include "store/value/record.h"
#include "store/value/session.h"
#include "store/write/domains.h"
#include "store/write/txn.h"

#define STORE_SESSIONS_STMTS 10

struct store_sessions {
    struct store_txn *txn;
    struct store_domains *domains;
    sqlite3_stmt *stmts[STORE_SESSIONS_STMTS];
};

void store_sessions_init(struct store_sessions *sessions, struct store_txn *txn,
                         struct store_domains *domains);
void store_sessions_deinit(struct store_sessions *sessions);

// Writes open ranges and session states of the batch; takes away those that are over.
int store_sessions_write(struct store_sessions *sessions, const struct store_batch *batch);

// See store_session_load(); `*found` is false for an id that was never seen.
// Its diagnostics are left to store_sessions_diags(), which appends those of lines > acked.
int store_sessions_load(struct store_sessions *sessions, const char *session_id,
                        struct store_session *session, bool *found);
int store_sessions_diags(struct store_sessions *sessions, uint64_t acked,
                         struct store_session *session);

// See store_session_expired().
int store_sessions_expired(struct store_sessions *sessions, int64_t before_ns, char *session_id,
                           size_t size, bool *found);

// The open ranges of a source in the order of seq, with texts of their own; appended to an empty
// array, which the caller gives back to store_ranges_free() whatever is returned.
int store_sessions_ranges(struct store_sessions *sessions, int64_t source_id,
                          struct nvtxt_open_range **ranges, size_t *count);

// Counters from six columns that begin at `first`: lines, events, warnings, errors, first, last.
struct nvtxt_counters store_sessions_counters(sqlite3_stmt *stmt, int first);

// How many sessions of the user can be resumed.
int store_sessions_count(struct store_sessions *sessions, int64_t uid, int64_t *count);
