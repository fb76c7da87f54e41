// SPDX-License-Identifier: Apache-2.0
//
// The writer thread: the only one that touches the store once it runs. It takes jobs from the
// bqueue, writes batches into an open transaction as they come and commits when a batch asks for
// it. Before such a commit it takes what is queued already, so that a deep queue makes bigger
// transactions (one fsync for all of them); a bound on the bytes held keeps that finite.
//
// A batch is held until its transaction is committed. A failure (full disk, I/O error, a foreign
// lock) rolls back, and every held batch is written again after a delay that grows up to two
// seconds: nothing is acknowledged before it is safe, nothing is lost, and the loop stops reading
// by itself because the held bytes count against its budget. bqueue_hurry() ends the trying; the
// jobs come back with the failure as their result then.
//
// Between two transactions the store may go on in a new segment (rotation_policy.h); what is left
// of the old one is done beside the writer (segment_keeper.h).
//
// A store that turns out to be broken, or that vanished, is replaced by a new one (revive.h), which
// gets all that is held. A batch that SQLite refuses is written source by source, so that only what
// cannot be written at all is lost, and noted.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/log.h"
#include "daemon/writer/bqueue.h"
#include "daemon/writer/revive.h"
#include "daemon/writer/rotation_policy.h"

struct writer {
    struct bqueue *queue; // borrowed
    struct store *store;  // owned from writer_start on; NULL while there is none
    struct revive revive; // how to get another one
    struct rotate rotate; // when to go on in a new segment
    size_t commit_bytes;  // commit when so many bytes are held
    pthread_t thread;
    bool started;

    // The writer thread's own.
    struct job *held, **held_tail; // written into the open transaction, or waiting to be again
    size_t held_bytes;
    bool in_transaction;
    bool commit_wanted;
    int64_t trouble_since_ns; // CLOCK_BOOTTIME
    char why[256];            // why there is no store
    bool looked;              // nothing was committed since it was asked whether to rotate
    bool gave_up;             // told to hurry while in trouble: nothing is tried any more
    struct writer_figures figures;
    struct log_limit log_refused;
};

// Takes `store` over and starts the thread. On failure (-errno) the store stays the caller's.
int writer_start(struct writer *writer, struct bqueue *queue, struct store *store,
                 const struct revive *revive, const struct rotate_limits *limits,
                 size_t commit_bytes);

// Waits for the end of the thread, which a JOB_STOP brings about. Fine when it never started.
void writer_join(struct writer *writer);
