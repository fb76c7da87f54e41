// SPDX-License-Identifier: Apache-2.0
//
// The writer thread: the only one that touches the store once it runs. It takes jobs from the
// queue, writes batches into an open transaction as they come, and commits when a batch asks for
// it. Before such a commit it takes what is queued already, so that a long queue makes bigger
// transactions (one fsync for all of them); a bound on the bytes that it holds limits that.
//
// A batch is held until its transaction is committed. After a failure (full disk, I/O error, a lock
// of another process) the writer rolls back and writes all held batches again, after a delay that
// grows up to two seconds. Nothing is acknowledged before it is safe and nothing is lost; the loop
// stops reading by itself, because the held bytes count against its budget. After bqueue_hurry()
// the writer tries once more; then the jobs go back with the failure as their result.
// After bqueue_give_up() it writes nothing more: they go back at once.
//
// Between two transactions the store may go on in a new segment (rotation_policy.h); the old one is
// finished by another thread (segment_keeper.h).
//
// A store that is broken, or that vanished, is replaced by a new one (revive.h), which gets all
// that is held. A batch that SQLite refuses is written source by source, so that only what cannot
// be written at all is lost, with a row of NVTXT_LOSSES.
#pragma once

#include "daemon/base/log.h"
#include "daemon/writer/rotation_policy.h"

struct writer {
    struct bqueue *queue; // borrowed
    struct store *store;  // owned from writer_start on; NULL while there is none
    struct revive revive; // how to get another one
    struct rotate rotate; // when to go on in a new segment
    size_t commit_bytes;  // commit when so many bytes are held
    pthread_t thread;
    bool started;

    // Of the writer thread only.
    struct job *held, **held_tail; // in the open transaction, or to be written again
    size_t held_bytes;
    bool in_transaction;
    bool commit_wanted;
    int64_t trouble_since_ns; // CLOCK_BOOTTIME, while state.in_trouble
    char why[256];            // why there is no store
    bool rotation_checked;    // and nothing was committed since
    uint64_t replaced;        // how often the store was lost, and another one took its place
    bool gave_up;             // after a hurry that did not help: nothing is tried any more
    struct writer_state state;
    struct log_limit log_refused;
};

// Takes `store` over and starts the thread. Returns 0, or -errno: the store is still the caller's.
int writer_start(struct writer *writer, struct bqueue *queue, struct store *store,
                 const struct revive *revive, const struct rotate_limits *limits,
                 size_t commit_bytes);

// Waits for the end of the thread, after a JOB_STOP. Does nothing when it was not started.
void writer_join(struct writer *writer);
