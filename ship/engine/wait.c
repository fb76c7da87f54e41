// SPDX-License-Identifier: Apache-2.0
//
// poll() of the socket and of the descriptor that says that the program shall end. When that one
// becomes readable, a statement has half of the time that is left; the other half is for the answer
// that it was broken off, so that the connection is of use once more.
#include "ship/engine/wait.h"

#include "protocol/base/clock.h"
#include "protocol/base/origin.h"

static int64_t until(const struct wait *wait, int64_t deadline) {
    return wait->stop_ms ? nvtxt_earlier(wait->stop_ms, deadline) : deadline;
}

int64_t wait_deadline(const struct wait *wait, int64_t ms) {
    return until(wait, nvtxt_monotonic_ms() + ms);
}

static void begin_to_stop(struct wait *wait) {
    int64_t now = nvtxt_monotonic_ms();
    wait->stop_ms = now + wait->grace_ms;
    wait->break_ms = now + wait->grace_ms / 2;
}

// Calls `alive` when it is due. Returns when it is due again. A program that shall end is not held
// up by a manager that does not listen any more.
static int64_t tell_alive(struct wait *wait, int64_t now) {
    if (!wait->alive || wait->stop_ms) {
        return INT64_MAX;
    }
    if (now >= wait->alive_due_ms) {
        wait->alive();
        wait->alive_due_ms = now + wait->alive_ms;
    }
    return wait->alive_due_ms;
}

int wait_for(struct wait *wait, int fd, short events, int64_t deadline, bool may_break) {
    for (;;) {
        bool breaks = may_break && wait->break_ms;
        int64_t now = nvtxt_monotonic_ms();
        if (breaks && now >= wait->break_ms) {
            wait->break_ms = 0;
            return WAIT_BREAK;
        }
        int64_t next = nvtxt_earlier(until(wait, deadline), tell_alive(wait, now));
        int64_t left = (breaks ? nvtxt_earlier(next, wait->break_ms) : next) - now;
        struct pollfd fds[2] = {{.fd = fd, .events = events},
                                {.fd = wait->stop_ms ? -1 : wait->stop_fd, .events = POLLIN}};
        poll_fn *wait_now = wait->poll ?: poll;
        int n = wait_now(fds, 2, left > INT32_MAX ? INT32_MAX : left > 0 ? (int)left : 0);
        if (n < 0 && errno != EINTR) {
            return nvtxt_origin(-errno);
        }
        if (n > 0 && fds[1].revents) {
            begin_to_stop(wait);
        }
        // Rows that come and come do not keep the program from its end.
        int64_t last = n == 0 ? until(wait, deadline) : wait->stop_ms ?: INT64_MAX;
        if (last <= nvtxt_monotonic_ms()) {
            return WAIT_LATE;
        }
        if (n > 0 && fds[0].revents) {
            return WAIT_READY;
        }
    }
}
