// SPDX-License-Identifier: Apache-2.0
//
// One round of the thread: close what was handed over, complete what is not complete, remove,
// count. The first round completes the segment that was left last, however it looks: a daemon that
// was killed right after the link was moved has not done it. After that only a segment with
// something in its log is completed. The lock is held while fields are copied, not during a round.
#include "daemon/writer/segment_keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "protocol/base/clock.h"
#include "protocol/table/arrays.h"
#include "store/rotation.h"
#include "store/segment/ended_index.h"
#include "store/segment/segments.h"

#define AGAIN_NS (INT64_C(30) * 1000000000) // while a reader keeps a log in use
#define NEVER INT64_MAX
#define INDEXED_FROM 4 // old segments: fewer are asked one by one, which is as fast

// What a round needs: a copy, because the writer may change it meanwhile.
struct keeper_order {
    struct store_retention retention;
    char shipped_file[PATH_MAX];
    char store_id[STORE_ID_SIZE];
    char active[NAME_MAX + 1];
    bool active_empty;
    int64_t active_carried;
};

// With the lock held, or without a thread.
static void set_limits(struct keeper *keeper, const struct rotate_limits *limits) {
    keeper->retention = limits->keep;
    memcpy(keeper->shipped_file, limits->shipped_file, sizeof(keeper->shipped_file));
}

int keeper_init(struct keeper *keeper, const char *path, struct bqueue *queue,
                const struct rotate_limits *limits) {
    *keeper = (struct keeper){.path = path, .queue = queue};
    set_limits(keeper, limits);
    return thread_init_lock(&keeper->lock, &keeper->changed);
}

// ---- What is in them ----------------------------------------------------------------------------

static struct store_contents *find_known(struct keeper *keeper, uint64_t number) {
    for (size_t i = 0; i < keeper->known_count; i++) {
        if (keeper->known[i].number == number) {
            return &keeper->known[i].contents;
        }
    }
    return NULL;
}

static bool has_log(const char *segment) {
    char log[PATH_MAX];
    struct stat status;
    int len = snprintf(log, sizeof(log), "%s-wal", segment);
    return len < (int)sizeof(log) && stat(log, &status) == 0 && status.st_size > 0;
}

static struct store_contents contents_of(struct keeper *keeper,
                                         const struct store_segment *segment) {
    struct store_contents contents;
    struct keeper_known *known = NULL;
    const struct store_contents *found = find_known(keeper, segment->number);
    if (found) {
        return *found;
    }
    if (store_contents_read(segment->path, &contents) == STORE_DONE && !has_log(segment->path)) {
        known = nvtxt_add(&keeper->known, &keeper->known_count, sizeof(*known));
    }
    if (known) {
        *known = (struct keeper_known){segment->number, contents};
    }
    return contents;
}

static void forget(struct keeper *keeper, uint64_t number) {
    for (size_t i = 0; i < keeper->known_count; i++) {
        if (keeper->known[i].number == number) {
            keeper->known[i--] = keeper->known[--keeper->known_count];
        }
    }
}

// Only KeepFiles needs to know which are empty, and only when there may be too many.
static void find_empty(struct keeper *keeper, const struct store_retention *retention,
                       const struct store_segments *list) {
    if (retention->files == 0 || (int64_t)list->count <= retention->files) {
        return;
    }
    for (size_t i = 0; i + 1 < list->count; i++) {
        list->rows[i].empty = contents_of(keeper, &list->rows[i]).empty;
    }
}

// Only KeepSize needs to know what they carry, and only when there may be too much.
static void find_carried(struct keeper *keeper, const struct store_retention *retention,
                         const struct store_segments *list) {
    int64_t bytes = retention->active_bytes;
    for (size_t i = 0; i < list->count; i++) {
        bytes += list->rows[i].bytes;
    }
    if (retention->bytes == 0 || bytes <= retention->bytes) {
        return;
    }
    for (size_t i = 0; i + 1 < list->count; i++) {
        list->rows[i].carried = contents_of(keeper, &list->rows[i]).carried;
    }
}

// ---- What was shipped ---------------------------------------------------------------------------

