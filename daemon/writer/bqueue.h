// SPDX-License-Identifier: Apache-2.0
//
// daemon/writer: the thread that writes the store, and the queue to it. The writer owns the store
// while the daemon runs: it writes batches, commits, answers questions, goes on in a new segment,
// and gets another store when the one there is breaks (writer.h, rotation_policy.h, revive.h). A
// second thread looks after the segments that the store has left (segment_keeper.h). The room knows
// neither sockets nor sources: jobs come from the loop thread and go back to it.
//
// This file is the queue, and the only lock between the loop and the writer. The loop pushes jobs;
// the writer takes them in the same order, and puts them on the done list when they are done. The
// loop drains that list when the doorbell rings. A rotation is the exception: the writer hands it
// to the keeper, which puts it on the list. Who holds a job owns it; nobody else touches it. The
// lock is held while pointers move and the state is copied, never while work is done.
//
// The doorbell (uv_async_send in the daemon) coalesces: one ring may stand for many jobs, so the
// whole list is drained each time. It is rung outside the lock.
//
// With bqueue_hurry() the loop tells a writer that would retry for ever (full disk) to give up,
// with bqueue_give_up() one that is slow, too.
#pragma once

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/segment/retention.h"
#include "store/store.h"

// When the store goes on in a new segment, and which old ones are kept: rotation_policy.h.
struct rotate_limits {
    int64_t bytes;               // of a segment
    int64_t age_ns;              // of it, 0: any
    int64_t wal_bytes;           // of its log, while a reader prevents that it is used again
    struct store_retention keep; // but for unshipped_from, which the keeper finds out
    char shipped_file[PATH_MAX]; // see store/segment/store_id.h; "": none
};

// What retention removed since the start: in all, and by the key that asked for it.
struct removed_count {
    int64_t segments, events, bytes;
};

struct removed {
    struct removed_count all, by[STORE_RETENTION_KEYS];
    int64_t last_ns; // Unix time; 0: nothing was removed
};

enum job_kind {
    JOB_BATCH,        // write `batch` (may be NULL), commit when `commit`; done once committed
    JOB_SESSION_LOAD, // fill `session` from the store; commits first when it was found
    JOB_EXPIRED,      // find a session last seen before `before_ns`, after the place `after`
    JOB_FILE_LOAD,    // fill `file` and `session` for `source_id`
    JOB_LOSSES,       // fill `losses`; commits first
    JOB_ASK,          // result = ask(store, question); commits first when `commit`
    JOB_ROTATE,       // commit, go on in a new segment unless the one in use is empty; `answer` is
                      // the name of the one in use after that, or why there is no new one
    JOB_CONFIGURE,    // `limits` are in force
    JOB_PROBE,        // do nothing; when it is done, the writer runs
    JOB_STOP,         // commit, close the store, end the thread
};

struct job {
    struct job *next; // of the queue, while it is in it
    enum job_kind kind;
    void (*on_done)(struct job *job); // loop thread; the job is the callee's then
    void *context;                    // of the loop; the writer does not read it
    int result;                       // 0, a positive store_result, or -errno

    struct store_batch *batch; // JOB_BATCH: owned by the job
    // JOB_BATCH: what it counts against the memory budget. JOB_SESSION_LOAD: what the session
    // keeps.
    size_t bytes;
    bool commit;       // JOB_BATCH, JOB_ASK
    bool stored;       // JOB_BATCH: for the writer: committed, apart from the others
    uint64_t replaced; // JOB_BATCH: how often the store had been replaced by then

