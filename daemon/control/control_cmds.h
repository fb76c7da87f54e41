// SPDX-License-Identifier: Apache-2.0
//
// The table of the control commands, the functions that its rows call in other files, and what
// these files share.
#pragma once

#include <jansson.h>

#include "daemon/control/control.h"
#include "protocol/base/slice.h"

struct feed_call;
struct removed; // daemon/writer/bqueue.h
struct watch;

extern const struct control_command control_commands[];
extern const size_t control_command_count;

void control_sources(struct control_call *call);
void control_disconnect(struct control_call *call);
void control_diagnostics(struct control_call *call);
void control_checkpoint(struct control_call *call);
void control_metrics(struct control_call *call);
void control_rotate(struct control_call *call);
void control_snapshot(struct control_call *call);
void control_verify(struct control_call *call);

// What `status` says of watched folders (control_sources.c).
void control_add_folders(json_t *status, const struct watch *watch);

// A job whose answer the call waits for. NULL: the call was answered, because the store cannot be
// written now or memory is short (control_store.c).
struct job *control_job_new(struct control_call *call, enum job_kind kind,
                            void (*on_done)(struct job *job), void *context);

// ---- Values (daemon/control/control_json.c) -----------------------------------------------------
//
// Values of a command's result. A text from outside (a path, a name, an error) may hold any bytes:
// it becomes valid UTF-8.

// Each returns NULL when memory is short.
json_t *control_text(const char *text);
json_t *control_nullable(const char *text); // null for NULL and ""
json_t *control_slice(struct nvtxt_slice text);
json_t *control_nullable_slice(struct nvtxt_slice text); // null for an empty one

void control_set(json_t *object, const char *name, int64_t value);

json_t *control_removed(const struct removed *removed); // what retention removed

// ---- The command `events` (daemon/control/control_events.c) -------------------------------------
//
// What was committed, read back from the store, as `nvtxt-ctl tail` shows it. A call says up to
// where it has seen the store (a cursor) and may wait: it is answered as soon as something that it
// wants is committed, or when its time is over. So nobody has to ask again and again, and an idle
// daemon sleeps. Loop thread only.

struct control_feed {
    struct server *server;          // borrowed
    struct feed_call *first, *last; // those that wait, in the order in which they are served
    struct feed_call *reading;      // the one for which the writer reads now, in no list; or NULL
    uv_timer_t timer;               // until the time of the first of them is over
    bool closing;
};

void control_events_init(struct control_feed *feed, struct server *server);
void control_events_news(struct control_feed *feed); // to be called after a commit
void control_events_close(struct control_feed *feed);

void control_events(struct control_call *call); // a row of the table of commands

// ---- The command `flush` (daemon/control/control_flush.c) ---------------------------------------
//
// Commits what came in before, and answers when that is done. Loop thread only.

struct control_flushes {
    struct server *server;        // borrowed
    struct control_call *waiting; // for the next commit
    struct control_call *asked;   // for the commit that is under way
    bool out;                     // a commit is under way
    uint64_t number;              // counts the commits
    uv_timer_t timer;             // until a user may have another one
    bool closing;
};

void control_flush_init(struct control_flushes *flushes, struct server *server);
void control_flush_close(struct control_flushes *flushes); // after all connections

void control_flush(struct control_call *call); // a row of the table of commands
