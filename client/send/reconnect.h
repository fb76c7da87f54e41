// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a transfer when the connection comes, goes, or is silent: whether to go on, what
// to tell people, which outcome it has.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/send/transfer_state.h"

#define TRANSFER_LEAVE_MS 5000 // behind the end of an input that is in its spool, without `wait`

#define TRANSFER_SILENT_MS 5000     // at least so long, a connected daemon may say nothing
#define TRANSFER_CUT_SHORT_MS 10000 // a daemon that died before its welcome may take to come back
#define TRANSFER_BUSY_MS 30000      // "busy-session" may be an older connection of ours that dies

// Each returns RUNNING when it goes on.
enum outcome away_try_connect(struct transfer *t);
enum outcome away_lost(struct transfer *t, enum outcome outcome, const char *why, bool certain);
enum outcome away_refused(struct transfer *t);
enum outcome away_welcomed(struct transfer *t);
enum outcome away_closed(struct transfer *t);
enum outcome away_check_silence(struct transfer *t, int64_t now); // has it been waited too long?

// The time until which it may be silent; -1: for ever.
int64_t away_deadline(const struct transfer *t);

// "12 lines of a.nvtxt not acknowledged" into `text`; returns it.
const char *away_unacknowledged(const struct transfer *t, char *text, size_t size);

// The session has not ended: says where its rest is.
void away_say_kept(struct transfer *t);

// Likewise without a spool: how to send the rest, and nothing twice.
void away_say_how_on(struct transfer *t);