    char session_id[NVTXT_SESSION_ID_BYTES + 1]; // JOB_SESSION_LOAD: in, JOB_EXPIRED: out
    bool want_diags;                             // JOB_SESSION_LOAD
    uint64_t acked;                              // JOB_SESSION_LOAD
    int64_t uid;                                 // JOB_SESSION_LOAD: who asks; JOB_EXPIRED: out
    int64_t kept;                                // JOB_SESSION_LOAD, not found: sessions of uid
    struct store_session session;                // JOB_SESSION_LOAD, JOB_FILE_LOAD: result
    int64_t source_id;                           // JOB_FILE_LOAD
    struct store_file file;                      // JOB_FILE_LOAD: result
    int64_t before_ns;                           // JOB_EXPIRED
    struct store_session_place after;            // JOB_EXPIRED: in, and out
    struct store_losses losses;                  // JOB_LOSSES: result
    // Owned by who gets the job back. JOB_ROTATE: see there. JOB_SESSION_LOAD, STORE_UNSURE: the
    // file that cannot be read. JOB_LOSSES: the files that were put aside and are still there.
    // NULL: none, or memory is short.
    char *answer;
    char previous[NAME_MAX + 1];  // JOB_ROTATE: the segment that was left, or ""
    bool previous_removed;        // JOB_ROTATE: by retention, before it was done
    struct rotate_limits *limits; // JOB_CONFIGURE: owned by who gets the job back

    // JOB_ASK: writer thread.
    int (*ask)(struct store *store, void *question);
    void *question;
};

// A job to be filled and pushed; the receiver of on_done() frees it. NULL when memory is short.
struct job *job_new(enum job_kind kind, void (*on_done)(struct job *job), void *context);

// What the writer publishes after each commit and when it cannot write. The loop reads a copy.
struct writer_state {
    int64_t store_bytes;
    int64_t wal_bytes;
    int64_t losses;                  // rows of NVTXT_LOSSES; -1: not known
    int64_t old_segments, old_bytes; // that the store has left; the keeper sets these
    struct removed removed;          // and this, by bqueue_set_old()
    char segment[NAME_MAX + 1];      // in use; "": none
    uint64_t rotations;              // since the start
    int64_t rotated_ns;              // realtime of the last one; 0: none yet
    uint64_t commits;
    int64_t committed_ns;  // realtime of the last commit; 0: none yet
    bool in_trouble;       // commits fail, and are tried again
    char last_error[256];  // sentence of the last failure; "": none since the start
    int64_t last_error_ns; // realtime
};

struct bqueue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct job *head, **tail; // to the writer
    size_t depth;
    struct job *done, **done_tail; // to the loop
    bool hurry, given_up;
    struct writer_state state;
    atomic_uint stores; // how often the writer has gone on in another file; any thread reads it
    void (*ring)(void *context);
    void *context;
};

int bqueue_init(struct bqueue *queue, void (*ring)(void *context), void *context);
void bqueue_deinit(struct bqueue *queue);

// Loop thread.
void bqueue_push(struct bqueue *queue, struct job *job);
struct job *bqueue_drain(struct bqueue *queue); // the done list, linked by next; NULL when empty
size_t bqueue_depth(struct bqueue *queue);      // jobs that the writer has not taken yet
void bqueue_hurry(struct bqueue *queue);
void bqueue_give_up(struct bqueue *queue); // and hurries
void bqueue_get_state(struct bqueue *queue, struct writer_state *state);

// Writer thread.
// Waits for a job until `until_ns` (CLOCK_MONOTONIC, 0: for ever). Returns NULL at that time.
struct job *bqueue_take(struct bqueue *queue, int64_t until_ns);
struct job *bqueue_try_take(struct bqueue *queue);          // does not wait; NULL: none
void bqueue_finish(struct bqueue *queue, struct job *list); // jobs linked by next, in order
bool bqueue_is_given_up(struct bqueue *queue);
bool bqueue_pause(struct bqueue *queue, unsigned ms); // waits; true: bqueue_hurry() was called
void bqueue_set_state(struct bqueue *queue, const struct writer_state *state);

// Any thread.
static inline unsigned bqueue_stores(struct bqueue *queue) {
    return atomic_load_explicit(&queue->stores, memory_order_relaxed);
}

// Any thread: what the keeper adds to the state.
void bqueue_set_old(struct bqueue *queue, int64_t segments, int64_t bytes,
                    const struct removed *removed);

// ---- How this room makes its threads and their locks (daemon/writer/threads.c) ------------------

// Starts a thread with all signals blocked, because the loop handles signals. Returns 0 or -errno.
int thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

// A lock and its condition, which waits by CLOCK_MONOTONIC: a jump of the wall clock neither
// shortens nor lengthens a wait. Returns 0 or -errno; nothing is left then.
int thread_init_lock(pthread_mutex_t *lock, pthread_cond_t *changed);
