// SPDX-License-Identifier: Apache-2.0
//
// The bell is a uv_async_t: the thread that meets a full standard error rings it, and the loop
// starts a timer. The timer runs until the log has nothing left to write.
#include "daemon/daemon.h"

#include "daemon/base/log.h"

#define RETRY_MS 100

static void on_timer(uv_timer_t *timer) {
    if (log_retry()) {
        uv_timer_start(timer, on_timer, RETRY_MS, 0);
    }
}

static void on_bell(uv_async_t *bell) {
    struct log_pump *pump = bell->data;
    if (!uv_is_active((uv_handle_t *)&pump->timer)) {
        uv_timer_start(&pump->timer, on_timer, RETRY_MS, 0);
    }
}

static void ring(void *context) {
    struct log_pump *pump = context;
    uv_async_send(&pump->bell);
}

int log_pump_start(struct log_pump *pump, uv_loop_t *loop) {
    int r = uv_async_init(loop, &pump->bell, on_bell);
    if (r < 0) {
        return r;
    }
    uv_timer_init(loop, &pump->timer); // cannot fail
    pump->bell.data = pump->timer.data = pump;
    uv_unref((uv_handle_t *)&pump->bell);
    uv_unref((uv_handle_t *)&pump->timer);
    pump->open = true;
    log_set_waker(ring, pump);
    return 0;
}

void log_pump_stop(struct log_pump *pump) {
    if (!pump->open) {
        return;
    }
    pump->open = false;
    log_set_waker(NULL, NULL);
    uv_close((uv_handle_t *)&pump->bell, NULL);
    uv_close((uv_handle_t *)&pump->timer, NULL);
}
