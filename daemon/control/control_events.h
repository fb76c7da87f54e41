// SPDX-License-Identifier: Apache-2.0
//
// The control command `events`: what was committed, read back from the store, as `nvtxt-ctl tail`
// shows it. A call says up to where it has seen the store (a cursor) and may wait: it is answered
// as soon as something that it wants is committed, or when its time is over. So nobody has to ask
// again and again, and an idle daemon sleeps. Loop thread only.
#pragma once

#include <stdbool.h>
#include <uv.h>

struct control_call;
struct feed_call;
struct server;

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
