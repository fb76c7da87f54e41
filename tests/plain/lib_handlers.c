// SPDX-License-Identifier: Apache-2.0
//
// Signal handlers that come in the worst place. One forks after each instruction of a call, step by
// step: the call goes on in the child, which records what follows, and ends with 0. Another asks
// while the environment is read.
#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/nvtxt.h"
#include "lib/private.h"
#include "lib/ring/thread.h"

#define HANG_SECONDS 120

// ---- The environment ----------------------------------------------------------------------------

static volatile sig_atomic_t asked;

static void ask(int number) {
    (void)number;
    asked += !nvtxt_private_is_secure();
    nvtxt_mark("while the environment is read");
}

char *__real_getenv(const char *name);
char *__wrap_getenv(const char *name);
char *__wrap_getenv(const char *name) {
    if (!asked && strcmp(name, "NVTXT_RING") == 0) {
        raise(SIGUSR1);
    }
    return __real_getenv(name);
}

static void read_environment(void) {
    signal(SIGUSR1, ask);
    nvtxt_mark("first");
    if (asked != 1) {
        errx(1, "the handler was not called while the environment was read");
    }
}

// ---- Forks --------------------------------------------------------------------------------------

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

#define TRAP 0x100 // the flag: a signal after each instruction
#ifdef __SANITIZE_ADDRESS__
#define APART 8 // a fork takes long, and a call more instructions
#else
#define APART 1
#endif

static volatile int left;       // steps until the handler forks
static volatile pid_t children; // 0: the handler did not fork yet; -1: this is the child

static void step(int number, siginfo_t *info, void *of) {
    ucontext_t *context = of;
    int status;
    (void)number;
    (void)info;
    if (--left > 0) {
        return;
    }
    context->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
    pid_t child = fork();
    if (child == 0) {
        children = -1;
        alarm(HANG_SECONDS);
    } else if (waitpid(child, &status, 0) != child || status != 0) {
        psiginfo(info, "a child");
        fprintf(stderr, "the child: status %#x, %p\n", (unsigned)status,
                (void *)context->uc_mcontext.gregs[REG_RIP]);
        _exit(1);
    } else {
        children = child;
    }
}

static void set_trap(bool on) {
    if (on) {
        __asm__ volatile("sub $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; add $128, %%rsp" ::
                             : "memory", "cc");
    } else {
        __asm__ volatile("sub $128, %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; add $128, %%rsp" ::
                             : "memory", "cc");
    }
}

static void mark(int i) {
    (void)i;
    nvtxt_mark("a mark");
}

static void range(int i) {
    (void)i;
    nvtxt_push("a range");
    nvtxt_pop();
}

static void name(int i) {
    char text[32];
    snprintf(text, sizeof(text), "category %d", i);
    nvtxt_name_category(NULL, (uint32_t)i, text);
}

static void register_string(int i) {
    char text[32];
    snprintf(text, sizeof(text), "string %d", i);
    (void)nvtxt_string_get(text);
}

static void ask_stats(int i) {
    struct nvtxt_stats stats = {.size = sizeof(stats)};
    (void)i;
    nvtxt_get_stats(&stats);
}

static void lose(int i) {
    (void)i;
    nvtxt_private_unsupported(1);
}

// An end that finds no room in its ring.
static void end_late(int i) {
    static uint64_t ids[2000];
    if (ids[0] == 0) {
        for (int k = 0; k < 2000; k++) {
            ids[k] = nvtxt_start("open");
        }
    }
    thread_self->writer.easy = 0; // nothing fits
    thread_self->writer.granted = 0;
    nvtxt_end(ids[i]);
}

// As a thread that comes: it gets an entry and a ring.
static void begin_thread(int i) {
    (void)i;
    thread_self = NULL;
    nvtxt_mark("of a new thread");
}

static void finish_child(void) {
    nvtxt_mark("of the child");
    nvtxt_push("of the child");
    nvtxt_pop();
    nvtxt_name_category(NULL, 1, "of the child");
    (void)nvtxt_flush(0);
    _exit(0);
}

// Forks after the first step of the call, the second and so on.
static void fork_in(void (*call)(int), int stride) {
    struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGTRAP, &action, NULL);
    call(0); // what only the first one does
    for (int i = 1;; i += stride * APART) {
        children = 0;
        left = i;
        set_trap(true);
        call(i);
        set_trap(false);
        if (children < 0) {
            finish_child();
        }
        if (children == 0) {
            break;
        }
    }
}

static void fork_everywhere(void) {
    fork_in(mark, 2);
    fork_in(range, 7);
    fork_in(name, 23);
    fork_in(register_string, 23);
    fork_in(ask_stats, 2);
    fork_in(lose, 1);
    fork_in(begin_thread, 17);
    fork_in(end_late, 13);
}

#else

static void fork_everywhere(void) {
}

#endif

int main(void) {
    alarm(10 * HANG_SECONDS);
    if (setenv("NVTXT_SOCKET", "/nonexistent/socket", 1) != 0 ||
        setenv("NVTXT_EXIT_WAIT", "0", 1) != 0 || unsetenv("NVTXT_SPOOL") != 0) {
        err(1, "setenv");
    }
    read_environment();
    fork_everywhere();
    return 0;
}
