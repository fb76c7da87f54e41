// SPDX-License-Identifier: Apache-2.0
//
// Held jobs are a list in the order in which they came. A commit gives the whole list back. A
// failure writes the whole list again into a new transaction, with its commit, until that works: as
// one transaction at first, and when SQLite refuses rows, each batch apart. A job that is no batch
// is answered in its place in the queue, so it sees everything that was pushed before it.
#include "daemon/writer/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/clock.h"
#include "protocol/base/slice.h"
#include "protocol/wire/ctlmsg.h"

#define FIRST_DELAY_MS 20
#define LONGEST_DELAY_MS 2000
#define LET_GO_MS 1000       // time for a user to remove what is in the way, say a trigger
#define TRIES_BEFORE_APART 3 // of a failure that may be caused by a row

// After the store was replaced or closed.
static void publish_segment(struct writer *writer) {
    const char *file = writer->store ? store_file_path(writer->store) : "";
    snprintf(writer->state.segment, sizeof(writer->state.segment), "%s", nvtxt_base_name(file));
    atomic_fetch_add(&writer->queue->stores, 1);
}

static void publish(struct writer *writer) {
    if (writer->store) {
        writer->state.store_bytes = store_file_bytes(writer->store);
        writer->state.wal_bytes = store_wal_bytes(writer->store);
        if (!writer->state.in_trouble) {
            writer->state.losses = store_loss_count(writer->store);
        }
    }
    bqueue_set_state(writer->queue, &writer->state);
}

// Publishes the sentence. Logs a failure that lasts when it begins.
static void note_failure(struct writer *writer, int r, bool lasting) {
    struct writer_state *state = &writer->state;
    const char *sentence = writer->store ? store_error(writer->store) : writer->why;
    if (!*sentence) {
        sentence = r < 0 ? strerror(-r) : "the store cannot be written";
    }
    snprintf(state->last_error, sizeof(state->last_error), "%s", sentence);
    state->last_error_ns = nvtxt_realtime_ns();
    if (lasting && !state->in_trouble) {
        state->in_trouble = true;
        writer->trouble_since_ns = nvtxt_boottime_ns();
        log_error("the store cannot be written, trying again until it can: %s held_bytes=%zu",
                  state->last_error, writer->held_bytes);
    }
    publish(writer);
}

static void note_success(struct writer *writer) {
    struct writer_state *state = &writer->state;
    if (state->in_trouble) {
        log_info("the store is written again after_s=%" PRId64,
                 (nvtxt_boottime_ns() - writer->trouble_since_ns) / 1000000000);
    }
    state->in_trouble = false;
    writer->rotation_checked = false;
    state->commits++;
    state->committed_ns = nvtxt_realtime_ns();
    stop_note_move(writer->revive.path, writer->store); // the start may have had no room for it
    publish(writer);
}

static int write_one(struct writer *writer, struct job *job) {
    if (!job->batch) {
        return 0;
    }
    if (!writer->in_transaction) {
        int r = store_begin(writer->store);
        if (r) {
            return r;
        }
        writer->in_transaction = true;
    }
    return store_write(writer->store, job->batch);
}

static int open_again(struct writer *writer) {
    int r = revive_open(&writer->revive, &writer->store, writer->why, sizeof(writer->why));
    if (revive_is_due(r)) {
        revive_put_aside(&writer->revive, NULL, r, writer->why);
    }
    if (!r) {
        writer->replaced++;
        rotate_begun(&writer->rotate, writer->store);
        publish_segment(writer);
    }
    return r;
}

static void roll_back(struct writer *writer, int failure) {
    writer->in_transaction = false;
    if (writer->store && revive_is_due(failure)) {
        revive_put_aside(&writer->revive, writer->store, failure, writer->state.last_error);
        writer->store = NULL;
    } else if (writer->store) {
        store_rollback(writer->store);
        if (failure == STORE_LACKING) {
            store_release_lock(writer->store);
        }
    }
}

