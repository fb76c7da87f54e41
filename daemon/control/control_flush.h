// SPDX-License-Identifier: Apache-2.0
//
// The control command `flush`: calls that wait for a commit. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct control_call;
struct server;

struct control_flushes {
    struct server *server;        // borrowed
    struct control_call *waiting; // for the next one
    struct control_call *asked;   // for the one that is under way
    bool out;                     // it is
    uint64_t number;              // of commits
    uv_timer_t timer;             // until a user may have another one
    bool closing;
};

void control_flush_init(struct control_flushes *flushes, struct server *server);
void control_flush_close(struct control_flushes *flushes); // after all connections

void control_flush(struct control_call *call); // a row of the table of commands
