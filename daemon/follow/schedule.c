// SPDX-License-Identifier: Apache-2.0
//
// Two queues, of files that are open and of those that are not, are served alternately; at most
// WATCH_STEPS files are busy at once. A file that is to be opened waits until there is room; a file
// that rests is closed for it. No step begins while the hub is under pressure.
#include "daemon/follow/watch_state.h"

#define QUIET_MS 10000 // a file that did not change for so long is closed
#define RETRY_MS 1000  // what failed for want of memory or descriptors

// ---- Whose step is next -------------------------------------------------------------------------

static void put(struct watch_queue *queue, struct follow *follow) {
    if (!queue->head) {
        queue->tail = &queue->head;
    }
    follow->next_ready = NULL;
    *queue->tail = follow;
    queue->tail = &follow->next_ready;
    follow->ready = true;
}

static struct follow *take(struct watch_queue *queue) {
    struct follow *follow = queue->head;
    queue->head = follow->next_ready;
    follow->ready = false;
    return follow;
}

// Closes a file that rests if that is needed to open one more. Returns whether one may be opened.
static bool make_room(struct watch *watch) {
    if (watch->open_count + watch->busy >= watch->open_max && watch->rested) {
        watch->release(watch->rested);
    }
    return watch->open_count + watch->busy < watch->open_max || watch->open_count == 0;
}

static struct follow *next_ready(struct watch *watch) {
    bool closed = watch->ready_closed.head && make_room(watch);
    watch->closed_first = !watch->closed_first;
    if (closed && (watch->closed_first || !watch->ready_open.head)) {
        return take(&watch->ready_closed);
    }
    return watch->ready_open.head ? take(&watch->ready_open) : NULL;
}

static void go_on(struct watch *watch) {
    struct follow *follow;
    if (watch->going) { // a caller does it, or it is paused
        return;
    }
    watch->going = true;
    while (!watch->stopping && watch->busy < WATCH_STEPS && !watch->hub->batcher.pressed &&
           (follow = next_ready(watch))) {
        follow->busy = true;
        watch->busy++;
        watch->run(follow);
    }
    watch->going = false;
}

static void on_pressure(struct hub_listener *listener, bool pressed) {
    if (!pressed) {
        go_on(NVTXT_CONTAINER_OF(listener, struct watch, listener));
    }
}

void schedule_want(struct follow *follow) {
    struct watch *watch = follow->watch;
    if (follow->busy) {
        follow->again = true;
    }
    if (watch->stopping || follow->busy || follow->ready) {
        return;
    }
    schedule_unrest(follow);
    put(follow->live ? &watch->ready_open : &watch->ready_closed, follow);
    go_on(watch);
}

bool schedule_pause(struct watch *watch) {
    bool before = watch->going;
    watch->going = true;
    return before;
}

void schedule_resume(struct watch *watch, bool before) {
    watch->going = before;
    go_on(watch);
}

void schedule_done(struct follow *follow, bool more) {
    struct watch *watch = follow->watch;
    follow->busy = false;
    watch->busy--;
    if (!watch->stopping && (more || follow->again)) {
        put(follow->live ? &watch->ready_open : &watch->ready_closed, follow);
    }
    watch->on_done(follow);
    go_on(watch);
}

// ---- Files at rest ------------------------------------------------------------------------------

static void on_quiet(uv_timer_t *timer) {
    struct watch *watch = timer->data;
    uint64_t now = uv_now(timer->loop);
    while (watch->rested && watch->rested->live->rested_ms + QUIET_MS <= now) {
        watch->release(watch->rested);
    }
    if (watch->rested) {
        uv_timer_start(timer, on_quiet, watch->rested->live->rested_ms + QUIET_MS - now, 0);
    }
}

void schedule_rest(struct follow *follow) {
    struct watch *watch = follow->watch;
    struct follow_live *live = follow->live;
    live->rested_ms = uv_now(watch->hub->loop);
    if (!watch->rested) {
        watch->rested_tail = &watch->rested;
    }
    live->next_rested = NULL;
    live->rested = watch->rested_tail;
    *watch->rested_tail = follow;
    watch->rested_tail = &live->next_rested;
    if (!watch->stopping && !uv_is_active((uv_handle_t *)&watch->quiet)) {
        uv_timer_start(&watch->quiet, on_quiet, QUIET_MS, 0);
    }
}

void schedule_unrest(struct follow *follow) {
    struct watch *watch = follow->watch;
    struct follow_live *live = follow->live;
    if (!live || !live->rested) {
        return;
    }
    *live->rested = live->next_rested;
    if (live->next_rested) {
        live->next_rested->live->rested = live->rested;
    } else {
        watch->rested_tail = live->rested;
    }
    live->rested = NULL;
}

static void on_retry(uv_timer_t *timer) {
    struct watch *watch = timer->data;
    bool before = schedule_pause(watch);
    for (struct follow *follow = watch->known.first; follow; follow = follow->next) {
        if (!follow->retry) {
            continue;
        }
        follow->retry = false;
        schedule_want(follow);
    }
    schedule_resume(watch, before);
}

void schedule_retry(struct follow *follow) {
    struct watch *watch = follow->watch;
    follow->retry = true;
    if (!watch->stopping && !uv_is_active((uv_handle_t *)&watch->retry)) {
        uv_timer_start(&watch->retry, on_retry, RETRY_MS, 0);
    }
}

// ---- Life ---------------------------------------------------------------------------------------

void schedule_start(struct watch *watch) {
    uv_timer_init(watch->hub->loop, &watch->quiet); // these two cannot fail
    uv_timer_init(watch->hub->loop, &watch->retry);
    watch->quiet.data = watch->retry.data = watch;
    watch->listener.on_pressure = on_pressure;
    hub_listen(watch->hub, &watch->listener);
}

void schedule_stop(struct watch *watch) {
    uv_close((uv_handle_t *)&watch->quiet, NULL);
    uv_close((uv_handle_t *)&watch->retry, NULL);
}