// The number of the first segment that waits for the shipper; 0: none does. Logs once why none
// does, until that or the file's name changes.
static uint64_t find_unshipped(struct keeper *keeper, const struct keeper_order *order) {
    uint64_t number = 0;
    const char *file = order->shipped_file;
    if (!*file || order->retention.unshipped_bytes == 0) {
        return 0;
    }
    int r = store_shipped_read(file, order->store_id, &number);
    const char *why = r < 0                      ? strerror(-r)
                      : r == STORE_SHIPPED_OTHER ? "it is of another store"
                      : r == STORE_SHIPPED_WRONG ? "it does not say a store and a segment"
                                                 : NULL;
    if (why && strcmp(keeper->logged_file, file) != 0) {
        log_warning("no old segment waits for the shipper: %s file=%s", why, file);
    }
    snprintf(keeper->logged_file, sizeof(keeper->logged_file), "%s", why ? file : "");
    return why ? 0 : number > 0 ? number : 1;
}

// ---- A round ------------------------------------------------------------------------------------

// Completes what is not complete. Returns how many a reader prevents from that.
static int64_t complete(struct keeper *keeper, const struct store_segments *list,
                        bool first_round) {
    int64_t pinned = 0;
    for (size_t i = 0; i + 1 < list->count; i++) {
        const struct store_segment *segment = &list->rows[i];
        bool last_left = (first_round && i + 2 == list->count) || segment->number == keeper->locked;
        if (last_left || has_log(segment->path)) {
            bool busy = store_rotation_leave(segment->path) == STORE_BUSY;
            if (last_left) {
                keeper->locked = busy ? segment->number : 0;
            }
            pinned += busy;
        }
    }
    return pinned;
}

static void note_failure(struct keeper *keeper, const struct store_segment *segment, int r) {
    if (keeper->removal_failed != segment->number) {
        log_error("an old segment of the store cannot be removed: %s segment=%s", strerror(-r),
                  segment->path);
    }
    keeper->removal_failed = segment->number;
}

static void add_removed(struct removed_count *count, const struct removed_count *more) {
    count->segments += more->segments;
    count->events += more->events;
    count->bytes += more->bytes;
}

static void log_removed(const struct removed *removed, const char *last) {
    for (int key = 0; key < STORE_RETENTION_KEYS; key++) {
        const struct removed_count *by = &removed->by[key];
        if (by->segments > 0) {
            log_info("old segments of the store were removed by=%s segments=%" PRId64
                     " events=%" PRId64 " bytes=%" PRId64 " last=%s",
                     store_retention_key_name((enum store_retention_key)key), by->segments,
                     by->events, by->bytes, last);
        }
    }
}

// Removes what the plan says, the oldest first. Returns how many were removed.
static size_t remove_planned(struct keeper *keeper, const struct store_segments *list,
                             const struct store_retention_plan *plan, struct removed *removed) {
    size_t gone = 0;
    for (; gone < plan->count; gone++) {
        const struct store_segment *segment = &list->rows[gone];
        struct removed_count one = {1, contents_of(keeper, segment).events, segment->bytes};
        int r = store_segments_remove(segment->path);
        if (r < 0) {
            note_failure(keeper, segment, r);
            break;
        }
        forget(keeper, segment->number);
        add_removed(&removed->all, &one);
        add_removed(&removed->by[plan->keys[gone]], &one);
    }
    if (gone > 0) {
        removed->last_ns = nvtxt_realtime_ns();
        store_segments_sync(keeper->path);
        log_removed(removed, list->rows[gone - 1].path);
    }
    return gone;
}

static void count(struct keeper *keeper, const struct store_segments *list, size_t gone,
                  struct keeper_state *state) {
    const struct removed *more = &state->removed;
    for (size_t i = gone; i + 1 < list->count; i++) {
        state->segments++;
        state->bytes += list->rows[i].bytes;
        state->carried += list->rows[i].carried;
    }
    pthread_mutex_lock(&keeper->lock);
    struct removed sum = keeper->state.removed;
    add_removed(&sum.all, &more->all);
    for (int key = 0; key < STORE_RETENTION_KEYS; key++) {
        add_removed(&sum.by[key], &more->by[key]);
    }
    sum.last_ns = more->last_ns ?: sum.last_ns;
    state->removed = sum;
    keeper->state = *state;
    pthread_mutex_unlock(&keeper->lock);
    bqueue_set_old(keeper->queue, state->segments, state->bytes, &sum);
}

// Lists the old segments, and after them the one in use.
static int list_segments(struct keeper *keeper, const struct keeper_order *order,
                         struct store_segments *list) {
    int r = store_segments_list(keeper->path, list);
    for (size_t i = list->count; r == 0 && i-- > 0;) {
        if (strcmp(nvtxt_base_name(list->rows[i].path), order->active) != 0) {
            continue;
        }
        while (list->count > i + 1) { // the next one, which the writer does not use yet
            free(list->rows[--list->count].path);
        }
        list->rows[i].empty = order->active_empty;
        list->rows[i].carried = order->active_carried;
    }
    return r;
}

