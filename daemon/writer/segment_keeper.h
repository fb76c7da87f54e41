// SPDX-License-Identifier: Apache-2.0
//
// The keeper: a thread for the segments that the store has left. It closes them (their last
// checkpoint, which a reader may delay), makes their main files complete, and removes the oldest
// when there are too many. The writer hands a segment over and goes on at once.
//
// It never touches the segment that the writer has said to be in use, nor those after it: the link
// may lead to a new segment already while the one before is on its way to the keeper.
//
// The thread is started when there is an old segment for the first time. It sleeps when there is
// nothing to do, and wakes for a segment that gets too old, and every half minute while a reader
// keeps the log of an old segment in use.
//
// Owned by the writer thread, which calls all functions.
#pragma once

#include "daemon/writer/bqueue.h"
#include "store/segment/contents.h"
#include "store/segment/store_id.h"

struct keeper_state {
    int64_t segments;       // old ones
    int64_t bytes;          // of these
    int64_t carried;        // of the bytes; see struct store_segment; 0 where it was not needed
    int64_t pinned;         // segments that a reader prevents from being completed
    int64_t missing;        // see struct store_retention_plan
    struct removed removed; // since the start
};

// What an old segment holds: kept here, so that each is opened once.
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
    char shipped_file[PATH_MAX]; // "": none
    char store_id[STORE_ID_SIZE];
    char active[NAME_MAX + 1]; // the segment in use, without its folder
    bool active_empty;
    int64_t active_carried;
    struct store *closing; // handed over and not closed yet
    struct job *waiting;   // ROTATE jobs, which are done when that is closed
    bool busy;             // the thread works
    struct keeper_state state;
    bool wanted; // a check of all of them
    bool stop;

    // Of the thread only.
    struct keeper_known *known; // by number
    size_t known_count;
    char logged_file[PATH_MAX]; // of which it logged that nothing waits for the shipper; "": none
    uint64_t removal_failed;    // number of a segment that could not be removed, which was logged
    uint64_t locked; // number of the segment left last, while somebody has locked it; 0: none
};

// Publishes what it counts with the state of `queue`.
int keeper_init(struct keeper *keeper, const char *path, struct bqueue *queue,
                const struct rotate_limits *limits);
void keeper_deinit(struct keeper *keeper); // finishes what was handed over

// The segment of `store` is in use. KeepFiles does not count an empty one, KeepSize not the bytes
// that it carries.
void keeper_set_active(struct keeper *keeper, const struct store *store, bool empty,
                       int64_t carried);

// Takes the store of a segment that was left for `next`, which is in use now. Waits until the one
// before is closed and the removals for it are done: so the disk is not filled, however fast
// segments are.
void keeper_take(struct keeper *keeper, struct store *store_take, struct store *next);

// Gives a ROTATE job back to the loop when the segment that was handed over last is closed and
// complete, or a reader prevents that; at once when that is so already, and before keeper_deinit()
// returns. The job says then whether the segment was removed.
void keeper_give_back(struct keeper *keeper, struct job *job_take);

// Makes the thread check the old segments soon.
void keeper_check(struct keeper *keeper);

void keeper_configure(struct keeper *keeper, const struct rotate_limits *limits);

void keeper_get_state(struct keeper *keeper, struct keeper_state *state);
