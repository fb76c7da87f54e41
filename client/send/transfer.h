// SPDX-License-Identifier: Apache-2.0
//
// One input through one session into the daemon, whatever happens in between: the event loop of
// nvtxt-send. Joins an input, a sender and a link, and tells people what they need to know.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/common/input.h"
#include "client/common/term.h"
#include "protocol/wire/reply.h"

struct search;
struct spool;
struct textlog_options;

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

#define TRANSFER_STOP_MS 5000    // after a signal: for the acknowledgement of what was read
#define TRANSFER_STOPPED_MS 1000 // ... by a daemon that is stopped itself

#define TRANSFER_LEAVE_MS 5000 // behind the end of an input that is in its spool, without `wait`

#define TRANSFER_SILENT_MS 5000     // at least so long, a connected daemon may say nothing
#define TRANSFER_CUT_SHORT_MS 10000 // a daemon that died before its welcome may take to come back
#define TRANSFER_BUSY_MS 30000      // "busy-session" may be an older connection of ours that dies

// Sends the open `input` as the session that `hello` describes. With a `spool` (NULL: none) that
// was created or opened for it, unacknowledged lines are in there; it is removed when the session
// has ended. To send the rest of a session, `input` is at its end and `options->resume` is set.
// Returns 0, or 1 when the input had
// errors, or one of <sysexits.h> or 128 + signal after a sentence that says why. Sets
// `options->connected_before`.
int transfer_run(struct transfer_options *options, struct input *input, struct spool *spool,
                 const struct nvtxt_hello *hello, struct term *term);
