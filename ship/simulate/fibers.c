// SPDX-License-Identifier: Apache-2.0
//
// Contexts of <ucontext.h>. Work goes on in the order of its number each time that poll(2) returns;
// it goes to the context of fibers_run() to wait, and comes back from there. A page below each
// stack cannot be used, so a stack that is too small ends the program.
#include "ship/simulate/inner.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "ship/engine/wait.h"

#if HAS_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

// For names that the system's resolver looks up and for TLS; only what is used is taken.
#define STACK_BYTES ((size_t)512 << 10)
#define FDS_MAX 2
#define FDS_OTHERS 64 // descriptors of the rest of the program

struct fiber {
    ucontext_t context;
    char *stack; // owned; NULL: there is none
    struct pollfd fds[FDS_MAX];
    nfds_t count;
    int64_t until_ms; // when it goes on at the latest
    int ready;        // of `fds`
    bool is_over;     // the work has returned
    void *stacks;     // of AddressSanitizer
};

static struct {
    const struct fibers_plan *plan;
    struct fiber *fibers;
    struct fiber *current; // NULL: none runs
    ucontext_t outside;
    const void *outside_stack; // for AddressSanitizer, which has to know each stack
    size_t outside_size;
    bool is_deaf; // nobody listens to `heard_fd` any more
} all;

#if HAS_ADDRESS_SANITIZER
static void leave(void **stacks, const void *next, size_t size) {
    __sanitizer_start_switch_fiber(stacks, next, size);
}

static void arrive(void *stacks, const void **last, size_t *size) {
    __sanitizer_finish_switch_fiber(stacks, last, size);
}
#else
static void leave(void **stacks, const void *next, size_t size) {
    (void)stacks;
    (void)next;
    (void)size;
}

static void arrive(void *stacks, const void **last, size_t *size) {
    (void)stacks;
    (void)last;
    (void)size;
}
#endif

static void enter(void) {
    struct fiber *self = all.current;
    arrive(NULL, &all.outside_stack, &all.outside_size);
    all.plan->work(all.plan->context, (size_t)(self - all.fibers));
    self->is_over = true;
    leave(NULL, all.outside_stack, all.outside_size);
}

static void resume(struct fiber *fiber) {
    const stack_t *stack = &fiber->context.uc_stack;
    void *stacks = NULL;
    all.current = fiber;
    leave(&stacks, stack->ss_sp, stack->ss_size);
    (void)swapcontext(&all.outside, &fiber->context);
    arrive(stacks, NULL, NULL);
    all.current = NULL;
}

static int start(struct fiber *fiber) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        return nvtxt_origin(-errno);
    }
    fiber->stack = stack;
    if (mprotect(stack, page, PROT_NONE) != 0 || getcontext(&fiber->context) != 0) {
        return nvtxt_origin(-errno);
    }
    fiber->context.uc_stack.ss_sp = fiber->stack + page;
    fiber->context.uc_stack.ss_size = STACK_BYTES - page;
    fiber->context.uc_link = &all.outside;
    makecontext(&fiber->context, enter, 0);
    return 0;
}

// ---- For the work -------------------------------------------------------------------------------

int fibers_poll(struct pollfd *fds, nfds_t count, int ms) {
    struct fiber *self = all.current;
    assert(self && count <= FDS_MAX);
    for (nfds_t i = 0; i < count; i++) {
        self->fds[i] = fds[i];
    }
    self->count = count;
    self->until_ms = nvtxt_monotonic_ms() + ms;
    leave(&self->stacks, all.outside_stack, all.outside_size);
    (void)swapcontext(&self->context, &all.outside);
    arrive(self->stacks, &all.outside_stack, &all.outside_size);
    for (nfds_t i = 0; i < count; i++) {
        fds[i].revents = self->fds[i].revents;
    }
    return self->ready;
}

void fibers_sleep(int ms) {
    (void)fibers_poll(NULL, 0, ms);
}

// ---- Turns --------------------------------------------------------------------------------------

