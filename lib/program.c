// SPDX-License-Identifier: Apache-2.0
//
// The calls about the recording as a whole: options, flush, figures, and what libnvtxt-inject gets
// besides. None of them records.
#include <string.h>
#include <sys/auxv.h>

#pragma GCC visibility push(default)
#include "lib/private.h"
#pragma GCC visibility pop

#include "lib/life.h"
#include "lib/options.h"
#include "lib/ring/clock.h"
#include "lib/ring/thread.h"
#include "protocol/base/origin.h"

// The first call of all reads the environment. A signal handler that comes meanwhile finds nothing
// decided; its calls are dropped like all inside of a call.
bool api_decide(void) {
    bool excluded = false;
    if (!thread_busy) {
        thread_busy = 1;
        excluded = catalog_decide();
        thread_busy = 0;
    }
    return excluded;
}

void api_ignore(void) {
    atomic_fetch_add_explicit(&recorder.ignored, 1, memory_order_relaxed);
}

int nvtxt_init(const struct nvtxt_options *options) {
    if (thread_busy) {
        return nvtxt_origin(-EALREADY); // in a signal handler, or in our own set-up
    }
    int saved = errno;
    thread_busy = 1;
    recorder_renew_locks();
    pthread_mutex_lock(&recorder.lock);
    int r = life_has_begun() ? nvtxt_origin(-EALREADY) : options_give(options);
    life_start_sender();
    pthread_mutex_unlock(&recorder.lock);
    thread_busy = 0;
    errno = saved;
    return r;
}

// The start of the sender may have been put off.
static bool has_sender(void) {
    if (atomic_load(&recorder.attention) & RECORDER_NO_SENDER) {
        thread_busy = 1;
        pthread_mutex_lock(&recorder.lock);
        life_start_sender();
        pthread_mutex_unlock(&recorder.lock);
        thread_busy = 0;
    }
    return !(atomic_load(&recorder.attention) & RECORDER_NO_SENDER);
}

static int flush(int timeout_ms) {
    if (!atomic_load(atomic_load(&recorder.alive))) {
        return 0; // nothing was recorded
    }
    if (thread_busy) { // in a signal handler: the call that it interrupted would never end
        return nvtxt_origin(-ETIMEDOUT);
    }
    if (!has_sender()) {
        return nvtxt_origin(-ENOTCONN);
    }
    return sender_flush(&life_sender, (int64_t)clock_monotonic() + (int64_t)timeout_ms * 1000000);
}

int nvtxt_flush(int timeout_ms) {
    int saved = errno;
    int r = flush(timeout_ms);
    errno = saved;
    return r;
}

static uint64_t losses(enum region_loss why, bool alive) {
    return atomic_load(&recorder.lost_early[why]) +
           (alive ? atomic_load(&recorder.region.head->lost[why]) : 0);
}

void nvtxt_get_stats(struct nvtxt_stats *stats) {
    int saved = errno;
    uint32_t was_busy = thread_busy;
    struct nvtxt_stats all = {.size = stats->size};
    thread_busy = was_busy ?: 1; // a child of a handler that forks has no region
    bool alive = atomic_load(atomic_load(&recorder.alive)) && atomic_load(&recorder.has_region);
    for (int why = 0; why < LOSSES; why++) {
        *(why == LOSS_UNSUPPORTED ? &all.ignored : &all.dropped) +=
            losses((enum region_loss)why, alive);
    }
    all.ignored += atomic_load(&recorder.ignored);
    if (alive) {
        all.recorded = recorder_recorded();
        all.ignored += atomic_load(&life_sender.ignored);
        all.lines_sent = atomic_load(&life_sender.lines_sent);
        all.lines_acked = atomic_load(&life_sender.lines_acked);
        all.connected = atomic_load(&life_sender.is_connected);
    }
    thread_busy = was_busy;
    memcpy(stats, &all, stats->size < sizeof(all) ? stats->size : sizeof(all));
    errno = saved;
}

// ---- For libnvtxt-inject ------------------------------------------------------------------------

// In a handler that interrupts who reads the environment, that would wait for itself.
bool nvtxt_private_is_secure(void) {
    if (!thread_busy) {
        thread_busy = 1;
        options_read();
        thread_busy = 0;
    }
    return getauxval(AT_SECURE) != 0;
}

_Atomic(void *) *nvtxt_private_handle_of(const struct nvtxt_string *string) {
    return &((struct nvtxt_string *)string)->handle;
}

bool nvtxt_private_is_excluded(const struct nvtxt_domain *domain) {
    return api_is_excluded(domain);
}

uint64_t nvtxt_private_now(void) {
    return clock_monotonic();
}

void nvtxt_private_complain(const char *format, ...) {
    va_list args;
    va_start(args, format);
    int saved = errno;
    options_complain(format, args);
    errno = saved;
    va_end(args);
}

void nvtxt_private_log(const char *format, ...) {
    va_list args;
    va_start(args, format);
    int saved = errno;
    options_vlog(format, args);
    errno = saved;
    va_end(args);
}
