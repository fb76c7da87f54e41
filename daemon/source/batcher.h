// SPDX-License-Identifier: Apache-2.0
//
// Group commit, on the side of the loop. What all sources produce goes into one open batch, which
// goes to the writer
//   by size    when it has grown to its share of the memory budget; without a commit,
//   by age     a one-shot timer, started when the first uncommitted thing goes in; with a commit,
//   by demand  a flush, the end of a session, the shutdown; with a commit.
//
// While nothing is uncommitted there is no timer. Batches come back after their commit and are used
// again. The bytes that were pushed and are not committed are counted: above the budget the
// connections stop reading, below half of it they go on (on_pressure).
//
// The batcher knows nothing of sources but the struct that they embed. Loop thread only.
#pragma once

#include <stdbool.h>
#include <uv.h>

#include "daemon/base/loss_notes.h"
#include "daemon/source/rates.h"
#include "daemon/writer/bqueue.h"
#include "protocol/base/buf.h"
#include "store/value/batch.h"

struct owners;

#define BATCHER_SPARES 8 // jobs with their batch kept for the next use

// Whoever may have a share of the open batch.
struct batch_member {
    struct store_batch_source *share; // NULL: none
    size_t state_bytes;               // that settling will add to the batch, about
    struct batch_member *next, **at;  // the batcher's list
    // Writes into the share what the batch must hold, and forgets the share: the batch is pushed,
    // or the member goes away. Returns 0, or -ENOMEM: the share is discarded.
    int (*settle)(struct batch_member *member);
    // The batch is pushed, and settling has failed. May free the member.
    void (*on_failed)(struct batch_member *member);
};

struct batcher {
    struct bqueue *queue; // borrowed
    struct stats *stats;  // borrowed
    struct rates rates;
    size_t budget;        // bytes in flight at which reading stops
    size_t batch_bytes;   // size at which a batch is pushed
    uint64_t interval_ms; // age at which it is committed

    struct job *open;             // the open batch and its job; NULL: nothing is in it
    size_t reserved;              // bytes that settling will add to it, about
    size_t folded;                // bytes of whole states in it; see source.c
    struct batch_member *members; // those that have a share of it
    uv_timer_t timer;
    bool timer_armed;
    size_t in_flight;   // bytes that were pushed and are not committed
    size_t jobs_out;    // jobs that were pushed and are not back
    uint64_t replaced;  // how often the store had been replaced when the last batch came back
    size_t commits_out; // those that ask for a commit
    bool pressed;
    struct job *spares[BATCHER_SPARES];
    size_t spare_count;
    struct losses losses;   // for the next batch
    struct nvtxt_buf state; // scratch: the state of a source while it is saved

    // Set by the hub and its owner. on_committed sees a batch before it is used again; result 0: it
    // is safe in the store.
    void (*on_committed)(struct batcher *batcher, struct store_batch *batch, int result);
    void (*on_pressure)(struct batcher *batcher, bool pressed);
    // The store was lost, and another one has taken its place: it has nothing of what was committed
    // before the batches that came back now.
    void (*on_replaced)(struct batcher *batcher);
    struct owners *owners; // borrowed, of the hub
};

// The callbacks are set after it.
void batcher_init(struct batcher *batcher, uv_loop_t *loop, struct bqueue *queue,
                  struct stats *stats, size_t budget, uint64_t interval_ms);
void batcher_stop(struct batcher *batcher);   // closes the timer
void batcher_deinit(struct batcher *batcher); // after the loop has run out

// Gives the member a share of the open batch. Returns 0 or -ENOMEM.
int batcher_add(struct batcher *batcher, struct batch_member *member,
                const struct store_source *row);

// The open batch, also for rows without a source; NULL when memory is short.
struct store_batch *batcher_open_batch(struct batcher *batcher);

// To be called after a line: pushes the batch when it is full.
void batcher_check(struct batcher *batcher);

// Pushes the open batch to the writer. With `commit` also when there is none, so that everything
// pushed before is committed. Returns 0 or -ENOMEM (the timer tries again).
int batcher_push(struct batcher *batcher, bool commit);

// Settles a member that goes away while the batch is open.
void batcher_settle(struct batch_member *member);

// Something was lost: the next batch gets a row that says so.
void batcher_lose(struct batcher *batcher, const struct loss *loss);
