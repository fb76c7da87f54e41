// SPDX-License-Identifier: Apache-2.0
//
// The writer rings the doorbell after it has given jobs back. One ring may stand for many jobs, so
// all that are back are taken. A prepare handle counts the iterations of the loop: it runs once in
// each, before the loop waits, and does not keep the loop alive.
#include "daemon/source/hub.h"

#include <stdlib.h>

#include "daemon/base/list.h"
#include "daemon/source/source.h"
#include "daemon/writer/rotation_policy.h"
#include "protocol/base/clock.h"

static void on_doorbell(uv_async_t *async) {
    struct hub *hub = async->data;
    struct job *next;
    for (struct job *job = bqueue_drain(&hub->queue); job; job = next) {
        next = job->next;
        job->next = NULL;
        job->on_done(job);
    }
    hub->on_drained(hub);
}

static void ring(void *context) {
    struct hub *hub = context;
    uv_async_send(&hub->doorbell);
}

static void on_pressure(struct batcher *batcher, bool pressed) {
    struct hub *hub = NVTXT_CONTAINER_OF(batcher, struct hub, batcher);
    hub->stats.pauses += pressed;
    for (struct hub_listener *each = hub->listeners; each; each = each->next) {
        each->on_pressure(each, pressed);
    }
}

static void on_replaced(struct batcher *batcher) {
    struct hub *hub = NVTXT_CONTAINER_OF(batcher, struct hub, batcher);
    for (size_t i = 0; i < hub->sources.bucket_count; i++) {
        for (struct nvtxt_hash_node *node = hub->sources.buckets[i]; node; node = node->next) {
            source_save_anew(NVTXT_CONTAINER_OF(node, struct source, by_id));
        }
    }
    batcher_push(batcher, true);
}

static void on_iteration(uv_prepare_t *prepare) {
    struct hub *hub = prepare->data;
    hub->loop_count++;
}

static void start_counter(struct hub *hub) {
    uv_prepare_init(hub->loop, &hub->loop_counter); // cannot fail
    hub->loop_counter.data = hub;
    hub->loop_count = 1;
    uv_prepare_start(&hub->loop_counter, on_iteration);
    uv_unref((uv_handle_t *)&hub->loop_counter);
}

int hub_init(struct hub *hub, uv_loop_t *loop, const struct conf *config, int64_t next_source_id) {
    *hub = (struct hub){
        .loop = loop,
        .config = config,
        .next_source_id = next_source_id,
        .started_ns = nvtxt_boottime_ns(),
    };
    conf_limits(config, &hub->limits);
    int r = bqueue_init(&hub->queue, ring, hub);
    r = r ?: uv_async_init(loop, &hub->doorbell, on_doorbell);
    if (r < 0) {
        return r;
    }
    hub->doorbell.data = hub;
    start_counter(hub);
    batcher_init(&hub->batcher, loop, &hub->queue, &hub->stats, (size_t)config->memory_budget,
                 (uint64_t)config->commit_interval_ms);
    hub->batcher.owners = &hub->owners;
    hub->batcher.on_pressure = on_pressure;
    hub->batcher.on_replaced = on_replaced;
    return 0;
}

void hub_close_handle(void *handle) {
    uv_handle_t *uv = handle;
    if (uv->data && !uv_is_closing(uv)) {
        uv_close(uv, NULL);
    }
}

void hub_close(struct hub *hub) {
    hub_close_handle(&hub->doorbell);
    hub_close_handle(&hub->loop_counter);
    if (hub->batcher.timer.data) {
        batcher_stop(&hub->batcher);
    }
}

void hub_deinit(struct hub *hub) {
    batcher_deinit(&hub->batcher);
    bqueue_deinit(&hub->queue);
    owners_deinit(&hub->owners);
    nvtxt_hash_deinit(&hub->sources);
}

void hub_listen(struct hub *hub, struct hub_listener *listener) {
    LIST_APPEND(hub->listeners, listener, next);
}

static void on_configured(struct job *job) {
    free(job->limits);
    free(job);
}

static void configure_writer(struct hub *hub) {
    struct job *job = job_new(JOB_CONFIGURE, on_configured, NULL);
    if (!job || !(job->limits = malloc(sizeof(*job->limits)))) {
        log_error("the bounds of the store stay as they were: out of memory");
        free(job);
        return;
    }
    rotate_limits_of(hub->config, job->limits);
    hub_push(hub, job);
}

void hub_configure(struct hub *hub) {
    conf_limits(hub->config, &hub->limits);
    hub->batcher.interval_ms = (uint64_t)hub->config->commit_interval_ms;
    configure_writer(hub);
}

void hub_push(struct hub *hub, struct job *job) {
    bqueue_push(&hub->queue, job);
}

void hub_refresh_clocks(struct hub *hub, struct source *source) {
    struct clocks *clocks = &hub->clocks;
    if (clocks_refresh(clocks)) {
        struct store_batch *batch = batcher_open_batch(&hub->batcher);
        for (size_t i = 0; batch && i < clocks->count; i++) {
            const struct clock_reading *reading = &clocks->readings[i];
            store_batch_clock(batch, nvtxt_timebase_name(reading->base), reading->clock_ns,
                              reading->realtime_ns, reading->uncertainty_ns);
        }
    }
    if (source->clock_generation == clocks->generation) {
        return;
    }
    source->clock_generation = clocks->generation;
    clocks_apply(clocks, source->interp);
}
