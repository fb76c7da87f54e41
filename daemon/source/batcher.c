// SPDX-License-Identifier: Apache-2.0
//
// A batch is a job of the writer's queue. Before it is pushed each member with a share is settled,
// and taken off the list of members; waiting losses are added. When the writer is done with them, a
// few jobs with their batches are kept for the next use. A writer that cannot keep up gets bigger
// batches, not more of them: the timer waits while COMMITS_OUT_MAX commits are out.
#include "daemon/source/batcher.h"

#include <stdlib.h>

#include "protocol/base/origin.h"

#define SHARE_OF_BUDGET 32 // a batch is this fraction of the budget: 512 KiB of 16 MiB
#define RETRY_MS 100
#define COMMITS_OUT_MAX 4

static void arm(struct batcher *batcher, uint64_t ms);
static void on_done(struct job *job);

static void on_timer(uv_timer_t *timer) {
    struct batcher *batcher = timer->data;
    batcher->timer_armed = false;
    if (batcher->commits_out >= COMMITS_OUT_MAX) {
        arm(batcher, batcher->interval_ms);
    } else {
        batcher_push(batcher, true);
    }
}

static void arm(struct batcher *batcher, uint64_t ms) {
    if (batcher->timer_armed || uv_is_closing((uv_handle_t *)&batcher->timer)) {
        return;
    }
    uv_timer_start(&batcher->timer, on_timer, ms, 0);
    batcher->timer_armed = true;
}

void batcher_init(struct batcher *batcher, uv_loop_t *loop, struct bqueue *queue,
                  struct stats *stats, size_t budget, uint64_t interval_ms) {
    *batcher = (struct batcher){
        .queue = queue,
        .stats = stats,
        .budget = budget,
        .batch_bytes = budget / SHARE_OF_BUDGET,
        .interval_ms = interval_ms,
    };
    uv_timer_init(loop, &batcher->timer); // cannot fail
    batcher->timer.data = batcher;
}

void batcher_stop(struct batcher *batcher) {
    if (!uv_is_closing((uv_handle_t *)&batcher->timer)) {
        uv_close((uv_handle_t *)&batcher->timer, NULL);
    }
}

static void job_free(struct job *job) {
    if (!job) {
        return;
    }
    store_batch_free(job->batch);
    free(job);
}

void batcher_deinit(struct batcher *batcher) {
    job_free(batcher->open);
    while (batcher->spare_count > 0) {
        job_free(batcher->spares[--batcher->spare_count]);
    }
    nvtxt_buf_deinit(&batcher->state);
}

static struct job *new_batch(struct batcher *batcher, bool with_batch) {
    if (with_batch && batcher->spare_count > 0) {
        return batcher->spares[--batcher->spare_count];
    }
    struct job *job = job_new(JOB_BATCH, on_done, batcher);
    if (job && with_batch && !(job->batch = store_batch_new())) {
        free(job);
        return NULL;
    }
    return job;
}

struct store_batch *batcher_open_batch(struct batcher *batcher) {
    if (!batcher->open) {
        batcher->open = new_batch(batcher, true);
        if (!batcher->open) {
            return NULL;
        }
        batcher->reserved = batcher->folded = 0;
        arm(batcher, batcher->interval_ms);
    }
    return batcher->open->batch;
}

static void link_member(struct batcher *batcher, struct batch_member *member) {
    member->next = batcher->members;
    member->at = &batcher->members;
    if (member->next) {
        member->next->at = &member->next;
    }
    batcher->members = member;
}

static void unlink_member(struct batch_member *member) {
    *member->at = member->next;
    if (member->next) {
        member->next->at = member->at;
    }
    member->next = NULL;
    member->at = NULL;
}

int batcher_add(struct batcher *batcher, struct batch_member *member,
                const struct store_source *row) {
    struct store_batch *batch = batcher_open_batch(batcher);
    if (!batch) {
        return nvtxt_origin(-ENOMEM);
    }
    member->share = store_batch_source(batch, row);
    if (!member->share) {
        return nvtxt_origin(-ENOMEM);
    }
    batcher->reserved += member->state_bytes;
    link_member(batcher, member);
    return 0;
}

void batcher_check(struct batcher *batcher) {
    if (batcher->open &&
        store_batch_bytes(batcher->open->batch) + batcher->reserved >= batcher->batch_bytes) {
        batcher_push(batcher, false);
    }
}

void batcher_lose(struct batcher *batcher, const struct loss *loss) {
    losses_note(&batcher->losses, loss);
    arm(batcher, batcher->interval_ms);
}

static void settle_all(struct batcher *batcher) {
    struct batch_member *member;
    while ((member = batcher->members)) {
        unlink_member(member);
        if (member->settle(member) < 0) {
            member->on_failed(member);
        }
    }
}

static void set_pressure(struct batcher *batcher) {
    bool pressed = batcher->pressed ? batcher->in_flight >= batcher->budget / 2
                                    : batcher->in_flight >= batcher->budget;
    if (pressed == batcher->pressed) {
        return;
    }
    batcher->pressed = pressed;
    batcher->on_pressure(batcher, pressed);
}

int batcher_push(struct batcher *batcher, bool commit) {
    rates_note(&batcher->rates, uv_now(batcher->timer.loop), batcher->stats);
    settle_all(batcher);
    if (batcher->losses.count > 0 && batcher_open_batch(batcher)) {
        losses_write(&batcher->losses, batcher->open->batch);
    }
    struct job *job = batcher->open;
    if (!job && !commit) {
        return 0;
    }
    if (!job) {
        job = new_batch(batcher, false);
    }
    if (!job) {
        arm(batcher, RETRY_MS);
        return nvtxt_origin(-ENOMEM);
    }
    batcher->open = NULL;
    batcher->reserved = batcher->folded = 0;
    job->commit = commit;
    job->bytes = job->batch ? store_batch_bytes(job->batch) : 0;
    batcher->in_flight += job->bytes;
    batcher->jobs_out++;
    batcher->commits_out += commit;
    if (job->batch) {
        batcher->stats->batches++;
    }
    if (commit && batcher->timer_armed) {
        uv_timer_stop(&batcher->timer);
        batcher->timer_armed = false;
    }
    if (batcher->losses.count > 0) {
        arm(batcher, RETRY_MS);
    }
    bqueue_push(batcher->queue, job);
    set_pressure(batcher);
    return 0;
}

void batcher_settle(struct batch_member *member) {
    if (member->share) {
        unlink_member(member);
        (void)member->settle(member); // the caller is about to free it, failed or not
    }
}

static void on_done(struct job *job) {
    struct batcher *batcher = job->context;
    batcher->in_flight -= job->bytes;
    batcher->jobs_out--;
    batcher->commits_out -= job->commit;
    if (job->batch) {
        batcher->on_committed(batcher, job->batch, job->result);
    }
    bool is_replaced = job->replaced > batcher->replaced;
    batcher->replaced = is_replaced ? job->replaced : batcher->replaced;
    if (job->batch && batcher->spare_count < BATCHER_SPARES) {
        store_batch_reset(job->batch);
        job->commit = false;
        job->bytes = 0;
        batcher->spares[batcher->spare_count++] = job;
    } else {
        job_free(job);
    }
    set_pressure(batcher);
    if (is_replaced) {
        batcher->on_replaced(batcher);
    }
}
