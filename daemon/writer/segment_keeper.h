// SPDX-License-Identifier: Apache-2.0
//
// The keeper: a thread for the segments that the store has left. It closes them (their last
// checkpoint, which a reader may hold up), makes their main files complete, and removes the oldest
// when there are too many. The writer hands a segment over and goes on at once.
//
// What the writer has said to be in use, and what comes after it, is never touched: the link may
// point to a new segment already while the one before is on its way to the keeper.
//
// The thread is started when there is an old segment for the first time, and sleeps when there is
// nothing to do: it wakes for a segment that gets too old, and every half minute while a reader
// keeps the log of an old segment in use.
//
// Owned by the writer thread, which calls all of this.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/writer/bqueue.h"
#include "store/segment/contents.h"
#include "store/segment/retention.h"
#include "store/store.h"

struct keeper_figures {
    int64_t segments;       // old ones
    int64_t bytes;          // of them
    int64_t carried;        // of the bytes, see struct store_segment; as far as it was asked
    int64_t pinned;         // of them, that a reader keeps from being completed
    int64_t missing;        // see struct store_retention_plan
    struct removed removed; // since the start
};

// What is known of old segments, so that each is opened once.
struct keeper_known {
    uint64_t number;
    struct store_contents contents;
};

struct keeper {
    const char *path;     // borrowed: the configured one
    struct bqueue *queue; // borrowed
    pthread_t thread;
    bool started;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct store_retention retention;
    char active[NAME_MAX + 1]; // the segment in use, without its folder
    bool active_empty;
    int64_t active_carried;
    struct store *closing; // handed over and not closed yet
    struct job *told;      // ROTATE: finished when that is closed; NULL: nobody waits
    bool busy;             // a round is under way
    struct keeper_figures figures;
    bool wanted; // to look at all of them
    bool stop;

    // The thread's own.
    struct keeper_known *known; // by number
    size_t known_count;
    uint64_t removal_failed; // number of a segment that could not be removed, as was logged
    uint64_t locked; // number of a segment that the link left and that somebody has locked; 0: none
};

// What it counts goes into the figures of `queue`.
int keeper_init(struct keeper *keeper, const char *path, struct bqueue *queue,
                const struct store_retention *retention);
void keeper_deinit(struct keeper *keeper); // finishes what was handed over

// `segment` (its path) is in use; whether it is empty changes what KeepFiles counts, what
// it carries what KeepSize does.
void keeper_use(struct keeper *keeper, const char *segment, bool empty, int64_t carried);

// The store of a segment that the link has left for `next`, which is in use now. Waits for the one
// before, and for what is to be removed for it: however fast segments are filled, the disk is not.
void keeper_take(struct keeper *keeper, struct store *store_take, struct store *next);

// Gives a job back to the loop when what was handed over last is closed and complete, or a reader
// is in the way of that: at once when it is so already, and before keeper_deinit() returns. Says
// whether the segment that was left is gone already.
void keeper_tell(struct keeper *keeper, struct job *job_take);

// Looks at the old segments, in a moment.
void keeper_look(struct keeper *keeper);

void keeper_configure(struct keeper *keeper, const struct store_retention *retention);

void keeper_get_figures(struct keeper *keeper, struct keeper_figures *figures);
