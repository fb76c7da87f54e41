// SPDX-License-Identifier: Apache-2.0
//
// The session side of a connection: hello, resuming from the store, acknowledgements, end.
// nvtxt-protocol(7) is the rule book. The state of a session lives in the store only; each time it
// connects it is loaded, so a broken connection, a killed client and a killed daemon are one case.
// The load goes through the writer's queue, behind every batch handed over before, so it sees all
// that an older connection of the same session had brought in. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/hash.h"
#include "protocol/base/limits.h"
#include "protocol/base/slice.h"
#include "protocol/wire/hello.h"
#include "store/value/batch.h"

struct conn;
struct nvtxt_interp;
struct nvtxt_source_config;
struct job;
struct peer;
struct server;
struct store_session;

struct session {
    char id[NVTXT_SESSION_ID_BYTES + 1];
    struct nvtxt_hash_node node; // in server.sessions while connected, or loaded
    bool listed;
    uint64_t begun_before; // the user's sessions when its load was asked for
    struct conn *conn;
    struct nvtxt_hello *hello; // owned; gone once the session is open
    struct job *loading;       // in the writer's hands; its context is this session
    bool given_up;             // its saved state cannot be read: it was ended
    bool wants_diags;
    bool half_closed;    // a break of which the client may hear what was committed
    uint64_t acked_line; // the last line acknowledged here

    // What the current drain of commits has for it.
    bool has_news;
    struct session *next_acked;
    uint64_t committed_line;
    bool end_committed;
    struct nvtxt_counters figures;
};

// The connected session of this id, also while it is loaded, of that user (-1: of anybody). Until
// the store has said whose an id is, several users may ask for it.
struct session *session_find(struct server *server, const char *id, int64_t uid);

// The one that has the id: not one that is being loaded.
struct session *session_find_open(struct server *server, const char *id);

// Ends a stored session whose saved state cannot be read, with what its rows say, and writes that
// down as a loss. Returns 0 or -ENOMEM (nothing was done).
int session_give_up(struct server *server, const char *id, const struct store_session *stored,
                    const char *how);

// A hello line was read: starts the session or refuses it.
void session_begin(struct conn *conn, struct nvtxt_slice line);

// `#nvtxt-end` was read.
void session_end(struct conn *conn);

// The client of an open session sends no more, without `#nvtxt-end`: a break. When it may still
// read, and is owed an acknowledgement or has not read all replies, the connection is ending or
// leaving then, and closes when they are written.
void session_half_close(struct conn *conn);

// The client sends no more, in the middle of its hello.
void session_refuse_cut_hello(struct conn *conn);

// Counts and logs that a connection was refused.
void session_note_refusal(struct server *server, const struct peer *peer, const char *code,
                          const char *message);

// Each sends `error` and closes. Only a refusal is logged and counted as one.
void session_refuse(struct conn *conn, const char *code, const char *message);
void session_shut_down(struct conn *conn);
void session_disconnect(struct conn *conn); // somebody asked for it; what was read counts

// A batch was committed: queues diagnostics, notes what to acknowledge.
void session_committed(struct server *server, const struct store_batch_source *share);

// After a drain: one ack a session, and `end` where it is due.
void session_send_acks(struct server *server);

// The connection goes.
void session_free(struct session *session);
