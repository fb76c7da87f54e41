// SPDX-License-Identifier: Apache-2.0
//
// The control command `flush`: commits what came in before, and answers when that is done. Loop
// thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct control_call;
struct server;

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