// A segment that is missing in the index is asked itself, so a failure does no harm: the next round
// tries again.
static void follow_ended(struct keeper *keeper, const struct store_segments *kept, bool check) {
    struct store_segments left = {.rows = kept->rows, .count = kept->count ? kept->count - 1 : 0};
    if (left.count >= INDEXED_FROM) {
        store_ended_index_follow(keeper->path, &left, check);
    }
}

// One round. Returns when the next one is due, as Unix time, or NEVER.
static int64_t check(struct keeper *keeper, const struct keeper_order *order, bool first_round) {
    struct store_retention kept_by = order->retention;
    const struct store_retention *retention = &kept_by;
    struct store_segments list;
    struct store_disk disk = {0};
    struct store_retention_plan plan = {0};
    struct keeper_state state = {0};
    if (list_segments(keeper, order, &list) < 0) {
        return NEVER;
    }
    state.pinned = complete(keeper, &list, first_round);
    store_segments_deinit(&list);
    if (list_segments(keeper, order, &list) < 0) { // sizes have changed
        return NEVER;
    }
    find_empty(keeper, retention, &list);
    find_carried(keeper, retention, &list);
    kept_by.unshipped_from = find_unshipped(keeper, order);
    int64_t now = nvtxt_realtime_ns();
    plan.keys = calloc(list.count, sizeof(*plan.keys));
    if (plan.keys && store_disk_read(keeper->path, &disk) == 0) {
        store_retention_make(&list, retention, &disk, now, &plan);
    }
    state.missing = plan.missing;
    size_t gone = remove_planned(keeper, &list, &plan, &state.removed);
    count(keeper, &list, gone, &state);
    free(plan.keys);
    struct store_segments kept = {.rows = list.rows + gone, .count = list.count - gone};
    follow_ended(keeper, &kept, first_round);
    int64_t next = store_retention_next_ns(&kept, retention);
    store_segments_deinit(&list);
    next = next == 0 ? NEVER : next <= now ? now + AGAIN_NS : next; // could not be removed
    bool soon = state.pinned || plan.waits;
    return soon && next > now + AGAIN_NS ? now + AGAIN_NS : next;
}

// After a stop a main file is complete without its log, unless a reader still prevents that.
static void check_last(struct keeper *keeper, const struct keeper_order *order) {
    struct store_segments list;
    if (list_segments(keeper, order, &list) < 0) {
        return;
    }
    complete(keeper, &list, false);
    store_segments_deinit(&list);
}

// ---- The thread ---------------------------------------------------------------------------------

// With the lock held. Waits until there is work, or until `until` (Unix time).
static void wait_for_work(struct keeper *keeper, int64_t until) {
    while (!keeper->stop && !keeper->wanted && !keeper->closing) {
        if (until == NEVER) {
            pthread_cond_wait(&keeper->changed, &keeper->lock);
            continue;
        }
        int64_t left = until - nvtxt_realtime_ns();
        struct timespec end = nvtxt_timespec(nvtxt_monotonic_ns() + (left > 0 ? left : 0));
        if (pthread_cond_timedwait(&keeper->changed, &keeper->lock, &end) == ETIMEDOUT) {
            return;
        }
    }
}

static bool is_removed(const struct keeper *keeper, const char *segment) {
    char path[PATH_MAX];
    int folder = (int)(nvtxt_base_name(keeper->path) - keeper->path);
    int len = snprintf(path, sizeof(path), "%.*s%s", folder, keeper->path, segment);
    return len < (int)sizeof(path) && access(path, F_OK) < 0 && errno == ENOENT;
}

// With the lock held.
static void finish_waiting(struct keeper *keeper) {
    for (struct job *job = keeper->waiting; job; job = job->next) {
        job->previous_removed = is_removed(keeper, job->previous);
    }
    if (keeper->waiting) {
        bqueue_finish(keeper->queue, keeper->waiting);
    }
    keeper->waiting = NULL;
}

