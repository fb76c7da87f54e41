// SPDX-License-Identifier: Apache-2.0
//
// The queue between the threads, with both of them at full speed: every job comes back once, in
// order, with what the other side wrote into it; several rings of the doorbell may become one, but
// never none; a hurry ends a pause at once. A plain program, so that ThreadSanitizer can watch it.
#undef NDEBUG
#include "daemon/writer/bqueue.h"

#include <assert.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define JOBS 200000

static struct bqueue queue;
static sem_t bell;

static void ring(void *context) {
    assert(context == &queue);
    sem_post(&bell);
}

// Takes one job or several, gives them back as a list.
static void *writer(void *context) {
    (void)context;
    int64_t taken = 0;
    for (;;) {
        struct job *first = bqueue_take(&queue, 0), *last = first;
        bool stop = first->kind == JOB_STOP;
        first->result = (int)taken++;
        for (struct job *job; !stop && taken % 7 && (job = bqueue_try_take(&queue));) {
            last->next = job;
            last = job;
            job->result = (int)taken++;
            stop = job->kind == JOB_STOP;
        }
        struct writer_state state = {.commits = (uint64_t)taken};
        bqueue_set_state(&queue, &state);
        bqueue_finish(&queue, first);
        if (stop) {
            return NULL;
        }
    }
}

static int64_t collect(int64_t wanted) {
    struct job *next;
    for (struct job *job = bqueue_drain(&queue); job; job = next) {
        next = job->next;
        if (job->result != wanted || job->acked != (uint64_t)wanted) {
            fprintf(stderr, "job %lld came back as %d\n", (long long)wanted, job->result);
            exit(1);
        }
        wanted++;
        free(job);
    }
    return wanted;
}

static void push(int64_t number, enum job_kind kind) {
    struct job *job = calloc(1, sizeof(*job));
    assert(job);
    job->kind = kind;
    job->acked = (uint64_t)number;
    bqueue_push(&queue, job);
}

static void jobs_come_back_in_order(void) {
    pthread_t thread;
    int64_t back = 0;
    if (pthread_create(&thread, NULL, writer, NULL) != 0) {
        exit(1);
    }
    for (int64_t i = 0; i < JOBS; i++) {
        push(i, i == JOBS - 1 ? JOB_STOP : JOB_BATCH);
        if (sem_trywait(&bell) == 0) {
            back = collect(back);
        }
        if (i % 1000 == 0) {
            struct writer_state state;
            bqueue_get_state(&queue, &state);
            assert((int64_t)state.commits <= i + 1 && bqueue_depth(&queue) <= JOBS);
        }
    }
    while (back < JOBS) {
        sem_wait(&bell);
        back = collect(back);
    }
    pthread_join(thread, NULL);
    assert(bqueue_depth(&queue) == 0 && !bqueue_drain(&queue) && !bqueue_try_take(&queue));
}

static void *pausing(void *context) {
    *(bool *)context = bqueue_pause(&queue, 600000);
    return NULL;
}

static void a_hurry_ends_a_pause(void) {
    pthread_t thread;
    bool hurried = false;
    assert(!bqueue_pause(&queue, 1));
    if (pthread_create(&thread, NULL, pausing, &hurried) != 0) {
        exit(1);
    }
    push(0, JOB_BATCH); // a push alone does not end it
    bqueue_hurry(&queue);
    pthread_join(thread, NULL);
    assert(hurried);
    assert(bqueue_pause(&queue, 600000)); // and it stays so
    free(bqueue_try_take(&queue));
}

int main(void) {
    if (sem_init(&bell, 0, 0) != 0 || bqueue_init(&queue, ring, &queue) != 0) {
        return 1;
    }
    jobs_come_back_in_order();
    a_hurry_ends_a_pause();
    bqueue_deinit(&queue);
    sem_destroy(&bell);
    return 0;
}
