// SPDX-License-Identifier: Apache-2.0
//
// A program whose first event is recorded in a signal handler, for the tests of the library. It
// ends with 1 and a line on stderr when a thread is started in the handler, or is not started
// outside of it; when its heap is broken, it ends as libc likes.
#include <dirent.h>
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/nvtxt.h"

#define STACK_BYTES (256u << 10)
#define DISARMED ((int)(1u << 31)) // SS_AUTODISARM of the kernel
#define STORM_US 50                // from signal to signal
#define STORM_EVENTS 5             // in handlers, before one outside
#define HANG_SECONDS 120
#define FLUSH_MS 200000

static int threads_then; // when the handler's event was recorded
static volatile sig_atomic_t handled;
static bool exits, flushes;

static int threads(void) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        count += task->d_name[0] != '.';
    }
    if (tasks) {
        closedir(tasks);
    }
    return count;
}

static void must_be(const char *what, int threads_wanted) {
    if (threads() != threads_wanted) {
        errx(1, "%s: %d threads, not %d", what, threads(), threads_wanted);
    }
}

// ---- One signal ---------------------------------------------------------------------------------

// The handler's own calls take some of the stack.
static __attribute__((noinline)) void record(int depth) {
    char room[2000];
    memset(room, depth, sizeof(room));
    __asm__ volatile("" : : "r"(room) : "memory");
    if (depth > 0) {
        record(depth - 1);
        __asm__ volatile("" : : "r"(room) : "memory");
    } else {
        nvtxt_mark("in the handler");
    }
}

static void handle(int number) {
    (void)number;
    record(20);
    must_be("in the handler", threads_then);
    if (flushes && nvtxt_flush(FLUSH_MS) == 0) {
        errx(1, "a flush in the handler");
    }
    must_be("after the handler's event", threads_then);
    handled++;
    if (exits) {
        exit(0);
    }
}

static void set_handler(int flags, bool blocks_all, void (*function)(int)) {
    struct sigaction action = {.sa_handler = function, .sa_flags = flags};
    if (blocks_all) {
        sigfillset(&action.sa_mask);
    }
    if (sigaction(SIGUSR1, &action, NULL) < 0 || sigaction(SIGALRM, &action, NULL) < 0) {
        err(1, "sigaction");
    }
}

static void use_alternate_stack(int flags) {
    stack_t stack = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES, .ss_flags = flags};
    if (!stack.ss_sp || sigaltstack(&stack, NULL) < 0) {
        err(1, "sigaltstack");
    }
}

static void handle_one(void) {
    threads_then = threads();
    raise(SIGUSR1);
    if (!handled) {
        errx(1, "no signal");
    }
}

static void record_outside(void) {
    nvtxt_mark("outside");
    must_be("outside", threads_then + 1);
}

static void *one_in_thread(void *unused) {
    handle_one();
    record_outside();
    return unused;
}

static void one_in_child(void) {
    int status;
    nvtxt_mark("of the parent");
    pid_t child = fork();
    if (child == 0) {
        handle_one();
        record_outside();
        exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
        errx(1, "the child: status %#x", (unsigned)status);
    }
}

static void handle_and_reset(int number) {
    signal(number, SIG_DFL);
    handle(number);
}

