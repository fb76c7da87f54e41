// SPDX-License-Identifier: Apache-2.0
//
// lib/send: from the rings to the daemon. The sender is a thread of its own with all signals
// blocked: it makes lines of what the rings hold (pass.h), sends them in a session, and forgets
// them when they are acknowledged. No call of the program ever waits for it; the end of the process
// and nvtxt_flush() do, for as long as they were told to. It owns the region's window, its states
// and its tails, and the connection. It knows nothing of what the program named; it is told when
// names have changed.
#pragma once

#include <stdatomic.h>

#include "lib/send/session.h"

struct sender {
    struct sender_options options;
    struct region *region;
    _Atomic uint32_t *attention; // a futex, set before it sleeps:
    uint32_t asleep;             // any call wakes it
    uint32_t dozes;              // who fills half a ring wakes it
    uint32_t rests;              // no call wakes it, only who waits for it
    _Atomic bool is_ending;      // no more calls come: send what there is, end the session, return
    _Atomic bool is_done;        // the session has ended, or nobody is there to end it with
    _Atomic uint32_t waiting;    // threads in sender_flush() and sender_end()
    _Atomic uint32_t progress;   // a futex: changes with each pass and acknowledgement
    _Atomic uint64_t passes;     // that took all there was when they began
    _Atomic uint64_t lines_made, lines_sent, lines_acked, ignored;
    _Atomic bool is_connected, is_complete; // of a sender that is done: all is acknowledged
    struct sender_work *work;
};

// What comes before the first record, so that who finds only the region can go on with it: gives
// the region its session and its offset.
void sender_prepare(struct sender *sender);

// Starts the thread, which allocates: never in a signal handler. `sender` stays where it is as long
// as the process lives. Returns 0 or -errno.
int sender_start(struct sender *sender);

// Wakes a sender that sleeps. Any thread; no lock.
void sender_wake(struct sender *sender);

// Waits until everything that was recorded before the call is acknowledged, or until `until_ns`
// (CLOCK_MONOTONIC). Returns 0, -ETIMEDOUT, or -ENOTCONN when there is no daemon at that time.
int sender_flush(struct sender *sender, int64_t until_ns);

// Ends the session in order; waits until `until_ns` for it. Returns whether all was acknowledged.
bool sender_end(struct sender *sender, int64_t until_ns);

// The same without a thread, which must not have been started: the caller does its work, with all
// signals blocked. Allocates nothing, so it may be in a signal handler that ends the process.
bool sender_end_here(struct sender *sender, int64_t until_ns);
