// SPDX-License-Identifier: Apache-2.0
//
// daemon/control: the control socket, through which nvtxt-ctl and other programs ask the daemon and
// command it. The room owns the connections to this socket, their requests, and the commands. It
// borrows the server, the watch and what daemon.c gives it. It does not touch the store: questions
// are jobs in the writer's queue, and what takes minutes runs on a thread of libuv's pool
// (control_pool.c). All else is the loop's thread.
//
// This header: connections and calls. Requests and replies are JSON, one line each
// (protocol/wire/ctlmsg.h). Who may read the store may use the commands that change nothing; root
// and the daemon's own user may use all (rights.h). What one user has of the socket is bounded
// (callers.h); a user who wants more gets an error and is disconnected. A request becomes a call.
// Its command, a row of the table in control_cmds.c, answers it at once or later; a call outlives
// its connection. The requests of a connection are served one after the other: the next one waits
// until the one before is answered, unless that one's command lets it pass, and until the client
// has read the replies.
#pragma once

#include <uv.h>

#include "daemon/conf/conf.h"
#include "daemon/conn/server.h"
#include "daemon/control/callers.h"
#include "daemon/control/rights.h"
#include "daemon/socket/outq.h"
#include "protocol/base/buf.h"
#include "protocol/base/frame.h"
#include "protocol/wire/ctlmsg.h"
#include "protocol/wire/ctlmsg_args.h"

#define CONTROL_CONNS_READERS 64          // connections of all readers (rights.h)
#define CONTROL_CONNS_USER 16             // connections of one reader
#define CONTROL_CONNS_OPERATORS 128       // connections of root and the daemon's own user
#define CONTROL_CALLS_MAX 64              // unanswered calls of a connection
#define CONTROL_CALLS_USER 256            // unanswered calls of a user
#define CONTROL_DIAGNOSTICS_MAX 1000      // in one answer
#define CONTROL_EVENTS_MAX 1000           // in one answer
#define CONTROL_WAIT_MS_MAX 3600000       // an hour
#define CONTROL_REPLIES_BYTES (64u << 20) // `sources` of thousands of connections is long

struct control_feed;    // control_cmds.h
struct control_flushes; // control_cmds.h

struct control_conn {
    uv_pipe_t pipe;
    struct control *control;
    struct control_conn *next, *prev;
    struct caller *caller;
    enum rights_level rights;
    struct nvtxt_frame frame;
    struct outq outq;
    struct nvtxt_buf pending;     // bytes that are read, but not yet a request
    struct control_call *calls;   // that have no answer yet
    struct control_call *awaited; // the one of them that the next request waits for; or NULL
    size_t call_count;
    bool reading;
    bool at_end; // the client sends no more
    bool taking; // take_pending() is running
    bool closed;
    bool closing;     // will be closed when all calls are answered and the replies written
    int descriptor;   // that an operator passed, for its next `snapshot`; -1: none
    ssize_t received; // bytes in `buffer`; 0 at the end; -EAGAIN: nothing came
    char buffer[4096];
};

struct control {
    struct server *server; // borrowed
    struct rights rights;  // set by the owner
    struct control_conn *conns;
    struct control_conn *spare;      // for the next connection; owned
    size_t conn_count, reader_count; // all connections; those of readers
    struct callers callers;
    struct refusals refusals;
    const struct control_command *commands; // borrowed
    size_t command_count;

    // For the commands; set by the owner.
    const struct watch *watch;       // followed files; borrowed
    struct control_feed *feed;       // `events`; borrowed
    struct control_flushes *flushes; // `flush`; borrowed
    // Reads the configuration again. Returns 0, or 1 with the faults in `result`.
    int (*reload)(struct control *control, struct reload_result *result);
    void *owner;
    bool verifying; // a `verify` is under way
};

struct control_call {
    struct control_conn *conn; // NULL when it is closed
    struct control_call *next, *prev;
    struct control *control;
    struct caller *caller;
    struct control_call *next_flush; // control_flush.c
    struct server *server;
    struct nvtxt_ctl_request request; // its arguments are those of the command's table
    bool passed;                      // control_let_pass() was called
    // Set by a command that waits: called when nobody may be there any more to read the answer. The
    // command answers soon after.
    void (*on_cancel)(struct control_call *call);
    void *waiting; // that command's data
};

struct control_command {
    const char *name;
    enum rights_level rights; // the least that its user must have
    const char *help;
    void (*run)(struct control_call *call); // calls one of the two functions below, now or later
    const struct nvtxt_ctl_arg *args;       // NULL: it takes none
};

// Answer a call and free it. A NULL result means that memory is short.
void control_reply(struct control_call *call, json_t *result_take);
void control_fail(struct control_call *call, const char *code, const char *message);

// The answer may take long: the next requests do not wait for it. The command calls this before it
// returns.
void control_let_pass(struct control_call *call);

// `commands`, a table of `count` rows, is borrowed.
void control_init(struct control *control, struct server *server,
                  const struct control_command *commands, size_t count);

// Whether another connection can be accepted: 0 or -errno, as the callback `prepare` of a listener.
int control_prepare(struct control *control);

// After control_prepare(): takes the descriptor of an accepted connection.
void control_accept(struct control *control, int fd_take);
void control_close(struct control *control);  // closes all connections
void control_deinit(struct control *control); // after the loop has run out