// KIND: where the handler runs, and how it was set.
static void one(const char *kind) {
    bool on_other = strcmp(kind, "alternate") == 0 || strcmp(kind, "disarmed") == 0;
    if (on_other) {
        use_alternate_stack(strcmp(kind, "disarmed") == 0 ? DISARMED : 0);
    }
    set_handler(on_other                         ? SA_ONSTACK
                : strcmp(kind, "unblocked") == 0 ? SA_NODEFER
                : strcmp(kind, "once") == 0      ? (int)(SA_RESETHAND | SA_NODEFER)
                                                 : 0,
                strcmp(kind, "blocked") == 0,
                strcmp(kind, "reset") == 0 ? handle_and_reset : handle);
    exits = strcmp(kind, "exits") == 0;
    flushes = strcmp(kind, "flushes") == 0;
    if (strcmp(kind, "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, one_in_thread, NULL);
        pthread_join(thread, NULL);
        return;
    }
    if (strcmp(kind, "child") == 0) {
        one_in_child();
        return;
    }
    handle_one();
    if (strcmp(kind, "ends") == 0) {
        return;
    }
    if (strcmp(kind, "init") == 0) {
        (void)nvtxt_init(NULL);
        must_be("after nvtxt_init", threads_then + 1);
    } else if (strcmp(kind, "flush") == 0) {
        (void)nvtxt_flush(FLUSH_MS);
        must_be("after nvtxt_flush", threads_then + 1);
        _exit(0);
    }
    record_outside();
}

// ---- No signal ----------------------------------------------------------------------------------

static ucontext_t caller, coroutine;

static void *record_with_all_blocked(void *unused) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    threads_then = threads();
    record_outside();
    return unused;
}

// KIND: from where an event is recorded outside of the handler that there is.
static void outside(const char *kind) {
    set_handler(0, false, handle);
    if (strcmp(kind, "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, record_with_all_blocked, NULL);
        pthread_join(thread, NULL);
    } else if (strcmp(kind, "coroutine") == 0) {
        threads_then = threads();
        getcontext(&coroutine);
        coroutine.uc_stack.ss_sp = malloc(STACK_BYTES);
        coroutine.uc_stack.ss_size = STACK_BYTES;
        coroutine.uc_link = &caller;
        makecontext(&coroutine, record_outside, 0);
        swapcontext(&caller, &coroutine);
    } else {
        record_with_all_blocked(NULL);
    }
}

// ---- Signals in the middle of malloc() ----------------------------------------------------------

static void handle_storm(int number) {
    (void)number;
    nvtxt_mark("in the storm");
    handled++;
}

static void *allocate(void *of) {
    void *blocks[64] = {0};
    unsigned seed = (unsigned)(uintptr_t)of + (unsigned)getpid();
    for (int left = 200; left > 0; left -= handled >= STORM_EVENTS) {
        for (int i = 0; i < 64; i++) {
            seed = seed * 1103515245 + 12345;
            free(blocks[i]);
            blocks[i] = malloc(1 + seed / 65536 % 3000);
        }
        if (left == 100) {
            nvtxt_mark("outside");
        }
    }
    for (int i = 0; i < 64; i++) {
        free(blocks[i]);
    }
    return NULL;
}

static void storm_child(int count) {
    pthread_t ids[8];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_handler(SA_RESTART, false, handle_storm);
    struct itimerval often = {{0, STORM_US}, {0, STORM_US}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; i < count; i++) {
        pthread_create(&ids[i], NULL, allocate, (void *)i);
    }
    allocate((void *)8);
    for (int i = 0; i < count; i++) {
        pthread_join(ids[i], NULL);
    }
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    exit(0);
}

// RUNS THREADS PARENT: processes whose first events are recorded in handlers that interrupt
// malloc(), after events of their parent or not.
static void storm(int runs, int count, bool parent_records) {
    if (parent_records) {
        nvtxt_mark("of the parent");
    }
    for (int i = 0; i < runs; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            storm_child(count);
        }
        for (int wait_ms = 0; waitpid(child, &status, WNOHANG) == 0; wait_ms++) {
            if (wait_ms > HANG_SECONDS * 1000) {
                errx(1, "run %d hangs: process %d", i, (int)child);
            }
            usleep(1000);
        }
        if (status != 0) {
            errx(1, "run %d: status %#x", i, (unsigned)status);
        }
    }
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "one") == 0) {
        one(arguments[2]);
    } else if (count == 3 && strcmp(arguments[1], "outside") == 0) {
        outside(arguments[2]);
    } else if (count == 5 && strcmp(arguments[1], "storm") == 0) {
        storm(atoi(arguments[2]), atoi(arguments[3]), atoi(arguments[4]));
    } else {
        errx(1, "no such command");
    }
    return 0;
}