// What all wait for, `heard_fd` first. Returns how many descriptors; `*until_ms`: at the latest.
static nfds_t gather(struct pollfd *fds, int64_t *until_ms) {
    nfds_t count = 1;
    fds[0] = (struct pollfd){.fd = all.is_deaf ? -1 : all.plan->heard_fd, .events = POLLIN};
    *until_ms = INT64_MAX;
    for (size_t i = 0; i < all.plan->count; i++) {
        const struct fiber *fiber = &all.fibers[i];
        if (!fiber->is_over) {
            memcpy(&fds[count], fiber->fds, fiber->count * sizeof(*fds));
            count += fiber->count;
            *until_ms = nvtxt_earlier(*until_ms, fiber->until_ms);
        }
    }
    return count;
}

// Lets those go on whose time is over, or for whom something came. `wakes`: also who sleeps.
static void go_on(const struct pollfd *fds, bool wakes) {
    int64_t now = nvtxt_monotonic_ms();
    for (size_t i = 0; i < all.plan->count; i++) {
        struct fiber *fiber = &all.fibers[i];
        if (fiber->is_over) {
            continue;
        }
        fiber->ready = 0;
        for (nfds_t k = 0; k < fiber->count; k++) {
            fiber->fds[k].revents = fds[k].revents;
            fiber->ready += fds[k].revents != 0;
        }
        fds += fiber->count;
        if (fiber->ready > 0 || now >= fiber->until_ms || (wakes && fiber->count == 0)) {
            resume(fiber);
        }
    }
}

static bool are_over(void) {
    for (size_t i = 0; i < all.plan->count; i++) {
        if (!all.fibers[i].is_over) {
            return false;
        }
    }
    return true;
}

static int take_turns(struct pollfd *fds) {
    while (!are_over()) {
        int64_t until_ms;
        nfds_t count = gather(fds, &until_ms);
        int64_t left = until_ms - nvtxt_monotonic_ms();
        int n = poll(fds, count, left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left);
        if (n < 0 && errno != EINTR) {
            return nvtxt_origin(-errno);
        }
        if (n < 0) { // by a signal; poll() has said nothing of the descriptors
            memset(fds, 0, count * sizeof(*fds));
        }
        bool heard = n > 0 && fds[0].revents;
        if (heard) {
            all.is_deaf = !all.plan->hear(all.plan->context);
            count = gather(fds, &until_ms);
            (void)poll(fds, count, 0); // it may not be readable any more
        }
        go_on(fds + 1, heard);
    }
    return 0;
}

// poll(2) takes no more descriptors than a process may have open, also where it is told of one
// several times.
static int allow_descriptors(size_t count) {
    struct rlimit limit;
    rlim_t most = (rlim_t)fibers_descriptors(count);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return nvtxt_origin(-errno);
    }
    if (most <= limit.rlim_cur) {
        return 0;
    }
    limit.rlim_cur = most;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? 0 : nvtxt_origin(-EMFILE);
}

size_t fibers_descriptors(size_t count) {
    return count * FDS_MAX + FDS_OTHERS;
}

int fibers_run(const struct fibers_plan *plan) {
    int r = allow_descriptors(plan->count);
    if (r < 0) {
        return r;
    }
    struct pollfd *fds = calloc(plan->count * FDS_MAX + 1, sizeof(*fds));
    all.plan = plan;
    all.is_deaf = false;
    all.fibers = calloc(plan->count, sizeof(*all.fibers));
    if (!fds || !all.fibers) {
        r = nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; r == 0 && i < plan->count; i++) {
        r = start(&all.fibers[i]);
    }
    if (r == 0) {
        r = take_turns(fds);
    }
    for (size_t i = 0; all.fibers && i < plan->count; i++) {
        if (all.fibers[i].stack) {
            munmap(all.fibers[i].stack, STACK_BYTES);
        }
    }
    free(all.fibers);
    free(fds);
    all.fibers = NULL;
    return r;
}
