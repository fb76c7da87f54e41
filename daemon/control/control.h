// SPDX-License-Identifier: Apache-2.0
//
// The control socket: JSON lines in, JSON lines out (protocol/wire/ctlmsg.h). Who may read the
// store may look, root and the daemon's own user may do everything (rights.h); what each has of it
// is bounded (callers.h), and who wants more is told so and closed. A request becomes a call, which
// a command answers now or, when it has to wait for the writer, later; a call outlives its
// connection. The requests of a connection are served one after the other, so answers come in their
// order: one that is not answered yet holds up those behind it, unless it lets them pass, and so do
// replies that the client does not read. Commands are rows of the table in control_cmds.c. Loop
// thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
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

#define CONTROL_CONNS_LOOK 64             // of all that may only look
#define CONTROL_CONNS_A_USER 16           // of each of those
#define CONTROL_CONNS_ALL 128             // of root and the daemon's own user
#define CONTROL_CALLS_MAX 64              // unanswered, a connection
#define CONTROL_CALLS_A_USER 256          // the same, a user
#define CONTROL_DIAGNOSTICS_MAX 1000      // in one answer
#define CONTROL_EVENTS_MAX 1000           // the same
#define CONTROL_WAIT_MS_MAX 3600000       // an hour
#define CONTROL_REPLIES_BYTES (64u << 20) // `sources` of thousands of connections is long

struct control_feed;    // control_events.h
struct control_flushes; // control_flush.h

struct control_conn {
    uv_pipe_t pipe;
    struct control *control;
    struct control_conn *next, *prev;
    struct caller *caller;
    enum rights_level rights;
    struct nvtxt_frame frame;
    struct outq outq;
    struct nvtxt_buf pending;     // read, and not taken yet
    struct control_call *calls;   // unanswered
    struct control_call *holding; // the one of them that those behind it wait for; or NULL
    size_t call_count;
    bool reading;
    bool at_end; // it sends no more
    bool taking; // requests are being taken
    bool closed;
    bool leaving; // closes when its replies are written
    char buffer[4096];
};

struct control {
    struct server *server; // borrowed
    struct rights rights;  // the owner's to set
    struct control_conn *conns;
    struct control_conn *spare;    // for the next connection; owned
    size_t conn_count, look_count; // all, and those that may only look
    struct callers callers;
    struct refusals refusals;
    const struct control_command *commands; // borrowed
    size_t command_count;

    // For the commands, set by the owner.
    const struct watch *watch;       // followed files; borrowed
    struct control_feed *feed;       // `events`; borrowed
    struct control_flushes *flushes; // `flush`; borrowed
    // Reads the configuration again. Returns 0, or 1 with the faults in `result`.
    int (*reload)(struct control *control, struct reload_result *result);
    void *owner;
    bool verifying; // a `verify` is under way
};

struct control_call {
    struct control_conn *conn; // NULL when it is gone
    struct control_call *next, *prev;
    struct control *control;
    struct caller *caller;
    struct control_call *next_flush;
    struct server *server;
    struct nvtxt_ctl_request request; // its arguments are those of the command's table
    bool passed;                      // see control_let_pass()
    // Set by a command that waits: the caller has gone or, when it may take long, sends no more. It
    // answers soon.
    void (*on_leave)(struct control_call *call);
    void *waiting; // that command's own
};

struct control_command {
    const char *name;
    enum rights_level rights; // that it needs
    const char *help;
    void (*run)(struct control_call *call); // must end in one of the two below, now or later
    const struct nvtxt_ctl_arg *args;       // NULL: none
};

// Both free the call. A NULL result stands for memory that was short.
void control_reply(struct control_call *call, json_t *result_take);
void control_fail(struct control_call *call, const char *code, const char *message);

// Its answer may take long: the requests behind it do not wait for it. To be called by the command
// before it returns.
void control_let_pass(struct control_call *call);

// `commands`, a table of `count` rows, is borrowed.
void control_init(struct control *control, struct server *server,
                  const struct control_command *commands, size_t count);

// Whether another connection can be taken; as a listener's is_ready.
int control_prepare(struct control *control);

// Takes the descriptor of a connection that was accepted, after control_prepare().
void control_accept(struct control *control, int fd_take);
void control_close(struct control *control);  // all connections, for good
void control_deinit(struct control *control); // after the loop has run out
