// SPDX-License-Identifier: Apache-2.0
//
// The options and the state of a transfer. For transfer.c, which has its event loop, reconnect.c,
// which decides what to do without a daemon, and command.c, which has a loop of its own.
#pragma once

#include <stddef.h>

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "client/send/intake.h"
#include "client/session/link.h"

struct search;

struct transfer_options {
    struct search
        *search;     // where a daemon may be; borrowed. The first that accepts is used ever after
    bool verbose;    // say which daemon takes it
    bool wait;       // wait for a daemon at the start
    int64_t wait_ms; // ... so long; with a spool, so long after the input's end; -1: for ever
    int64_t timeout_ms; // longest wait for an acknowledgement when there is nothing else to do; -1:
                        // for ever
    int64_t sync_ms;    // between syncs of the spool; -1: the system decides
    bool drop;          // lines that have no room are dropped
    bool new_session;   // a session that the daemon closed is continued as another one
    bool resume;        // the inputs are spools of earlier processes
    bool repeat;        // the session may have been sent before, wholly or in part
    bool renews;        // the caller begins another session itself when the daemon has closed it
    bool made_up;       // the input is no file: nobody could send it again
    bool stays;       // the input stays, and the caller says how to send it again: at a signal its
                      // session is left as it is
    bool spooled;     // set at the end: the spool has all of the input that is not acknowledged
    bool quiet;       // no diagnostics, no progress, no news of the connection
    bool only_errors; // no summary of an input that has warnings alone, none of them printed
    size_t window_bytes;                // unacknowledged lines that are held
    const struct textlog_options *text; // the input is a log; NULL: NVTXT. Borrowed
    bool connected_before; // there was a daemon for an earlier input: there will be one again
    bool left;       // an earlier input was left in its spool: later ones do not wait for a daemon
    bool one_chance; // when the daemon was given up, later inputs are not sent
    bool given_up;   // it was, after the end of the command where there is one
    bool too_old;    // the daemon lacked what had to be sent
    bool tries;      // nothing is said of foreign-process: the caller sends it as another process
    bool foreign;    // there was such an error
};

struct transfer {
    struct transfer_options *options;
    struct input *input;
    struct spool *spool; // NULL: none
    struct term *term;
    struct sender sender;
    struct intake intake;
    struct link link;
    struct diag_print report;
    int64_t begun_ms;
    int64_t away_ms;    // since when there is no daemon; -1: there is one
    int64_t silent_ms;  // since when it can only wait; -1: there is more to do
    uint64_t heard;     // the acknowledgement at that time
    int64_t busy_ms;    // since when the daemon says that the session is connected already; -1: it
                        // does not
    bool renewed;       // this process has begun another session for the rest
    bool denied;        // no place may be used: all are forbidden
    bool absent;        // there is none: nobody listens, or it was gone before its welcome
    bool logged_away;   // the message that there is no daemon was printed
    bool logged_where;  // the message which daemon takes it was printed
    bool logged_levels; // the message that the daemon has no levels was printed
    int64_t full_ms;    // when the disk of the spool was full last; 0: never
    bool cut_short;     // a connection ended before its welcome
    enum outcome away_outcome; // if it stays so: OUTCOME_NO_DAEMON or OUTCOME_LATER
    char away_why[1100];
    int64_t stop_ms;       // when to give up after a signal; 0: no signal came
    int64_t sync_ms;       // when the spool goes onto the disk; -1: not
    int input_error;       // errno of a read that failed
    struct textlog log;    // zeroed until the first read of a log
    bool logged_unstamped; // the message that lines have no time was printed
};
