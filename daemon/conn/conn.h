// SPDX-License-Identifier: Apache-2.0
//
// A data connection: from bytes to the lines of a source. Its first line decides what it is: a
// hello makes it a session (session.h), anything else a plain source. It is not read while a
// session is loaded, while too much is on its way to the store, while its user is over a bound, or
// when the daemon stops.
//
// Life: conn_new() makes it; conn_close() takes it out of every list and table and closes the
// pipe; the memory is freed in the close callback of the pipe and nowhere else, so that callers on
// the stack may still look at `phase`. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/socket/outq.h"
#include "daemon/socket/refusals.h"
#include "protocol/base/buf.h"
#include "protocol/base/frame.h"
#include "store/value/source.h"

struct quota_user;
struct server;
struct session;
struct source;
struct nvtxt_interp;

// Before the first line is known only so much is read: what comes after a hello must be kept.
#define CONN_FIRST_READ_BYTES 8192

#define CONN_DRAIN_MS 1000 // a client that runs needs less

enum conn_phase {
    CONN_FIRST_LINE, // the first line is not read yet
    CONN_LOADING,    // a hello was read; the session is loaded from the store
    CONN_OPEN,       // lines are interpreted
    CONN_ENDING,     // the end of the session or of the stream was read; waits for the commit
    CONN_LAST_REPLY, // the last reply is written; nothing is read
    CONN_DRAINING,   // likewise, and what the client sends is dropped until it closes
    CONN_CLOSED,     // waits for the close callback
};

struct conn {
    uv_pipe_t pipe;
    struct server *server; // borrowed
    struct conn *next, *prev;
    enum conn_phase phase;
    bool reading;
    uint64_t read_at; // hub.loop_count when it was read last
    struct peer peer;
    struct quota_user *user;   // the connection counts there; NULL: nowhere
    uint64_t losses_reported;  // by its client; counted there like events
    size_t partial;            // bytes of a line without its end so far, counted there
    uint64_t events;           // counted there
    uint64_t rows;             // counted there like events: names, diagnostics, the source itself
    uint64_t drain_until_ms;   // DRAINING: closed then, in the time of the loop
    int64_t accepted_ns;       // realtime
    uint32_t accepted_changes; // hub.owners.changes then
    struct nvtxt_frame frame;
    struct nvtxt_buf pending; // what came after the hello; used when the session is loaded
    struct source *source;    // owned; NULL before the first line
    struct session *session;  // owned; NULL for a plain connection
    struct outq outq;
};

// Makes sure that there is memory for one connection more. Returns 0 or -ENOMEM.
int conn_prepare(struct server *server);

// Puts the prepared connection into the list. Owns the descriptor. Returns NULL when the descriptor
// cannot be used.
struct conn *conn_new(struct server *server, int fd_take);

// Starts or stops reading, whichever is right now.
void conn_update_reading(struct conn *conn);

// Interprets bytes. May close the connection.
void conn_feed(struct conn *conn, struct nvtxt_slice input);

// Reads what is in the socket, at most `limit` bytes, and interprets it. May close it.
void conn_read_rest(struct conn *conn, size_t limit);

// Gives the connection its source. Returns 0 or -ENOMEM (taken interpreter freed).
int conn_open_source(struct conn *conn, int64_t id, enum store_source_kind kind, int64_t opened_ns,
                     const char *name, struct nvtxt_interp *interp_take);

// Closes a connection whose session has not ended: a plain source ends, as `how`; a session can be
// resumed.
void conn_break(struct conn *conn, const char *how);

// Reads nothing more, and closes when all replies are written.
void conn_close_after_reply(struct conn *conn);

// Likewise, for a client that may still send: it reads the end of the stream, and what it sends is
// read and dropped until it closes, or for CONN_DRAIN_MS. A close with unread bytes would take the
// reply away from it. The session is freed.
void conn_drain_and_close(struct conn *conn);

// Memory is short for the connection: logs that, notes what is lost, closes.
void conn_fail(struct conn *conn);

// Writes the replies that were appended; breaks the connection when that fails.
void conn_flush(struct conn *conn);

void conn_close(struct conn *conn);

// ---- Accepting (daemon/conn/conn_accept.c) ------------------------------------------------------

// A new connection: which user it is of, and whether that user may have one more. Owns the
// descriptor of an accepted connection, after conn_prepare(). Logs what is wrong with it. A user
// that may not have one more is refused before anything that costs time.
void conn_accept(struct server *server, int fd_take);
