// SPDX-License-Identifier: Apache-2.0
//
// A call that comes after a pass of the sender has found nothing, and before the sender says that
// it sleeps, wakes nobody: the look that the sender takes before it sleeps must find it, and then
// it must not sleep. The calls of the system are the places where the order is made: the daemon, a
// thread of this program, acknowledges what there is in a later turn than that which sent it, and
// before the sender reads that, the other call is made.
//
// The waits of the sender are seen here, too: how long it would wait after the calls of its first
// second, and after later ones.
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lib/nvtxt.h"

#define YOUNG_MS 1000 // the sender looks more often before
#define OLD_WAIT_MS 10
#define SLACK_MS 2000 // its second begins after ours

static atomic_bool has_sent;   // the first call
static atomic_bool has_looked; // for the daemon's answer, in a turn after that
static atomic_bool reads_ack;  // and has it: now the second call is made
static atomic_bool is_made;    // the second call
static atomic_bool has_sent_it;
static atomic_bool has_slept;               // without having sent it
static _Atomic long shortest_ms = LONG_MAX; // wait of the sender for calls
static pthread_t program;

static void wait_for(atomic_bool *what) {
    while (!atomic_load(what)) {
        usleep(100);
    }
}

// ---- The sender's calls -------------------------------------------------------------------------

ssize_t __real_send(int fd, const void *data, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags) {
    if (memmem(data, len, "early", 5)) {
        atomic_store(&has_sent, true);
    }
    if (memmem(data, len, "late", 4)) {
        atomic_store(&has_sent_it, true);
    }
    return __real_send(fd, data, len, flags);
}

ssize_t __real_recv(int fd, void *data, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t len, int flags) {
    ssize_t got = __real_recv(fd, data, len, flags);
    int saved = errno;
    if (got < 0 && atomic_load(&has_sent)) {
        atomic_store(&has_looked, true);
    }
    if (got > 0 && memmem(data, (size_t)got, "\"ack\"", 5) && !atomic_load(&is_made)) {
        atomic_store(&reads_ack, true);
        wait_for(&is_made);
    }
    errno = saved;
    return got;
}

static long ms_of(const struct timespec *time) {
    return (long)time->tv_sec * 1000 + time->tv_nsec / 1000000;
}

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ms_of(&now);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
    va_list args;
    long of[6];
    va_start(args, number);
    for (int i = 0; i < 6; i++) {
        of[i] = va_arg(args, long);
    }
    va_end(args);
    bool waits = number == SYS_futex && (of[1] & FUTEX_CMD_MASK) == FUTEX_WAIT &&
                 !pthread_equal(pthread_self(), program);
    if (waits && atomic_load(&is_made) && !atomic_load(&has_sent_it)) {
        atomic_store(&has_slept, true);
    }
    if (waits && of[3]) {
        long ms = ms_of((const struct timespec *)of[3]);
        atomic_store(&shortest_ms, ms < atomic_load(&shortest_ms) ? ms : atomic_load(&shortest_ms));
    }
    return __real_syscall(number, of[0], of[1], of[2], of[3], of[4], of[5]);
}

// ---- The daemon ---------------------------------------------------------------------------------

static void reply(FILE *file, const char *type, unsigned lines) {
    fprintf(file, "{\"type\":\"%s\",\"line\":%u%s}\n", type, lines,
            strcmp(type, "welcome") == 0 ? ",\"nvtx\":1" : "");
    fflush(file);
}

static void *daemon_main(void *listener) {
    int fd = accept(*(int *)listener, NULL, NULL);
    FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
    char line[4096];
    unsigned lines = 0;
    if (!in || !out || !fgets(line, sizeof(line), in)) {
        err(1, "the daemon");
    }
    reply(out, "welcome", 0);
    while (fgets(line, sizeof(line), in) && strncmp(line, "#nvtxt-end", 10) != 0) {
        lines++;
        if (strstr(line, "early")) {
            wait_for(&has_looked);
        }
        if (strstr(line, "early") || atomic_load(&is_made)) {
            reply(out, "ack", lines);
        }
    }
    reply(out, "end", lines);
    fclose(in);
    fclose(out);
    return NULL;
}

int main(void) {
    char folder[] = "/tmp/nvtxt-sleep-XXXXXX";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    pthread_t daemon;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || !mkdtemp(folder)) {
        err(1, "set-up");
    }
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
    if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(listener, 1) < 0 || pthread_create(&daemon, NULL, daemon_main, &listener) != 0) {
        err(1, "set-up");
    }
    pthread_detach(daemon);   // it ends when the library has ended its session, at exit
    signal(SIGPIPE, SIG_IGN); // the daemon may be late
    setenv("NVTXT_SOCKET", address.sun_path, 1);
    program = pthread_self();
    long began_ms = now_ms();
    nvtxt_mark("early");
    wait_for(&reads_ack);
    nvtxt_mark("late");
    atomic_store(&is_made, true);
    while (!atomic_load(&has_sent_it) && !atomic_load(&has_slept)) {
        usleep(100);
    }
    bool slept = atomic_load(&has_slept);
    bool is_slow = now_ms() - began_ms >= YOUNG_MS; // the machine is: then nothing is known
    while (atomic_load(&shortest_ms) > 1 && now_ms() - began_ms < YOUNG_MS) {
        nvtxt_mark("young"); // one that its last look before it sleeps finds is followed by no wait
        usleep(1000);
    }
    long young_ms = atomic_load(&shortest_ms);
    while (now_ms() - began_ms <= YOUNG_MS + SLACK_MS) {
        usleep(10000);
    }
    atomic_store(&shortest_ms, LONG_MAX);
    while (atomic_load(&shortest_ms) > OLD_WAIT_MS) {
        nvtxt_mark("old");
        usleep(1000);
    }
    long old_ms = atomic_load(&shortest_ms);
    int r = nvtxt_flush(200000);
    unlink(address.sun_path);
    rmdir(folder);
    printf("# %s\n", slept ? "the sender sleeps with a record to send" : "it is sent at once");
    printf("# it waits %ld ms at first, %ld ms later\n", young_ms, old_ms);
    return slept || r < 0 || (young_ms > 1 && !is_slow) || old_ms < OLD_WAIT_MS;
}
