// SPDX-License-Identifier: Apache-2.0
//
// A handler interrupts its thread anywhere, also in the middle of malloc(); what allocates must not
// be called in it. The mask of signals does not tell: threads block signals for good, and a handler
// may have none blocked. The stack does. When a handler begins, the kernel writes the registers of
// what was interrupted behind the frames of the handler: what lies between here and the end of the
// stack is searched for them. On x86-64 they are a ucontext behind the handler's return address, on
// arm64 they hold the mark of the floating-point registers.
//
// The end of the stack is known: a thread's own description lies behind its stack, and the random
// bytes of the kernel behind that of the first thread. On another stack (a coroutine's) the search
// ends where the memory does. A handler that has gone on there would not be found, so a signal with
// a handler must not be blocked. The memory is read by the kernel (process_vm_readv), which answers
// with an error where a load would kill the program.
//
// Where the stack says nothing, on other processors or under a filter of system calls, the call is
// outside when no signal has a handler, none is blocked, and the alternate stack is not in use.
//
// An old frame can lie in an array that nobody has written yet. So an answer "may be in one" can be
// wrong; it costs that the call after it is asked again. Nothing here allocates or takes a lock.
#include "lib/life.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_MOST (8u << 20) // what the calls of one handler take at most: all of a usual stack
#define PAGE_BYTES 4096u      // the smallest one: the kernel is asked for so much at once
#define PAGES 4u

enum look {
    LOOK_FRAME, // there is the frame of a handler
    LOOK_CLEAR, // there is none up to the end of the thread's stack
    LOOK_OTHER, // there is none, on a stack that is not the thread's
    LOOK_BLIND  // the stack cannot be read, or says nothing
};

// ---- What the kernel writes ---------------------------------------------------------------------

#if defined(__x86_64__) && defined(__LP64__)

#define FRAMES_ARE_KNOWN 1
#define FLAGS_MOST 0xffu   // uc_flags; three are known
#define CODE_SEGMENT 0x33u // of programs of 64 bits
#define CODE_SEGMENT_XEN 0xe033u
#define STATE_MOST (64u << 10) // from the frame to the floating-point registers

struct frame {
    uintptr_t back; // where the handler returns to
    ucontext_t context;
};
#define FRAME_BYTES offsetof(struct frame, context.uc_sigmask)

static bool is_frame(const void *copy, uintptr_t at) {
    struct frame frame;
    memcpy(&frame, copy, FRAME_BYTES);
    const mcontext_t *registers = &frame.context.uc_mcontext;
    uint64_t segment = (uint64_t)registers->gregs[REG_CSGSFS] & 0xffffffffffff; // gs, fs are 0
    uintptr_t state = (uintptr_t)registers->fpregs;
    return (segment == CODE_SEGMENT || segment == CODE_SEGMENT_XEN) && frame.back &&
           frame.context.uc_flags <= FLAGS_MOST && !frame.context.uc_link &&
           registers->gregs[REG_RSP] && registers->gregs[REG_RIP] && state > at &&
           state - at < STATE_MOST && state % 16 == 0;
}

#elif defined(__aarch64__)

#define FRAMES_ARE_KNOWN 1
#define FRAME_BYTES sizeof(uint64_t)
#define STATE_MARK UINT64_C(0x0000021046508001) // FPSIMD_MAGIC, and the size of what it stands for

static bool is_frame(const void *copy, uintptr_t at) {
    uint64_t word;
    memcpy(&word, copy, sizeof(word));
    return at % 16 == 0 && word == STATE_MARK;
}

#else

#define FRAMES_ARE_KNOWN 0
#define FRAME_BYTES sizeof(uint64_t)

static bool is_frame(const void *copy, uintptr_t at) {
    (void)copy;
    (void)at;
    return false;
}

#endif

// ---- The stack ----------------------------------------------------------------------------------

// Not on the stack: a copy there would be found by the next look.
static uint64_t words[PAGES * PAGE_BYTES / sizeof(uint64_t)];

// Copies memory to `words`, up to the first page that is not there. Returns how many bytes, or -1.
static ssize_t copy(uintptr_t at, size_t bytes) {
    struct iovec to = {words, bytes}, from[PAGES + 1];
    unsigned long count = 0;
    for (size_t done = 0; done < bytes; count++) {
        size_t piece = PAGE_BYTES - (at + done) % PAGE_BYTES;
        piece = piece < bytes - done ? piece : bytes - done;
        from[count] = (struct iovec){(void *)(at + done), piece};
        done += piece;
    }
    return process_vm_readv(getpid(), &to, 1, from, count, 0);
}

// The first address that is behind all frames of the thread.
static uintptr_t stack_end(uintptr_t from) {
    uintptr_t self = (uintptr_t)pthread_self();
    return from < self ? self : (uintptr_t)getauxval(AT_RANDOM);
}

static enum look search(uintptr_t from) {
    uintptr_t end = stack_end(from), most = from + STACK_MOST;
    const bool ends = end > from && end <= most;
    const uintptr_t until = ends ? end : most;
    for (uintptr_t at = from; at < until; at += sizeof(words) - FRAME_BYTES) {
        size_t wanted = until - at < sizeof(words) ? until - at : sizeof(words);
        ssize_t got = copy(at, wanted);
        if (got < 0 && at == from) {
            return LOOK_BLIND;
        }
        for (size_t i = 0; (ssize_t)(i + FRAME_BYTES) <= got; i += sizeof(*words)) {
            if (is_frame((const char *)words + i, at + i)) {
                return LOOK_FRAME;
            }
        }
        if (got < (ssize_t)wanted) {
            return LOOK_OTHER;
        }
    }
    return ends ? LOOK_CLEAR : LOOK_OTHER;
}

static bool is_on_alternate_stack(void) {
    stack_t stack;
    return sigaltstack(NULL, &stack) == 0 && stack.ss_flags & SS_ONSTACK;
}

// ---- Signals ------------------------------------------------------------------------------------

// A handler that was for one time is gone from the table, but not its flag.
static bool has_handler(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 &&
           (action.sa_flags & (int)SA_RESETHAND ||
            (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN));
}

static bool is_blocked(const sigset_t *mask, int number) {
    return sigismember(mask, number) == 1;
}

static bool a_handler_is_blocked(const sigset_t *mask) {
    for (int i = 1; i < NSIG; i++) {
        if (is_blocked(mask, i) && has_handler(i)) {
            return true;
        }
    }
    return false;
}

static bool no_handler_can_be(const sigset_t *mask) {
    for (int i = 1; i < NSIG; i++) {
        if (is_blocked(mask, i) || has_handler(i)) {
            return false;
        }
    }
    return true;
}

// ---- Both ---------------------------------------------------------------------------------------

static __attribute__((noinline)) bool is_out(enum handler_trust trust, uintptr_t from) {
    sigset_t mask;
    if (is_on_alternate_stack()) {
        return false;
    }
    enum look look = FRAMES_ARE_KNOWN ? search(from) : LOOK_BLIND;
    if (look == LOOK_FRAME || look == LOOK_CLEAR || trust == HANDLER_PROMISE) {
        return look != LOOK_FRAME;
    }
    return pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0 &&
           (look == LOOK_OTHER ? !a_handler_is_blocked(&mask) : no_handler_can_be(&mask));
}

// What is_out() needs on the stack lies before what it searches.
__attribute__((noinline)) bool handler_is_out(enum handler_trust trust) {
    bool out = is_out(trust, (uintptr_t)__builtin_frame_address(0));
    __asm__ volatile("" ::: "memory"); // so it is called and not jumped to
    return out;
}
