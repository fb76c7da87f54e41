// SPDX-License-Identifier: Apache-2.0
//
// The place of the file is saved with the state of its source, in one share of a batch: where()
// gives it when the source is settled. After a load the place in the store is the true one, because
// the state is of that place.
#include "daemon/follow/follow_source.h"

#include <stdlib.h>
#include <unistd.h>

#include "daemon/follow/watch_state.h"
#include "daemon/source/source.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "protocol/table/hash_value.h"

// How far it was read, as of the last line that was taken.
static void where(const struct source *source, struct store_followed *at) {
    const struct follow *follow = source->owner;
    *at = follow->at;
    at->path = follow->path;
    if (follow->live->compared) { // else its bytes were not read, and the hash is the known one
        struct nvtxt_slice tail = {follow->live->tail, follow->at.tail_bytes};
        at->tail_hash = nvtxt_hash_stored(0, tail);
    }
}

static void on_failed(struct source *source) {
    follow_fail(source->owner);
}

static int take_source(struct follow *follow, int64_t id, int64_t opened_ns, const char *name,
                       struct nvtxt_interp *interp_take) {
    struct hub *hub = follow->watch->hub;
    struct source *source = source_new(&hub->batcher, id, STORE_SOURCE_FILE, interp_take);
    if (!source) {
        return nvtxt_origin(-ENOMEM);
    }
    source->peer = (struct peer){.uid = follow->uid, .gid = follow->gid};
    source->opened_ns = follow->opened_ns = opened_ns;
    source->owner = follow;
    source->on_failed = on_failed;
    source->where = where;
    if (source_set_name(source, name) < 0 ||
        nvtxt_hash_add(&hub->sources, &source->by_id, nvtxt_hash_number((uint64_t)id)) < 0) {
        source_free(source);
        return nvtxt_origin(-ENOMEM);
    }
    follow->source_id = id;
    follow->watch->known.blanks -= follow->blank;
    follow->blank = false;
    follow->live->source = source;
    return 0;
}

int follow_source_open(struct follow *follow) {
    struct hub *hub = follow->watch->hub;
    struct nvtxt_source_config config = {.limits = hub->limits, .opened_ns = nvtxt_realtime_ns()};
    struct nvtxt_interp *interp = nvtxt_interp_new(&config);
    if (!interp) {
        return nvtxt_origin(-ENOMEM);
    }
    hub->stats.files_new++;
    return take_source(follow, hub->next_source_id++, config.opened_ns, follow->path, interp);
}

void follow_source_drop(struct follow *follow) {
    struct follow_live *live = follow->live;
    struct hub *hub = follow->watch->hub;
    if (!live->source) {
        return;
    }
    batcher_settle(&live->source->member);
    follow->counters = *nvtxt_interp_counters(live->source->interp);
    nvtxt_hash_remove(&hub->sources, &live->source->by_id);
    source_free(live->source);
    live->source = NULL;
}

int follow_source_load(struct follow *follow, void (*on_loaded)(struct job *job)) {
    struct hub *hub = follow->watch->hub;
    struct job *job = job_new(JOB_FILE_LOAD, on_loaded, follow);
    if (!job) {
        return nvtxt_origin(-ENOMEM);
    }
    job->source_id = follow->source_id;
    batcher_push(&hub->batcher, false); // what was read of it goes first
    hub_push(hub, job);
    return 0;
}

// Takes the place from the store, which is the place of the state.
static void take_place(struct follow *follow, const struct store_file *file) {
    struct follow_live *live = follow->live;
    struct store_followed known = follow->at;
    follow->at = file->at;
    follow->at.device = known.device; // its number may have changed
    follow->at.changed_ns = known.changed_ns;
    follow->ended = file->ended;
    bool same = known.offset == file->at.offset && known.tail_bytes == file->at.tail_bytes;
    if (same || !live->compared) {
        return;
    }
    live->position = file->at.offset;
    live->recent_len = 0;
    follow->at.tail_bytes = 0;
}

int follow_source_restore(struct follow *follow, const struct job *job) {
    struct hub *hub = follow->watch->hub;
    const struct store_session *stored = &job->session;
    struct nvtxt_source_config config = {.limits = hub->limits};
    struct nvtxt_interp *interp = NULL;
    int r = source_restore(stored, &config, &interp);
    r = r ?: take_source(follow, follow->source_id, stored->opened_ns, stored->name, interp);
    if (r == 0) {
        take_place(follow, &job->file);
    }
    return r;
}

// Ends it in the store, without a state; the place of the file is kept.
static int end_stored(struct follow *follow, const struct job *job) {
    struct batcher *batcher = &follow->watch->hub->batcher;
    const struct store_session *stored = &job->session;
    struct loss loss = {.uid = follow->uid, .reason = LOSS_FILE_STATE};
    struct store_source row = {.id = follow->source_id,
                               .kind = STORE_SOURCE_FILE,
                               .name = stored->name,
                               .opened_ns = stored->opened_ns};
    struct store_followed at = job->file.at;
    at.path = follow->path;
    struct store_batch *batch = batcher_open_batch(batcher);
    struct store_batch_source *share = batch ? store_batch_source(batch, &row) : NULL;
    if (!share) {
        return nvtxt_origin(-ENOMEM);
    }
    if (store_batch_file(share, &at, (struct nvtxt_slice){0}) < 0) {
        store_batch_discard(share);
        return nvtxt_origin(-ENOMEM);
    }
    return source_give_up(batcher, &row, stored, "lost", &loss);
}

int follow_source_give_up(struct follow *follow, const struct job *job) {
    const struct store_session *stored = &job->session;
    bool ended_before = stored->ended && nvtxt_slice_of(stored->state).len == 0;
    if (!ended_before) {
        int r = end_stored(follow, job);
        if (r < 0) {
            return r;
        }
    }
    take_place(follow, &job->file);
    if (!follow->ended) {
        follow->closed_ns = nvtxt_realtime_ns();
        follow->watch->hub->stats.files_ended++;
    }
    follow->stuck = follow->ended = true;
    follow->counters = stored->counters;
    return 0;
}

void follow_source_loaded(struct job *job) {
    if (job->result == STORE_DONE) {
        store_session_deinit(&job->session);
        store_file_deinit(&job->file);
    }
    free(job);
}

void follow_release(struct follow *follow) {
    struct follow_live *live = follow->live;
    if (!live) {
        return;
    }
    if (live->compared) {
        follow->at.tail_hash =
            nvtxt_hash_stored(0, (struct nvtxt_slice){live->tail, follow->at.tail_bytes});
    }
    schedule_unrest(follow);
    follow_source_drop(follow);
    nvtxt_frame_deinit(&live->frame);
    if (live->fd >= 0) {
        close(live->fd);
        follow->watch->open_count--;
    }
    free(live);
    follow->live = NULL;
}

// What the store has counts: it is loaded before the next line is taken.
void follow_fail(struct follow *follow) {
    struct follow_live *live = follow->live;
    follow_source_drop(follow);
    follow->ended = false;
    follow->at.offset = 0;
    follow->at.tail_bytes = 0;
    live->look_back = false;
    live->recent_len = 0;
    log_limited(&follow->watch->hub->log_memory, LOG_LEVEL_ERROR,
                "a followed file waits: out of memory");
    if (!follow->busy) {
        follow_release(follow);
    }
    schedule_retry(follow);
}
