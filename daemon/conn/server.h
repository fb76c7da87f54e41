// SPDX-License-Identifier: Apache-2.0
//
// daemon/conn: data connections and the sessions on them. A connection turns bytes into the lines
// of a source (conn.h); with a hello it is a session, which the client can resume (session.h);
// sessions without a client count for their user (parked.h), and end when nobody resumes them
// (session_expiry.h). The server is what all connections share: the hub, which brings their lines
// to the writer (hub.h), the table of sessions, the quotas, and the one read buffer (lent to a
// connection for a read callback, so idle connections have none). It also stops in order. The room
// owns connections once they are accepted. It knows no listeners, no followed files and no control
// socket. Loop thread only.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

#include "daemon/base/log.h"
#include "daemon/conn/parked.h"
#include "daemon/socket/refusals.h"
#include "daemon/source/hub.h"

#define SERVER_READ_BYTES                                                                          \
    (256u << 10) // more than a Unix socket holds by default: one read an event

struct conn;
struct session;

enum server_stage {
    SERVER_RUNNING,
    SERVER_READING,    // stopping: reads what is in the sockets' buffers
    SERVER_COMMITTING, // stopping: waits for the commit of what was read
    SERVER_REPLYING,   // stopping: sends the last replies
    SERVER_STOPPED,    // no connection is left
};

struct server {
    struct hub hub;
    struct hub_listener listener;
    struct quota quota;
    struct parked parked; // sessions without a client
    struct refusals refusals;
    uv_timer_t resume;          // when users that were too fast are read again
    uv_timer_t drain;           // when draining connections are closed
    struct nvtxt_hash sessions; // connected ones, by session id

    struct conn *conns; // all that are not closed
    struct conn *spare; // for the next connection; owned
    size_t conn_count;
    bool committed;            // of the jobs that are taken now, a batch was committed
    struct session *to_load;   // sessions that wait for their turn, oldest first
    struct session *to_answer; // sessions that the jobs taken now have an answer for
    char *read_buffer;         // SERVER_READ_BYTES

    bool gave_up;         // a stop, on a batch
    uint64_t uncommitted; // events in batches that it gave up
    uint64_t unwritten;   // those of plain sources, which nobody sends again

    enum server_stage stage;
    atomic_bool stopping; // the stage is no longer RUNNING; for threads of the loop's pool
    struct conn *cursor;  // READING: the next connection to read

    // Set by the owner: the last connection is gone after server_stop(); there is room for another
    // connection; batches were committed (once for all jobs that were taken together).
    void (*on_stopped)(struct server *server);
    void (*on_room)(struct server *server);
    void (*on_commit)(struct server *server);
    void *owner;

    struct log_limit log_refused, log_broken, log_accept;
};

// Returns 0 or -errno; server_deinit() in any case.
int server_init(struct server *server, uv_loop_t *loop, const struct conf *config,
                int64_t next_source_id);
void server_deinit(struct server *server); // after the loop has run out
void server_close_handles(struct server *server);

// The configuration has changed: applies it to connections and to the hub.
void server_configure(struct server *server);

// Lines of a user were taken: stops reading its connections when they were too many.
void server_charge(struct server *server, struct quota_user *user, uint64_t events);

// Stops in order: reads what is in the sockets, commits it, sends the last replies, closes. Calls
// on_stopped after that. The listener must be stopped before.
void server_stop(struct server *server);

// Ends a stop that takes too long: closes all connections now.
void server_abort(struct server *server);

// A connection is draining: closes it after CONN_DRAIN_MS if its client does not before.
void server_drain(struct server *server, struct conn *conn);

// A connection was taken out of the list.
void server_forget(struct server *server, const struct conn *conn);
