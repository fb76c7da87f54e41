// SPDX-License-Identifier: Apache-2.0
//
// One round: close what was handed over, complete what is not complete, count, remove. The first
// round completes the segment left last whatever it looks like: a daemon that was killed right
// after the link had swung did not come to it. After that only a log with something in it says that
// there is work.
#include "daemon/keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "daemon/bqueue.h"
#include "daemon/clocks.h"
#include "daemon/log.h"
#include "store/rotation.h"
#include "store/segments.h"

#define AGAIN_NS (INT64_C(30) * 1000000000) // while a reader is in the way
#define NEVER INT64_MAX

int keeper_init(struct keeper *keeper, const char *path, struct bqueue *queue,
                const struct store_retention *retention) {
    pthread_condattr_t attr;
    *keeper = (struct keeper){.path = path, .queue = queue, .retention = *retention};
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    int r = pthread_cond_init(&keeper->changed, &attr);
    pthread_condattr_destroy(&attr);
    return -r;
}

// ---- A round ------------------------------------------------------------------------------------

static bool has_log(const char *segment) {
    char log[PATH_MAX];
    struct stat status;
    int len = snprintf(log, sizeof(log), "%s-wal", segment);
    return len < (int)sizeof(log) && stat(log, &status) == 0 && status.st_size > 0;
}

// Completes what is not. Returns how many a reader is in the way of.
static int64_t complete(const struct store_segments *list, bool first_round) {
    int64_t pinned = 0;
    for (size_t i = 0; i + 1 < list->count; i++) {
        bool last_left = first_round && i + 2 == list->count;
        if (last_left || has_log(list->rows[i].path))
            pinned += store_rotation_leave(list->rows[i].path) == STORE_BUSY;
    }
    return pinned;
}

static void note_failure(struct keeper *keeper, const struct store_segment *segment, int r) {
    if (keeper->removal_failed != segment->number)
        log_error("an old segment of the store cannot be removed: %s segment=%s", strerror(-r),
                  segment->path);
    keeper->removal_failed = segment->number;
}

// Removes the oldest `excess` of the list. Returns how many it did.
static size_t remove_oldest(struct keeper *keeper, const struct store_segments *list,
                            size_t excess) {
    int64_t bytes = 0;
    size_t gone = 0;
    for (; gone < excess; gone++) {
        int r = store_segments_remove(list->rows[gone].path);
        if (r < 0) {
            note_failure(keeper, &list->rows[gone], r);
            break;
        }
        bytes += list->rows[gone].bytes;
    }
    if (gone > 0) {
        store_segments_sync(keeper->path);
        log_info("old segments of the store were removed count=%zu bytes=%" PRId64 " last=%s", gone,
                 bytes, list->rows[gone - 1].path);
    }
    return gone;
}

static void count(struct keeper *keeper, const struct store_segments *list, size_t gone,
                  int64_t pinned) {
    struct keeper_figures figures = {.pinned = pinned};
    for (size_t i = gone; i + 1 < list->count; i++) {
        figures.segments++;
        figures.bytes += list->rows[i].bytes;
    }
    pthread_mutex_lock(&keeper->lock);
    figures.removed = keeper->figures.removed + gone;
    keeper->figures = figures;
    pthread_mutex_unlock(&keeper->lock);
    bqueue_set_old(keeper->queue, figures.segments, figures.bytes);
}

// Returns when to look again, as Unix time; NEVER.
static int64_t look(struct keeper *keeper, const struct store_retention *retention,
                    bool first_round) {
    struct store_segments list;
    struct store_disk disk = {0};
    if (store_segments_list(keeper->path, &list) < 0)
        return NEVER;
    int64_t pinned = complete(&list, first_round);
    store_segments_deinit(&list);
    if (store_segments_list(keeper->path, &list) < 0) // sizes have changed
        return NEVER;
    store_disk_read(keeper->path, &disk);
    int64_t now = clocks_realtime_ns();
    size_t gone =
        remove_oldest(keeper, &list, store_retention_excess(&list, retention, &disk, now));
    count(keeper, &list, gone, pinned);
    struct store_segments kept = {.rows = list.rows + gone, .count = list.count - gone};
    int64_t next = store_retention_next_ns(&kept, retention);
    store_segments_deinit(&list);
    next = next == 0 ? NEVER : next <= now ? now + AGAIN_NS : next; // could not be removed
    return pinned && next > now + AGAIN_NS ? now + AGAIN_NS : next;
}

// What a reader was in the way of may be done by now; after a stop main files alone are complete.
static void look_last(struct keeper *keeper) {
    struct store_segments list;
    if (store_segments_list(keeper->path, &list) < 0)
        return;
    complete(&list, false);
    store_segments_deinit(&list);
}

