// SPDX-License-Identifier: Apache-2.0
//
// The handler counts and writes one byte into a pipe that nobody reads: the pipe stays readable,
// which is what signals_fd() promises.
#include "client/common/outcome.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "protocol/base/origin.h"

static atomic_int count; // other threads ask for it, too
static volatile sig_atomic_t first;
static int ends[2] = {-1, -1};
static timer_t limit;
static volatile sig_atomic_t is_limited;
static volatile sig_atomic_t allowed; // signals that leave time for the last work: 0 or 1
static atomic_int answered;           // ... for which it has begun

static void on_signal(int number) {
    int saved = errno;
    if (count == 0) {
        first = number;
    }
    if (count < 100) {
        count++;
    }
    if (is_limited && count == 1 + allowed) {
        const struct itimerspec soon = {.it_value.tv_nsec = SIGNALS_SOON_MS * 1000000L};
        (void)timer_settime(limit, 0, &soon, NULL);
    }
    (void)!write(ends[1], "", 1);
    errno = saved;
}

int signals_init(void) {
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return nvtxt_origin(-errno);
    }
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction hangup;
    sigemptyset(&action.sa_mask);
    sigemptyset(&ignore.sa_mask);
    if (sigaction(SIGINT, &action, NULL) != 0 || sigaction(SIGTERM, &action, NULL) != 0 ||
        sigaction(SIGPIPE, &ignore, NULL) != 0 || sigaction(SIGXFSZ, &ignore, NULL) != 0 ||
        sigaction(SIGHUP, NULL, &hangup) != 0) {
        return nvtxt_origin(-errno);
    }
    bool unheeded = hangup.sa_handler == SIG_IGN; // nohup(1)
    return unheeded || sigaction(SIGHUP, &action, NULL) == 0 ? 0 : nvtxt_origin(-errno);
}

static const char *volatile temporary;

void signals_remove(const char *path) {
    temporary = path;
}

static void on_limit(int number) {
    const char *path = temporary;
    (void)number;
    if (path) {
        (void)unlink(path);
    }
    _exit(128 + first);
}

// Real time: whoever presses the key does not know how busy the machine is.
void signals_stop_soon(void) {
    struct sigaction action = {.sa_handler = on_limit};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    sigemptyset(&action.sa_mask);
    is_limited = sigaction(SIGPROF, &action, NULL) == 0 &&
                 timer_create(CLOCK_MONOTONIC, &event, &limit) == 0;
}

int signals_fd(void) {
    return ends[0];
}

int signals_count(void) {
    return count;
}

bool signals_came(void) {
    return signals_count() > answered;
}

void signals_allow_last_work(void) {
    allowed = 1;
}

void signals_begin_last_work(void) {
    char byte;
    answered = allowed;
    (void)!read(ends[0], &byte, 1);
}

int signals_first(void) {
    return first;
}
