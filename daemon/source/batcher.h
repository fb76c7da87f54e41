// SPDX-License-Identifier: Apache-2.0
//
// Group commit, the loop's side. What all sources produce goes into one open batch. It is handed
// to the writer
//   by size    when it has grown to its share of the memory budget; without a commit,
//   by age     a one-shot timer, armed when the first uncommitted thing goes in; with a commit,
//   by demand  flush, the end of a session, shutdown; with a commit.
// While nothing is uncommitted there is no timer. Batches come back after their commit and are
// used again. Bytes handed over and not committed are counted; above the budget the connections
// stop reading, below half of it they go on (the owner does that in on_pressure).
// Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "daemon/base/loss_notes.h"
#include "daemon/base/stats.h"
#include "daemon/source/rates.h"
#include "daemon/writer/bqueue.h"
#include "protocol/base/buf.h"
#include "store/value/batch.h"

struct owners;

#define BATCHER_SPARES 8 // jobs with their batch kept for the next use

// Whoever may have a share of the open batch.
struct batch_member {
    struct store_batch_source *share; // NULL: none
    size_t state_bytes;               // that settling is expected to add to the batch
    struct batch_member *next, **at;  // the batcher's list
    // The batch goes out, or the member goes away: writes into the share what the batch must hold,
    // and forgets it. Returns 0, or -ENOMEM: the share is discarded.
    int (*settle)(struct batch_member *member);
    // After settling has failed, but not when the member goes away. It may free the member.
    void (*on_failed)(struct batch_member *member);
};

struct batcher {
    struct bqueue *queue; // borrowed
    struct stats *stats;  // borrowed
    struct rates rates;
    size_t budget;        // bytes in flight that stop reading
    size_t batch_bytes;   // a batch of this size is handed over
    uint64_t interval_ms; // age that commits

    struct job *open;             // the open batch and its job; NULL when nothing is in it
    size_t reserved;              // bytes that settling is expected to add to it
    struct batch_member *members; // those that have a share of it
    uv_timer_t timer;
    bool timer_armed;
    size_t in_flight;   // bytes handed over and not committed
    size_t jobs_out;    // jobs handed over and not back
    size_t commits_out; // those of them that ask for a commit
    bool pressed;
    struct job *spares[BATCHER_SPARES];
    size_t spare_count;
    struct losses losses;   // waiting for a batch
    struct nvtxt_buf state; // scratch: a session's state while it is saved

    // The hub's and its owner's. on_committed looks at what a batch holds before it is used again;
    // result is 0 when it is safe in the store.
    void (*on_committed)(struct batcher *batcher, struct store_batch *batch, int result);
    void (*on_pressure)(struct batcher *batcher, bool pressed);
    struct owners *owners; // borrowed, of the hub: whose the names of processes are
};

// Returns 0 or -errno. The callbacks are set by the owner afterwards.
int batcher_init(struct batcher *batcher, uv_loop_t *loop, struct bqueue *queue,
                 struct stats *stats, size_t budget, uint64_t interval_ms);
void batcher_stop(struct batcher *batcher);   // closes the timer
void batcher_deinit(struct batcher *batcher); // after the loop has run out

// Gives the member a share of the open batch. Returns 0 or -ENOMEM.
int batcher_add(struct batcher *batcher, struct batch_member *member,
                const struct store_source *row);

// The open batch, for rows that belong to no source; NULL when memory is short.
struct store_batch *batcher_open_batch(struct batcher *batcher);

// After a line: hands the batch over when it is full.
void batcher_check(struct batcher *batcher);

// Hands the open batch over. With `commit` also when there is none, so that everything handed over
// before is committed. Returns 0 or -ENOMEM (with commit: tried again by the timer).
int batcher_push(struct batcher *batcher, bool commit);

// Settles a member that goes away before its batch does.
void batcher_settle(struct batch_member *member);

// Something was lost: noted in the next batch.
void batcher_lose(struct batcher *batcher, const struct loss *loss);
