// SPDX-License-Identifier: Apache-2.0
//
// What a transfer is asked to do, and what it is made of. For transfer.c, which has its event loop,
// reconnect.c, which decides what becomes of it, and command.c, which has a loop of its own.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/common/diag_print.h"
#include "client/common/input.h"
#include "client/common/outcome.h"
#include "client/common/term.h"
#include "client/send/intake.h"
#include "client/session/link.h"
#include "client/session/sender.h"
#include "client/spool/spool.h"
#include "client/text/textlog.h"

struct search;

struct transfer_options {
    struct search *search; // where a daemon may be; borrowed. The one that accepted is kept to
    bool verbose;          // says which daemon takes it
    bool wait;             // for a daemon at the start
    int64_t wait_ms;       // at most so long, with a spool behind the input's end; -1: for ever
    int64_t timeout_ms;    // for an acknowledgement, when nothing else can be done; -1: for ever
    int64_t sync_ms;       // how often the spool goes onto the disk; -1: when the system likes
    bool drop;             // lines that have no room are dropped
    bool new_session;      // what follows a session that the daemon closed is another one
    bool resume;           // the inputs are spools that were left behind
    bool repeat;           // the session may have been sent before, wholly or in part
    bool made_up;          // the input is no file: nobody could send it again
    bool quiet;            // no diagnostics, no progress, no news of the connection
    size_t window_bytes;   // unacknowledged lines that are held
    const struct textlog_options *text; // the input is a log; NULL: NVTXT. Borrowed
    bool connected_before; // there was a daemon for an earlier input: it will come back
    bool left; // an earlier input was left to its spool: later ones do not wait for a daemon
};

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
    enum outcome away_outcome; // if it stays so: NO_DAEMON or LATER
    char away_why[1100];
    int64_t stop_ms;    // when to give up after a signal; 0: no signal came
    int64_t sync_ms;    // when the spool goes onto the disk; -1: not
    int input_error;    // errno of a read that failed
    struct textlog log; // zeroed until the first read of a log
    bool told_unstamped;
};
