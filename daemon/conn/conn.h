// SPDX-License-Identifier: Apache-2.0
//
// A data connection: from bytes to the lines of a source. The first line decides what it is: a
// hello makes it a session (session.h), anything else a plain source. It reads only while it may:
// not while a session is being loaded, not above the memory budget, not when the daemon stops.
//
// Life: conn_accept() makes it; conn_close() takes it out of every list and table and closes the
// pipe; the memory goes in the pipe's close callback and nowhere else, so that code further up
// the stack may still look at `phase`. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/socket/outq.h"
#include "daemon/socket/peer.h"
#include "protocol/base/buf.h"
#include "protocol/base/frame.h"

struct quota_user;
struct server;
struct session;
struct source;
struct nvtxt_interp;

// Until the first line is known, only so much is read: what comes with a hello has to wait.
#define CONN_FIRST_READ_BYTES 8192

#define CONN_PARTING_MS 1000 // a client that goes on at once needs less

enum conn_phase {
    CONN_FIRST_LINE, // nothing known yet
    CONN_LOADING,    // a hello was read; the store is asked
    CONN_OPEN,       // lines are interpreted
    CONN_ENDING,     // the session's end, or the stream's, was read; waits for the commit
    CONN_LEAVING,    // the last reply is on its way; input is ignored
    CONN_PARTING,    // likewise, and what the client still sends is dropped until it closes
    CONN_CLOSED,     // waits for the close callback
};

struct conn {
    uv_pipe_t pipe;
    struct server *server; // borrowed
    struct conn *next, *prev;
    enum conn_phase phase;
    bool reading;
    uint64_t turn; // of the loop (hub.turn), in which it was read last
    struct peer peer;
    struct quota_user *user; // counted there; NULL when it is not
    uint64_t told;           // losses that it told of, to be counted there like events
    size_t partial;          // counted there: of the line whose end has not come
    uint64_t events;         // counted there
    uint64_t rows;           // counted there like events: names, diagnostics, the source itself
    uint64_t part_by_ms;     // PARTING: closed then, in the loop's time
    int64_t accepted_ns;     // realtime
    struct nvtxt_frame frame;
    struct nvtxt_buf pending; // what came with the hello; used when the session is loaded
    struct source *source;    // owned; NULL before the first line
    struct session *session;  // owned; NULL for a plain connection
    struct outq outq;
};

// Makes sure that there is memory for one connection more. Returns 0 or -ENOMEM.
int conn_prepare(struct server *server);

// Takes the descriptor of a connection that was accepted, after conn_prepare(). What is wrong with
// it is logged; who may not have another one is refused before anything that costs.
void conn_accept(struct server *server, int fd_take);

// Starts or stops reading as phase and pressure ask for.
void conn_update_reading(struct conn *conn);

// Interprets bytes. The connection may be closed after it.
void conn_feed(struct conn *conn, struct nvtxt_slice input);

// Reads what the socket holds, at most `limit` bytes, and interprets it.
void conn_read_rest(struct conn *conn, size_t limit);

// Gives the connection its source. Returns 0 or -ENOMEM (taken interpreter freed).
int conn_open_source(struct conn *conn, int64_t id, int kind, int64_t opened_ns, const char *name,
                     struct nvtxt_interp *interp_take);

// The connection ends without an end of its session: a plain source is ended as `how`, a session
// stays resumable. Closes.
void conn_break(struct conn *conn, const char *how);

// Closes when all replies are written; nothing is read any more.
void conn_leave(struct conn *conn);

// Likewise, for a client that does not know yet that there is nothing to say: it reads the end of
// the stream, and what it sends is read and dropped until it closes, or for CONN_PARTING_MS. The
// session is no longer this connection's.
void conn_part(struct conn *conn);

// Writes the replies that were appended; breaks the connection when that fails.
void conn_flush(struct conn *conn);

void conn_close(struct conn *conn);