// With the lock held.
static struct keeper_order order_of(const struct keeper *keeper) {
    struct keeper_order order = {.retention = keeper->retention,
                                 .active_empty = keeper->active_empty,
                                 .active_carried = keeper->active_carried};
    memcpy(order.active, keeper->active, sizeof(order.active));
    memcpy(order.store_id, keeper->store_id, sizeof(order.store_id));
    memcpy(order.shipped_file, keeper->shipped_file, sizeof(order.shipped_file));
    return order;
}

static void *run_keeper(void *context) {
    struct keeper *keeper = context;
    int64_t until = NEVER;
    bool first_round = true;
    pthread_setname_np(pthread_self(), "keeper");
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->stop || keeper->closing) {
        wait_for_work(keeper, until);
        struct keeper_order order = order_of(keeper);
        struct store *closing = keeper->closing;
        bool last = keeper->stop;
        keeper->wanted = false;
        keeper->busy = true;
        pthread_mutex_unlock(&keeper->lock);
        if (closing) {
            store_leave(closing);
        }
        if (!last) {
            until = check(keeper, &order, first_round);
        }
        first_round = false;
        pthread_mutex_lock(&keeper->lock);
        if (closing) {
            keeper->closing = NULL;
            finish_waiting(keeper);
        }
        keeper->busy = false;
        pthread_cond_broadcast(&keeper->changed);
    }
    struct keeper_order order = order_of(keeper);
    pthread_mutex_unlock(&keeper->lock);
    check_last(keeper, &order);
    return NULL;
}

static bool start(struct keeper *keeper) {
    if (!keeper->started) {
        keeper->started = thread_start(&keeper->thread, run_keeper, keeper) == 0;
    }
    return keeper->started;
}

void keeper_deinit(struct keeper *keeper) {
    if (!keeper->path) {
        return;
    }
    if (keeper->started) {
        pthread_mutex_lock(&keeper->lock);
        keeper->stop = true;
        pthread_cond_broadcast(&keeper->changed);
        pthread_mutex_unlock(&keeper->lock);
        pthread_join(keeper->thread, NULL);
    }
    pthread_cond_destroy(&keeper->changed);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper->known);
    *keeper = (struct keeper){0};
}

// With the lock held, or without a thread.
static void set_active(struct keeper *keeper, const struct store *store, bool empty,
                       int64_t carried) {
    snprintf(keeper->active, sizeof(keeper->active), "%s", nvtxt_base_name(store_file_path(store)));
    snprintf(keeper->store_id, sizeof(keeper->store_id), "%s", store_identity(store));
    keeper->active_empty = empty;
    keeper->active_carried = carried;
}

void keeper_set_active(struct keeper *keeper, const struct store *store, bool empty,
                       int64_t carried) {
    pthread_mutex_lock(&keeper->lock);
    set_active(keeper, store, empty, carried);
    keeper->wanted = true; // without a thread there is no old segment
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
}

void keeper_take(struct keeper *keeper, struct store *store_take, struct store *next) {
    bool empty = store_is_empty(next);
    int64_t carried = store_carried_bytes(next);
    if (!start(keeper)) { // there is no thread: done here
        store_leave(store_take);
        set_active(keeper, next, empty, carried);
        struct keeper_order order = order_of(keeper);
        check(keeper, &order, false);
        return;
    }
    pthread_mutex_lock(&keeper->lock);
    while (keeper->closing || keeper->busy) {
        pthread_cond_wait(&keeper->changed, &keeper->lock);
    }
    keeper->closing = store_take;
    set_active(keeper, next, empty, carried);
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
}

void keeper_give_back(struct keeper *keeper, struct job *job_take) {
    pthread_mutex_lock(&keeper->lock);
    job_take->next = keeper->waiting;
    keeper->waiting = job_take;
    if (!keeper->closing) {
        finish_waiting(keeper);
    }
    pthread_mutex_unlock(&keeper->lock);
}

static void want(struct keeper *keeper, const struct rotate_limits *limits) {
    pthread_mutex_lock(&keeper->lock);
    if (limits) {
        set_limits(keeper, limits);
    }
    keeper->wanted = true;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
}

void keeper_check(struct keeper *keeper) {
    want(keeper, NULL);
    start(keeper);
}

void keeper_configure(struct keeper *keeper, const struct rotate_limits *limits) {
    want(keeper, limits); // without a thread there is no old segment
}

void keeper_get_state(struct keeper *keeper, struct keeper_state *state) {
    pthread_mutex_lock(&keeper->lock);
    *state = keeper->state;
    state->segments += keeper->closing != NULL;
    pthread_mutex_unlock(&keeper->lock);
}
