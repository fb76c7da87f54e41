// SPDX-License-Identifier: Apache-2.0
//
// Two linked lists with a pointer to their tails: to the writer, and done. What the writer sets in
// the state and what the keeper sets are apart, so that neither overwrites the other.
#include "daemon/writer/bqueue.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "protocol/base/clock.h"

struct job *job_new(enum job_kind kind, void (*on_done)(struct job *job), void *context) {
    struct job *job = calloc(1, sizeof(*job));
    if (job) {
        job->kind = kind;
        job->on_done = on_done;
        job->context = context;
    }
    return job;
}

int bqueue_init(struct bqueue *queue, void (*ring)(void *context), void *context) {
    *queue = (struct bqueue){.ring = ring, .context = context};
    queue->tail = &queue->head;
    queue->done_tail = &queue->done;
    return thread_init_lock(&queue->lock, &queue->filled);
}

void bqueue_deinit(struct bqueue *queue) {
    if (!queue->tail) {
        return;
    }
    pthread_cond_destroy(&queue->filled);
    pthread_mutex_destroy(&queue->lock);
    *queue = (struct bqueue){0};
}

void bqueue_push(struct bqueue *queue, struct job *job) {
    job->next = NULL;
    pthread_mutex_lock(&queue->lock);
    *queue->tail = job;
    queue->tail = &job->next;
    queue->depth++;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

// With the lock held.
static struct job *take_first(struct bqueue *queue) {
    struct job *job = queue->head;
    if (!job) {
        return NULL;
    }
    queue->head = job->next;
    if (!queue->head) {
        queue->tail = &queue->head;
    }
    queue->depth--;
    job->next = NULL;
    return job;
}

struct job *bqueue_take(struct bqueue *queue, int64_t until_ns) {
    const struct timespec until = nvtxt_timespec(until_ns);
    int r = 0;
    pthread_mutex_lock(&queue->lock);
    while (!queue->head && r != ETIMEDOUT) {
        r = until_ns ? pthread_cond_timedwait(&queue->filled, &queue->lock, &until)
                     : pthread_cond_wait(&queue->filled, &queue->lock);
    }
    struct job *job = take_first(queue);
    pthread_mutex_unlock(&queue->lock);
    return job;
}

struct job *bqueue_try_take(struct bqueue *queue) {
    pthread_mutex_lock(&queue->lock);
    struct job *job = take_first(queue);
    pthread_mutex_unlock(&queue->lock);
    return job;
}

void bqueue_finish(struct bqueue *queue, struct job *list) {
    if (!list) {
        return;
    }
    struct job **tail = &list->next;
    while (*tail) {
        tail = &(*tail)->next;
    }
    pthread_mutex_lock(&queue->lock);
    *queue->done_tail = list;
    queue->done_tail = tail;
    pthread_mutex_unlock(&queue->lock);
    queue->ring(queue->context);
}

struct job *bqueue_drain(struct bqueue *queue) {
    pthread_mutex_lock(&queue->lock);
    struct job *list = queue->done;
    queue->done = NULL;
    queue->done_tail = &queue->done;
    pthread_mutex_unlock(&queue->lock);
    return list;
}

size_t bqueue_depth(struct bqueue *queue) {
    pthread_mutex_lock(&queue->lock);
    size_t depth = queue->depth;
    pthread_mutex_unlock(&queue->lock);
    return depth;
}

void bqueue_hurry(struct bqueue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->hurry = true;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

void bqueue_give_up(struct bqueue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->given_up = true;
    pthread_mutex_unlock(&queue->lock);
    bqueue_hurry(queue);
}

bool bqueue_is_given_up(struct bqueue *queue) {
    pthread_mutex_lock(&queue->lock);
    bool given_up = queue->given_up;
    pthread_mutex_unlock(&queue->lock);
    return given_up;
}

bool bqueue_pause(struct bqueue *queue, unsigned ms) {
    struct timespec until = nvtxt_timespec(nvtxt_monotonic_ns() + ms * NVTXT_NS_A_MS);
    pthread_mutex_lock(&queue->lock);
    // A push wakes this thread too; only the time or a hurry ends the pause.
    while (!queue->hurry &&
           pthread_cond_timedwait(&queue->filled, &queue->lock, &until) != ETIMEDOUT)
        ;
    bool hurry = queue->hurry;
    pthread_mutex_unlock(&queue->lock);
    return hurry;
}

void bqueue_set_state(struct bqueue *queue, const struct writer_state *state) {
    pthread_mutex_lock(&queue->lock);
    const struct writer_state before = queue->state;
    queue->state = *state;
    queue->state.old_segments = before.old_segments;
    queue->state.old_bytes = before.old_bytes;
    queue->state.removed = before.removed;
    pthread_mutex_unlock(&queue->lock);
}

void bqueue_set_old(struct bqueue *queue, int64_t segments, int64_t bytes,
                    const struct removed *removed) {
    pthread_mutex_lock(&queue->lock);
    queue->state.old_segments = segments;
    queue->state.old_bytes = bytes;
    queue->state.removed = *removed;
    pthread_mutex_unlock(&queue->lock);
}

void bqueue_get_state(struct bqueue *queue, struct writer_state *state) {
    pthread_mutex_lock(&queue->lock);
    *state = queue->state;
    pthread_mutex_unlock(&queue->lock);
}