// A process that took the lock when it was released, and keeps it too long, keeps the segment too:
// the store goes on in another one.
static void leave_behind(struct writer *writer, int failure) {
    bool taken = failure == STORE_BUSY && writer->store && store_has_released_lock(writer->store);
    if (writer->store && !taken) {
        writer->revive.locked_since_ns = 0;
    }
    if (taken && revive_note_locked(&writer->revive, writer->why, sizeof(writer->why))) {
        store_abandon(writer->store);
        writer->store = NULL;
    }
}

static int write_held(struct writer *writer, bool apart) {
    int r = writer->store ? 0 : open_again(writer);
    for (struct job *job = writer->held; job && !r; job = job->next) {
        if (job->stored) {
            continue;
        }
        r = apart && job->batch
                ? store_write_refused(writer->store, job->batch, nvtxt_realtime_ns())
                : write_one(writer, job);
        job->stored = apart && !r;
    }
    return !r && writer->in_transaction ? store_commit(writer->store) : r;
}

static bool is_refusal(int failure, unsigned tries) {
    return failure == STORE_REFUSED || (failure == STORE_FAILED && tries > TRIES_BEFORE_APART);
}

// Rolls back and writes all held jobs again, with their commit, until that works or the loop asks
// to hurry. Does not wait before the first try when another store, or writing each batch apart, may
// help. Returns 0 or the last failure.
static int write_again(struct writer *writer, int failure) {
    unsigned delay = FIRST_DELAY_MS;
    bool apart = false, last = false;
    for (unsigned tries = 1;; tries++) {
        bool at_once = tries == 1 && (revive_is_due(failure) || failure == STORE_REFUSED);
        note_failure(writer, failure, !at_once);
        if (!apart && is_refusal(failure, tries)) {
            apart = true;
            log_limited(&writer->log_refused, LOG_LEVEL_ERROR,
                        "the store refuses a row, its source loses it: %s",
                        writer->state.last_error);
        }
        roll_back(writer, failure);
        leave_behind(writer, failure);
        if (failure == STORE_LACKING && delay < LET_GO_MS) {
            delay = LET_GO_MS;
        }
        if (!at_once) {
            last = bqueue_pause(writer->queue, delay);
            delay = delay * 2 < LONGEST_DELAY_MS ? delay * 2 : LONGEST_DELAY_MS;
        }
        failure = write_held(writer, apart);
        if (!failure) {
            return 0;
        }
        if (last) {
            roll_back(writer, 0);
            writer->gave_up = true;
            return failure;
        }
    }
}

static void give_back(struct writer *writer, int r) {
    struct job *list = writer->held;
    for (struct job *job = list; job; job = job->next) {
        job->result = job->stored ? 0 : r;
        job->stored = false;
        job->replaced = writer->replaced;
    }
    writer->held = NULL;
    writer->held_tail = &writer->held;
    writer->held_bytes = 0;
    writer->commit_wanted = false;
    bqueue_finish(writer->queue, list);
}

// The time of a stop is over: what is held goes back, and is not in the store.
static void stop_writing(struct writer *writer) {
    if (writer->in_transaction) {
        roll_back(writer, 0);
    }
    writer->gave_up = true;
    give_back(writer, STORE_IO);
}

// Makes everything held durable and gives it back.
static void commit(struct writer *writer) {
    int r = 0;
    if (writer->held && bqueue_is_given_up(writer->queue)) {
        stop_writing(writer);
        return;
    }
    if (writer->in_transaction) {
        r = store_commit(writer->store);
        if (r) {
            r = write_again(writer, r);
        }
        writer->in_transaction = false;
        if (!r) {
            note_success(writer);
        }
    }
    give_back(writer, r);
}

static void start_over(struct writer *writer, int failure) {
    int r = write_again(writer, failure);
    writer->in_transaction = false;
    if (!r) {
        note_success(writer);
    }
    give_back(writer, r);
}

