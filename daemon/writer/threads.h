// SPDX-License-Identifier: Apache-2.0
//
// How this room makes its threads and their locks.
#pragma once

#include <pthread.h>

// Starts a thread with all signals blocked, because the loop handles signals. Returns 0 or -errno.
int thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

// A lock and its condition, which waits by CLOCK_MONOTONIC: a jump of the wall clock neither
// shortens nor lengthens a wait. Returns 0 or -errno; nothing is left then.
int thread_init_lock(pthread_mutex_t *lock, pthread_cond_t *changed);
