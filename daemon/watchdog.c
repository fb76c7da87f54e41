// SPDX-License-Identifier: Apache-2.0
//
// One probe is in the queue at a time. While it is not back, each tick looks whether the writer has
// committed, or has failed once more: either is progress.
#include "daemon/daemon.h"

#include "daemon/socket/activation.h"
#include "daemon/source/hub.h"

// Pings in the time after which the manager restarts the daemon: one may be late.
#define PINGS 3

static void ping(void) {
    activation_notify("WATCHDOG=1");
}

static void on_answer(struct job *job) {
    struct watchdog *watchdog = job->context;
    watchdog->asked = false;
    ping();
}

// Whether the writer has committed or failed since the last call.
static bool moved(struct watchdog *watchdog) {
    struct writer_state state;
    bqueue_get_state(&watchdog->hub->queue, &state);
    bool yes = state.commits != watchdog->commits || state.last_error_ns != watchdog->last_error_ns;
    watchdog->commits = state.commits;
    watchdog->last_error_ns = state.last_error_ns;
    return yes;
}

static void on_timer(uv_timer_t *timer) {
    struct watchdog *watchdog = timer->data;
    bool has_moved = moved(watchdog);
    if (watchdog->asked) {
        if (has_moved) {
            ping();
        }
        return;
    }
    watchdog->asked = true;
    watchdog->probe = (struct job){.kind = JOB_PROBE, .on_done = on_answer, .context = watchdog};
    hub_push(watchdog->hub, &watchdog->probe);
}

int watchdog_start(struct watchdog *watchdog, struct hub *hub) {
    uint64_t ms = activation_watchdog_ms();
    watchdog->hub = hub;
    if (ms == 0) {
        return 0;
    }
    uv_timer_init(hub->loop, &watchdog->timer); // cannot fail
    watchdog->timer.data = watchdog;
    ms = ms / PINGS ? ms / PINGS : 1;
    return uv_timer_start(&watchdog->timer, on_timer, ms, ms);
}

void watchdog_stop(struct watchdog *watchdog) {
    hub_close_handle(&watchdog->timer);
}
