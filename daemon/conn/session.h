// SPDX-License-Identifier: Apache-2.0
//
// The session side of a connection: hello, resuming from the store, acknowledgements, end, as in
// nvtxt-protocol(7). The state of a session is in the store only, and is loaded each time it
// connects: so a broken connection, a killed client and a killed daemon are one case. The load goes
// through the queue of the writer, after every batch that was pushed before, so it sees all that an
// older connection of the same session has sent. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/limits.h"
#include "protocol/base/slice.h"
#include "protocol/table/hash.h"
#include "protocol/wire/hello.h"
#include "store/value/batch.h"

struct conn;
struct job;
struct peer;
struct server;
struct store_session;

struct session {
    char id[NVTXT_SESSION_ID_BYTES + 1];
    struct nvtxt_hash_node node; // in server.sessions while connected, or loaded
    bool listed;
    uint64_t begun_before; // sessions that the user had begun when the load was pushed
    struct conn *conn;
    struct nvtxt_hello *hello; // owned; gone once the session is open
    bool waits_to_load;        // for its turn
    struct session *next_to_load;
    struct job *loading; // the job of the load; not of another session
    bool given_up;       // its saved state cannot be read: it was ended
    bool wants_diags;
    bool half_closed;    // the client sends no more, and waits for an acknowledgement
    uint64_t acked_line; // the last line acknowledged here

    // What the batches that came back now have for it.
    bool has_answer;
    struct session *next_to_answer;
    uint64_t committed_line;
    bool end_committed;
    struct nvtxt_counters totals; // when end_committed
};

// The connected session with this id of that user, also while it is loaded. The same id of another
// user is another session.
struct session *session_find(struct server *server, const char *id, int64_t uid);

// Ends a stored session whose saved state cannot be read, and notes that as a loss. Returns 0 or
// -ENOMEM (nothing was done).
int session_give_up(struct server *server, const char *id, const struct store_session *stored,
                    const char *how);

// A hello was read: starts the session or refuses it.
void session_begin(struct conn *conn, struct nvtxt_slice line);

// `#nvtxt-end` was read.
void session_end(struct conn *conn);

// The client of an open session sends no more, without `#nvtxt-end`. If it can still read, and an
// acknowledgement or replies are due, the connection closes when these are written.
void session_half_close(struct conn *conn);

// The client sends no more, and its hello has no end.
void session_refuse_cut_hello(struct conn *conn);

// Counts and logs that a connection was refused.
void session_note_refusal(struct server *server, const struct peer *peer, const char *code,
                          const char *message);

// Each sends `error` and closes. session_refuse() also logs and counts it.
void session_refuse(struct conn *conn, const char *code, const char *message);
void session_shut_down(struct conn *conn);
void session_disconnect(struct conn *conn); // the control socket asked; what was read counts

// A batch with this share was committed: adds diagnostics, notes what to acknowledge.
void session_committed(struct server *server, const struct store_batch_source *share);

// After all jobs that were back: one ack a session, and `end` where it is due.
void session_send_acks(struct server *server);

// The connection is closed.
void session_free(struct session *session);

// ---- Loading (daemon/conn/session_load.c) -------------------------------------------------------

// Pushes the job that loads the session, at once or when it is its turn.
void session_load(struct session *session);

// It closes before its turn.
void session_stop_waiting(struct server *server, struct session *session);

// A session of this user, which kept so many bytes, was loaded: it is the turn of others.
void session_load_next(struct server *server, int64_t uid, size_t bytes);

void session_on_loaded(struct job *job); // the job has come back
