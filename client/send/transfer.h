// SPDX-License-Identifier: Apache-2.0
//
// client/send: the program nvtxt-send. transfer sends one input, reconnect decides what to do
// without a daemon, intake brings lines into the session; command records what a command does, mark
// makes a single marker, send_options reads the command line. The room owns the program's event
// loops and its sentences; sessions, spools, logs and children have rooms of their own. One thread.
//
// A transfer sends one input through one session into the daemon, whatever happens in between. It
// joins an input, a sender and a link in an event loop, and tells people what they need to know.
#pragma once

#include <poll.h>

#include "client/send/transfer_state.h"

#define TRANSFER_STOP_MS 5000    // after a signal: time for the acknowledgement of what was read
#define TRANSFER_STOPPED_MS 1000 // ... when the daemon is stopped itself

// Sends the open `input` as the session that `hello` describes. A `spool` (NULL: none) was created
// or opened for it; it keeps the unacknowledged lines and is removed when the session has ended. To
// send the rest of a session, `input` is at its end and `options->resume` is set. Sets
// `options->connected_before`. FAULTS: the input had errors.
enum outcome transfer_run(struct transfer_options *options, struct input *input,
                          struct spool *spool, const struct nvtxt_hello *hello, struct term *term);

// ---- The pieces of transfer_run(). RUNNING: it goes on.

// `options`, `input`, `spool` and `term` are set, all else is zero.
enum outcome transfer_begin(struct transfer *t, const struct nvtxt_hello *hello);

// Connects when it is time, and does what has waited long enough.
enum outcome transfer_tick(struct transfer *t, int64_t now);

// What to poll for, and until when (-1: no end), also as a timeout for poll(2).
struct pollfd transfer_poll(struct transfer *t);
int64_t transfer_until(const struct transfer *t, int64_t now);
int transfer_timeout(int64_t until, int64_t now);

enum outcome transfer_replies(struct transfer *t, short revents); // after poll()

// The outcome for what a function of the intake returned.
enum outcome transfer_taken(struct transfer *t, int r);

void transfer_write(struct transfer *t);

// Says how the transfer ended, and frees all but what the caller set. `r` RUNNING: the session
// has ended, else it has not.
enum outcome transfer_end(struct transfer *t, enum outcome r);

// ---- Sessions of processes that are gone --------------------------------------------------------

// Sends all spools of the folder `dir`. What cannot be sent stays, after a sentence, and does not
// stop the rest, unless there is no daemon. The worst outcome counts; a file that was damaged is
// BAD_DATA. The signals are those of client/common/signals.
enum outcome resume_sessions(struct transfer_options *options, const char *dir, struct term *term);

// The same after its ring files have become spools. A private folder of a run (client/nvtx) is
// removed when it is empty then.
enum outcome resume_folder(struct transfer_options *options, const char *dir, struct term *term);
