// SPDX-License-Identifier: Apache-2.0
//
// A timer ticks each second, and its handler counts the ticks since the descriptor is readable.
#include "ship/engine/connect_guard.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

#define TICKS 2

static volatile sig_atomic_t ticks;
static volatile sig_atomic_t watched = -1;

static void on_tick(int number) {
    (void)number;
    int before = errno;
    struct pollfd fd = {.fd = watched, .events = POLLIN};
    if (poll(&fd, 1, 0) > 0) {
        ticks = ticks + 1;
        if (ticks > TICKS) {
            _exit(0);
        }
    }
    errno = before;
}

static void tick_every(long seconds) {
    const struct itimerval timer = {.it_interval.tv_sec = seconds, .it_value.tv_sec = seconds};
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

void connect_guard_begin(int stop_fd) {
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    ticks = 0;
    watched = stop_fd;
    if (sigaction(SIGALRM, &action, NULL) == 0) {
        tick_every(1);
    }
}

void connect_guard_end(void) {
    tick_every(0);
}
