// SPDX-License-Identifier: Apache-2.0
//
// What to do with a transfer when the connection comes, goes, or is silent: whether to go on, what
// to tell people, which outcome it has.
#pragma once

#include "client/send/transfer_state.h"

#define TRANSFER_LEAVE_MS 5000 // after the end of an input that is in its spool, without `wait`

#define TRANSFER_SILENT_MS 5000     // a connected daemon may be silent at least so long
#define TRANSFER_CUT_SHORT_MS 10000 // for a daemon that died before its welcome: it may start again
#define TRANSFER_BUSY_MS 30000      // "busy-session": an older connection of ours may be ending

// Each returns OUTCOME_RUNNING when the transfer goes on.
enum outcome reconnect_try(struct transfer *t);
enum outcome reconnect_lost(struct transfer *t, enum outcome outcome, const char *why,
                            bool certain);
enum outcome reconnect_refused(struct transfer *t);

// The daemon lacks what the lines need, or what one needs that comes next.
enum outcome reconnect_too_old(struct transfer *t);

enum outcome reconnect_welcomed(struct transfer *t);
enum outcome reconnect_closed(struct transfer *t);
enum outcome reconnect_check_silence(struct transfer *t, int64_t now); // has it waited too long?

// The time until which the daemon may be silent; -1: for ever.
int64_t reconnect_deadline(const struct transfer *t);

// "12 lines of a.nvtxt not acknowledged" into `text`; returns it.
const char *reconnect_unacknowledged(const struct transfer *t, char *text, size_t size);

// For a session that has a spool and has not ended: says what is in it, what is lost, and what was
// not read. Removes a spool that nothing is in. Returns `r`; for a spool that could not be
// synced OUTCOME_IO, or OUTCOME_NO_OUTPUT when nothing was taken.
enum outcome reconnect_say_left(struct transfer *t, enum outcome r);

// The same without a spool: says how to send the rest, and nothing twice.
void reconnect_say_how_on(struct transfer *t);