static void take_batch(struct writer *writer, struct job *job) {
    *writer->held_tail = job;
    writer->held_tail = &job->next;
    writer->held_bytes += job->bytes;
    if (writer->gave_up || bqueue_is_given_up(writer->queue)) {
        stop_writing(writer);
        return;
    }
    int r = write_one(writer, job);
    if (r) {
        start_over(writer, r);
    } else if (job->commit) {
        writer->commit_wanted = true;
    }
}

// ---- Segments -----------------------------------------------------------------------------------

// Returns as rotate_now(); nothing may be held.
static int go_on_in_new_segment(struct writer *writer, const char *reason, char *why, size_t size) {
    int r = rotate_now(&writer->rotate, &writer->store, reason, why, size);
    if (r) {
        snprintf(writer->state.last_error, sizeof(writer->state.last_error), "%s", why);
        writer->state.last_error_ns = nvtxt_realtime_ns();
    } else {
        writer->state.rotations++;
        writer->state.rotated_ns = nvtxt_realtime_ns();
    }
    publish_segment(writer);
    publish(writer);
    return r;
}

static void rotate_if_due(struct writer *writer) {
    char why[512];
    writer->rotation_checked = true;
    if (!writer->store || writer->gave_up) {
        return;
    }
    const char *reason = rotate_reason(&writer->rotate, writer->store);
    if (reason) {
        go_on_in_new_segment(writer, reason, why, sizeof(why));
    }
}

// While jobs are held there is no rotation: a job with their commit will come.
static int64_t wait_until_ns(const struct writer *writer) {
    bool may_rotate = writer->store && !writer->gave_up && !writer->held;
    return may_rotate ? rotate_wait_until_ns(&writer->rotate) : 0;
}

static int rotate_on_demand(struct writer *writer, struct job *job) {
    char why[512] = "the store cannot be written";
    commit(writer);
    bool can = writer->store && !writer->gave_up;
    bool worth_it = can && rotate_check_content(&writer->rotate, writer->store);
    snprintf(job->previous, sizeof(job->previous), "%s", worth_it ? writer->state.segment : "");
    int r = !can       ? STORE_IO
            : worth_it ? go_on_in_new_segment(writer, "asked", why, sizeof(why))
                       : 0;
    free(job->answer); // set when the job was tried on a store that was replaced
    job->answer = strdup(r ? why : writer->state.segment);
    return r;
}

// ---- Jobs ---------------------------------------------------------------------------------------

static int load_session(struct writer *writer, struct job *job) {
    int r = store_session_load(writer->store, job->session_id, job->uid, job->want_diags,
                               job->acked, &job->session);
    free(job->answer); // set when the job was tried on a store that was replaced
    job->answer = r == STORE_UNSURE ? strdup(store_unreadable(writer->store)) : NULL;
    if ((r == STORE_NOT_FOUND || r == STORE_UNSURE) &&
        store_session_count(writer->store, job->uid, &job->kept) != 0) {
        job->kept = 0; // not known: it is not refused now
    }
    // What was found may be in the open transaction. The answer says to the client which lines it
    // need not keep, so these are made durable first.
    if (r == STORE_DONE && writer->in_transaction) {
        commit(writer);
    }
    if (writer->gave_up && r == STORE_DONE) {
        store_session_deinit(&job->session);
        r = STORE_IO;
    }
    return r;
}

// Moves the note of an earlier stop first: else its loss would be missing.
static int load_losses(struct writer *writer, struct job *job) {
    commit(writer);
    if (!writer->store || writer->gave_up) {
        return STORE_IO;
    }
    free(job->answer);
    job->answer = revive_list_aside(&writer->revive);
    int r = stop_note_move(writer->revive.path, writer->store);
    return r ?: store_losses_load(writer->store, NVTXT_CTL_LOSSES, &job->losses);
}

