// SPDX-License-Identifier: Apache-2.0
//
// The control command `events`: calls that wait until something is committed that they want. Each
// is answered once, at the latest when its time is over. Loop thread only.
#pragma once

#include <stdbool.h>
#include <uv.h>

struct control_call;
struct feed_call;
struct server;

struct control_feed {
    struct server *server;          // borrowed
    struct feed_call *first, *last; // in the order of their turns
    struct feed_call *reading;      // in the writer's hands, in no list; NULL: none
    uv_timer_t timer;               // the next one's patience ends
    bool closing;
};

void control_events_init(struct control_feed *feed, struct server *server);
void control_events_news(struct control_feed *feed); // something was committed
void control_events_close(struct control_feed *feed);

void control_events(struct control_call *call); // a row of the table of commands
