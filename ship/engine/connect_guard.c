// SPDX-License-Identifier: Apache-2.0
//
// A timer ticks, and its handler counts the ticks since the descriptor is readable.
#include "ship/engine/wait.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

#define TICK_MS 100

static volatile sig_atomic_t ticks; // that are left
static volatile sig_atomic_t watched = -1;
static void (*volatile end_program)(void);

static void on_tick(int number) {
    (void)number;
    int before = errno;
    struct pollfd fd = {.fd = watched, .events = POLLIN};
    if (poll(&fd, 1, 0) > 0) {
        ticks = ticks - 1;
        if (ticks <= 0) {
            end_program();
        }
    }
    errno = before;
}

static void tick_every(long us) {
    const struct itimerval timer = {.it_interval.tv_usec = us, .it_value.tv_usec = us};
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

void connect_guard_begin(int stop_fd, int64_t limit_ms, void (*end)(void)) {
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    ticks = (int)(limit_ms / TICK_MS);
    watched = stop_fd;
    end_program = end;
    if (stop_fd >= 0 && sigaction(SIGALRM, &action, NULL) == 0) {
        tick_every(TICK_MS * 1000L);
    }
}

void connect_guard_end(void) {
    tick_every(0);
}
