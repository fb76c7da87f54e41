// SPDX-License-Identifier: Apache-2.0
//
// daemon/conn: data connections and the sessions on them. The server is what all of them share: the
// hub, which takes their lines to the writer (hub.h), the table of sessions, quotas, and the one
// read buffer (it is lent to a connection for the length of a read callback, so idle connections
// hold none). Also the orderly stop. It knows nothing of listeners, followed files and the control
// socket. Loop thread only.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/log.h"
#include "daemon/conn/parked.h"
#include "daemon/socket/refusals.h"
#include "daemon/source/hub.h"
#include "daemon/source/quota.h"
#include "protocol/base/hash.h"

#define SERVER_READ_BYTES                                                                          \
    (256u << 10) // more than a Unix socket holds by default: one read an event

struct conn;
struct session;

enum server_stage {
    SERVER_RUNNING,
    SERVER_READING,    // stopping: takes what is in the sockets' buffers
    SERVER_COMMITTING, // stopping: everything taken was handed over, waits for the commit
    SERVER_TELLING,    // stopping: last replies are on their way
    SERVER_STOPPED,    // no connection is left
};

struct server {
    struct hub hub;
    struct hub_listener listener;
    struct quota quota;
    struct parked parked; // sessions that nobody is connected to
    struct refusals refusals;
    uv_timer_t patience;        // until users that are too fast are read again
    uv_timer_t parting;         // until clients that were told the end do not close
    struct nvtxt_hash sessions; // connected ones, by session id

    struct conn *conns; // all that are not closed
    struct conn *spare; // for the next connection; owned
    size_t conn_count;
    bool news;             // of the current drain: a batch was committed
    struct session *acked; // sessions that the current drain has something for
    char *read_buffer;     // SERVER_READ_BYTES

    bool gave_up;         // a stop did, on a batch
    uint64_t uncommitted; // events that it gave up
    uint64_t unwritten;   // of them, those of plain sources: nobody sends them again

    enum server_stage stage;
    atomic_bool leaving; // for threads of the loop's pool: it is no longer RUNNING
    struct conn *cursor; // READING: the next connection whose socket is read

    // The owner's: the last connection is gone after server_stop(); a connection was closed (room
    // for a waiting one); there is something new in the store.
    void (*on_stopped)(struct server *server);
    void (*on_room)(struct server *server);
    void (*on_news)(struct server *server); // batches were committed, all of a drain
    void *owner;

    struct log_limit log_refused, log_broken, log_accept;
};

// Returns 0 or -errno; server_deinit() in any case.
int server_init(struct server *server, uv_loop_t *loop, const struct conf *config,
                int64_t next_source_id);
void server_deinit(struct server *server); // after the loop has run out
void server_close_handles(struct server *server);

// The configuration has changed: takes over what concerns connections and batches.
void server_configure(struct server *server);

// Lines of a user were taken: its connections are read no more when it has too much.
void server_charge(struct server *server, struct quota_user *user, uint64_t events);

// The orderly stop: takes what is in the sockets, commits it, tells the sessions, closes. Then
// on_stopped is called. The listener must be stopped before.
void server_stop(struct server *server);

// Ends an orderly stop that takes too long: every connection is closed now.
void server_abort(struct server *server);

// A connection is parting: it is closed when its client does not in time.
void server_part(struct server *server, struct conn *conn);

// A connection is gone from the list; `next` is what followed it.
void server_forget(struct server *server, struct conn *conn, struct conn *next);
