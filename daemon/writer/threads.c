// SPDX-License-Identifier: Apache-2.0
//
// A thread inherits the signal mask of its maker, so the mask is set around pthread_create().
#include "daemon/writer/bqueue.h"

#include <signal.h>
#include <time.h>

#include "protocol/base/origin.h"

int thread_start(pthread_t *thread, void *(*run)(void *context), void *context) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return nvtxt_origin(-r);
}

int thread_init_lock(pthread_mutex_t *lock, pthread_cond_t *changed) {
    pthread_condattr_t attr;
    int r = pthread_condattr_init(&attr);
    if (r) {
        return nvtxt_origin(-r);
    }
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    r = pthread_cond_init(changed, &attr);
    pthread_condattr_destroy(&attr);
    if (r) {
        return nvtxt_origin(-r);
    }
    r = pthread_mutex_init(lock, NULL);
    if (r) {
        pthread_cond_destroy(changed);
    }
    return nvtxt_origin(-r);
}