static int ask(struct writer *writer, struct job *job) {
    switch (job->kind) {
    case JOB_SESSION_LOAD:
        return load_session(writer, job);
    case JOB_EXPIRED:
        return store_session_expired(writer->store, job->before_ns, &job->after, job->session_id,
                                     sizeof(job->session_id), &job->uid);
    case JOB_FILE_LOAD:
        return store_file_load(writer->store, job->source_id, &job->file, &job->session);
    case JOB_LOSSES:
        return load_losses(writer, job);
    case JOB_ROTATE:
        return rotate_on_demand(writer, job);
    default:
        if (job->commit) {
            commit(writer);
        }
        return writer->store ? job->ask(writer->store, job->question) : STORE_IO;
    }
}

static void handle(struct writer *writer, struct job *job) {
    switch (job->kind) {
    case JOB_BATCH:
        take_batch(writer, job);
        return;
    case JOB_PROBE:
        break;
    case JOB_CONFIGURE:
        rotate_configure(&writer->rotate, job->limits, writer->store);
        writer->rotation_checked = false;
        break;
    case JOB_STOP:
        commit(writer);
        if (bqueue_is_given_up(writer->queue)) {
            store_abandon(writer->store); // its log is complete; the next start moves it
        } else {
            store_close(writer->store);
        }
        writer->store = NULL;
        rotate_deinit(&writer->rotate);
        job->result = 0;
        break;
    default:
        job->result = writer->store ? ask(writer, job) : STORE_IO;
        // A question that fails does not mean that the store is broken: a view may be missing.
        if (job->kind != JOB_ASK && revive_is_due(job->result) && writer->store) {
            start_over(writer, job->result);
            job->result = writer->store ? ask(writer, job) : STORE_IO;
        }
        publish(writer);
    }
    if (job->kind == JOB_ROTATE && job->result == 0 && *job->previous) {
        // Later: who asked may copy the segment that was left.
        keeper_give_back(&writer->rotate.keeper, job);
        return;
    }
    bqueue_finish(writer->queue, job);
}

static void *run_writer(void *context) {
    struct writer *writer = context;
    pthread_setname_np(pthread_self(), "writer"); // only for people who look at the threads
    publish_segment(writer);
    publish(writer);
    for (;;) {
        if (!writer->rotation_checked && !writer->held) {
            rotate_if_due(writer);
        }
        struct job *job = bqueue_try_take(writer->queue);
        if (!job && writer->commit_wanted) {
            commit(writer);
            continue;
        }
        if (!job) {
            job = bqueue_take(writer->queue, wait_until_ns(writer));
        }
        if (!job) {
            writer->rotation_checked = false;
            continue;
        }
        bool stop = job->kind == JOB_STOP;
        handle(writer, job); // gives the job away
        if (stop) {
            return NULL;
        }
        if (writer->held_bytes >= writer->commit_bytes ||
            (writer->in_transaction &&
             (store_is_full(writer->store) || rotate_is_full(&writer->rotate, writer->store)))) {
            commit(writer);
        }
    }
}

int writer_start(struct writer *writer, struct bqueue *queue, struct store *store,
                 const struct revive *revive, const struct rotate_limits *limits,
                 size_t commit_bytes) {
    *writer = (struct writer){
        .queue = queue, .store = store, .revive = *revive, .commit_bytes = commit_bytes};
    writer->held_tail = &writer->held;
    int r = rotate_init(&writer->rotate, queue, revive, limits, store);
    if (r < 0) {
        return r;
    }
    r = thread_start(&writer->thread, run_writer, writer);
    if (r < 0) {
        rotate_deinit(&writer->rotate);
        return r;
    }
    writer->started = true;
    return 0;
}

void writer_join(struct writer *writer) {
    if (!writer->started) {
        return;
    }
    pthread_join(writer->thread, NULL);
    writer->started = false;
}
