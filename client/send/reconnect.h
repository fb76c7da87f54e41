// SPDX-License-Identifier: Apache-2.0
//
// What a transfer is made of, and what becomes of it when the connection comes, goes, or is silent:
// whether to go on, what to tell people, which exit status. For transfer.c, and for command.c,
// which has an event loop of its own.
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/common/diag_print.h"
#include "client/common/input.h"
#include "client/common/term.h"
#include "client/send/intake.h"
#include "client/send/transfer.h"
#include "client/session/link.h"
#include "client/session/sender.h"
#include "client/spool/spool.h"
#include "client/text/textlog.h"

#define AWAY_RUNNING (-1) // no exit status: it goes on

struct transfer {
    struct transfer_options *options;
    struct input *input;
    struct spool *spool; // NULL: none
    struct term *term;
    struct sender sender;
    struct intake intake;
    struct link link;
    struct report report;
    int64_t begun_ms;
    int64_t away_ms;   // since when there is no daemon; -1: there is one
    int64_t silent_ms; // since when nothing but waiting is left; -1: there is more to do
    uint64_t heard;    // the acknowledgement that counts for it
    int64_t busy_ms;   // since when the session is said to be connected already; -1: it is not
    bool renewed;      // this process has begun another session for the rest
    bool denied;       // there may be a daemon, but not for us, at no place
    bool absent;       // there is none: nobody listens, or it was gone before its welcome
    bool told;         // people know that there is no daemon
    bool foreign;      // the session is another user's, and people know what becomes of it
    bool where_told;   // and which one takes it
    int64_t full_ms;   // when the spool's disk was full last, which people know; 0: it was not
    bool cut_short;    // a connection ended before its welcome
    int away_code;     // exit status if it stays so: EX_UNAVAILABLE or EX_TEMPFAIL
    char away_why[1100];
    int64_t stop_ms;    // when to give up after a signal; 0: no signal came
    int64_t sync_ms;    // when the spool goes onto the disk; -1: not
    int input_error;    // errno of a read that failed
    struct textlog log; // zeroed until the first read of a log
    bool told_unstamped;
};

// Each returns AWAY_RUNNING or an exit status after a sentence.
int away_try_connect(struct transfer *t);
int away_lost(struct transfer *t, int code, const char *why, bool certain);
int away_refused(struct transfer *t);
int away_welcomed(struct transfer *t);
int away_closed(struct transfer *t);
int away_check_silence(struct transfer *t, int64_t now); // has it been waited too long?

// The time until which it may be silent; -1: for ever.
int64_t away_deadline(const struct transfer *t);

// "12 lines of a.nvtxt not acknowledged" into `text`; returns it.
const char *away_unacknowledged(const struct transfer *t, char *text, size_t size);

// The session has not ended: says where its rest is.
void away_say_kept(struct transfer *t);

// Likewise without a spool: how to send the rest, and nothing twice.
void away_say_how_on(struct transfer *t);

// ---- The pieces of transfer_run(), in transfer.c. Results are AWAY_RUNNING or an exit status.

// `options`, `input`, `spool` and `term` are set, all else is zero.
int transfer_begin(struct transfer *t, const struct nvtxt_hello *hello);

int transfer_tick(struct transfer *t, int64_t now); // connects, and looks at what has waited long

// What to poll for, and until when (-1: no end); as a timeout for poll(2).
struct pollfd transfer_poll(const struct transfer *t);
int64_t transfer_until(const struct transfer *t, int64_t now);
int transfer_timeout(int64_t until, int64_t now);

int transfer_replies(struct transfer *t, short revents); // after poll()
int transfer_taken(struct transfer *t, int result);      // what a function of the intake returned
void transfer_write(struct transfer *t);

// Says what became of it and lets go of all but what was set. AWAY_RUNNING: the session has ended,
// else it has not. Returns the exit status.
int transfer_end(struct transfer *t, int result);