// ---- The thread ---------------------------------------------------------------------------------

// With the lock held: until something is wanted, or `until` (Unix time) has come.
static void wait_for_work(struct keeper *keeper, int64_t until) {
    struct timespec end;
    while (!keeper->stop && !keeper->wanted && !keeper->closing) {
        if (until == NEVER) {
            pthread_cond_wait(&keeper->changed, &keeper->lock);
            continue;
        }
        int64_t left = until - clocks_realtime_ns();
        clock_gettime(CLOCK_MONOTONIC, &end);
        int64_t ns = end.tv_nsec + (left > 0 ? left : 0);
        end.tv_sec += (time_t)(ns / 1000000000);
        end.tv_nsec = (long)(ns % 1000000000);
        if (pthread_cond_timedwait(&keeper->changed, &keeper->lock, &end) == ETIMEDOUT)
            return;
    }
}

static void close_one(struct store *store) {
    char segment[PATH_MAX];
    snprintf(segment, sizeof(segment), "%s", store_file(store));
    store_close(store);
    store_rotation_leave(segment);
}

// With the lock held.
static void give_back(struct keeper *keeper) {
    if (keeper->told)
        bqueue_finish(keeper->queue, keeper->told);
    keeper->told = NULL;
}

static void *run(void *context) {
    struct keeper *keeper = context;
    int64_t until = NEVER;
    bool first_round = true;
    pthread_setname_np(pthread_self(), "keeper");
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->stop || keeper->closing) {
        wait_for_work(keeper, until);
        struct store_retention retention = keeper->retention;
        struct store *closing = keeper->closing;
        bool last = keeper->stop;
        keeper->wanted = false;
        keeper->busy = true;
        pthread_mutex_unlock(&keeper->lock);
        if (closing)
            close_one(closing);
        if (!last)
            until = look(keeper, &retention, first_round);
        first_round = false;
        pthread_mutex_lock(&keeper->lock);
        if (closing) {
            keeper->closing = NULL;
            give_back(keeper);
        }
        keeper->busy = false;
        pthread_cond_broadcast(&keeper->changed);
    }
    pthread_mutex_unlock(&keeper->lock);
    look_last(keeper);
    return NULL;
}

static bool start(struct keeper *keeper) {
    sigset_t all, before;
    if (keeper->started)
        return true;
    sigfillset(&all); // signals are the loop's
    pthread_sigmask(SIG_SETMASK, &all, &before);
    keeper->started = pthread_create(&keeper->thread, NULL, run, keeper) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return keeper->started;
}

void keeper_deinit(struct keeper *keeper) {
    if (!keeper->path)
        return;
    if (keeper->started) {
        pthread_mutex_lock(&keeper->lock);
        keeper->stop = true;
        pthread_cond_broadcast(&keeper->changed);
        pthread_mutex_unlock(&keeper->lock);
        pthread_join(keeper->thread, NULL);
    }
    pthread_cond_destroy(&keeper->changed);
    pthread_mutex_destroy(&keeper->lock);
    *keeper = (struct keeper){0};
}

void keeper_take(struct keeper *keeper, struct store *store_take) {
    if (!start(keeper)) { // without a thread the writer does it itself
        close_one(store_take);
        look(keeper, &keeper->retention, false);
        return;
    }
    pthread_mutex_lock(&keeper->lock);
    while (keeper->closing || keeper->busy)
        pthread_cond_wait(&keeper->changed, &keeper->lock);
    keeper->closing = store_take;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
}

void keeper_tell(struct keeper *keeper, struct job *job_take) {
    pthread_mutex_lock(&keeper->lock);
    job_take->next = keeper->told;
    keeper->told = job_take;
    if (!keeper->closing)
        give_back(keeper);
    pthread_mutex_unlock(&keeper->lock);
}

static void want(struct keeper *keeper, const struct store_retention *retention) {
    pthread_mutex_lock(&keeper->lock);
    if (retention)
        keeper->retention = *retention;
    keeper->wanted = true;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
}

void keeper_look(struct keeper *keeper) {
    want(keeper, NULL);
    start(keeper);
}

void keeper_configure(struct keeper *keeper, const struct store_retention *retention) {
    want(keeper, retention); // without a thread there is nothing to look at
}

void keeper_get_figures(struct keeper *keeper, struct keeper_figures *figures) {
    pthread_mutex_lock(&keeper->lock);
    *figures = keeper->figures;
    figures->segments += keeper->closing != NULL;
    pthread_mutex_unlock(&keeper->lock);
}
