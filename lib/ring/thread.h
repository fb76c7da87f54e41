// SPDX-License-Identifier: Apache-2.0
//
// lib/ring: what a process records, from the call to the line, in memory. The lead is here: the
// recorder of the process and its threads. A thread that calls for the first time gets a ring; from
// then on a call is a store into it. Nothing in this room speaks to the daemon or reads the
// environment.
//
// A call looks at one word of a page that the kernel clears in every child, however it was made
// (MADV_WIPEONFORK). 0 means: first call of this process. What is under way in a thread is marked
// by `thread_busy`, so that a signal handler, an allocator or our own set-up that calls again is
// dropped and counted instead of waiting for itself.
#pragma once

#include <pthread.h>
#include <stdalign.h>

#include "lib/ring/ring.h"
#include "lib/ring/stacks.h"
#include "protocol/base/slice.h"

struct thread {
    struct ring_writer writer;
    uint32_t ring, open;       // its ring's number; recorded levels that are open, over all stacks
    _Atomic uint64_t recorded; // marks and ranges
    struct stacks stacks;
    struct thread *next; // of all that are in use, or of those that are free
    bool cannot_grow;    // the file of its ring has no more room
};

enum {
    RECORDER_ASLEEP = 1,    // the sender sleeps: wake it
    RECORDER_NO_SENDER = 2, // there is none: make one when it is time
    RECORDER_CALLS = RECORDER_ASLEEP | RECORDER_NO_SENDER, // what each call looks for
    RECORDER_DOZES = 4, // the sender waits a moment: who fills half a ring wakes it
    RECORDER_RESTS = 8  // the sender waits, and no call wakes it
};

struct recorder {
    _Atomic(_Atomic uint32_t *) alive; // the word, and the state of the locks; a 0 at first
    _Atomic uint32_t attention;        // of RECORDER_*; 0: calls need do nothing
    _Atomic uint32_t push_depth;       // the daemon's limits
    _Atomic uint64_t open_most;
    alignas(64) _Atomic uint64_t next_range; // odd; this line is written by all threads
    _Atomic uint64_t begun;                  // start/end ranges that were recorded
    _Atomic uint64_t ignored;
    alignas(64) _Atomic uint64_t lost_early[LOSSES]; // while there is no region
    _Atomic uint64_t recorded_before;                // by threads that have ended
    struct region region;
    _Atomic bool has_region;
    pthread_mutex_t lock; // of the list of threads, of rings that change hands, and of set-up
    struct thread *threads, *free_threads;

    // Set by who starts the process's recording. Makes region, sender and the word; called under
    // `lock`, in each process once until it returns 0. `is_child`: not the process that set it.
    int (*on_start)(bool is_child);
    // The sender needs a hand: `attention` is not 0. Called with no lock, as a part of a call.
    void (*on_attention)(uint32_t attention);
};

extern struct recorder recorder;
extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

// 1 in a call; then the pushes of signal handlers count THREAD_LOST_PUSH each until their pop.
extern __thread uint32_t thread_busy __attribute__((tls_model("initial-exec")));
#define THREAD_LOST_PUSH 2u

// Before the first call, once: the key that tells of the end of a thread, with a low number, since
// libc allocates for high ones.
void recorder_init(void);

// Before the catalog is used: in a child that has made no region yet, the catalog must not write
// into that of its parent, which is not there.
void recorder_leave_region(void);

// Counts calls that were not recorded.
void recorder_lose(enum region_loss why, uint64_t calls);

// The slow ways in: first call of a thread or process. NULL: this call is not recorded, and that
// is counted.
struct thread *thread_begin(void);

// The same for a call that is no event: nothing is counted. Within a call.
void thread_begin_for_name(void);

// Before a lock is taken: in a child the locks may be held by threads that it does not have.
void recorder_renew_locks(void);

// Begins a call. NULL: the call is lost, and counted. Else thread_leave() must follow.
static inline struct thread *thread_enter(void) {
    if (__builtin_expect(thread_busy, 0)) {
        recorder_lose(LOSS_REENTRANT, 1);
        return NULL;
    }
    thread_busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    _Atomic uint32_t *alive = atomic_load_explicit(&recorder.alive, memory_order_acquire);
    struct thread *thread = thread_self;
    if (__builtin_expect(!thread || !atomic_load_explicit(alive, memory_order_acquire), 0)) {
        thread = thread_begin();
        if (!thread) {
            thread_busy = 0;
        }
    }
    return thread;
}

static inline void thread_leave(void) {
    atomic_signal_fence(memory_order_seq_cst);
    thread_busy = 0;
    uint32_t attention = atomic_load_explicit(&recorder.attention, memory_order_relaxed);
    if (__builtin_expect((attention & RECORDER_CALLS) != 0, 0)) {
        thread_busy = 1;
        recorder.on_attention(attention);
        thread_busy = 0;
    }
}

// Records what `view` says. Returns false when there was no room; `reserve` is how many pops must
// fit behind it. The text lies in memory of the caller's.
bool thread_record(struct thread *thread, const struct record_view *view, uint32_t reserve);

// The same where the writer found no room: in a ring that is given now, or has grown.
bool thread_record_in_more(struct thread *thread, const struct record_view *view, uint32_t reserve);

// A record is whole, which counts if it is a mark or a range. Only where the writer looked at the
// reader can the ring be half full.
static inline void thread_publish(struct thread *thread, uint32_t bytes, bool counts) {
    struct ring_writer *writer = &thread->writer;
    ring_publish(writer, bytes);
    uint64_t recorded = atomic_load_explicit(&thread->recorded, memory_order_relaxed);
    atomic_store_explicit(&thread->recorded, recorded + counts, memory_order_relaxed);
    if (__builtin_expect(writer->at > writer->easy, 0) && ring_is_half_full(writer) &&
        atomic_load_explicit(&recorder.attention, memory_order_relaxed) & RECORDER_DOZES) {
        recorder.on_attention(RECORDER_DOZES);
    }
}

// Records a push that bears nothing but a text of at most RECORD_TEXT_MAX bytes, and no domain:
// most of them.
static inline bool thread_record_push(struct thread *thread, struct nvtxt_slice text, uint64_t time,
                                      uint32_t reserve) {
    uint32_t len = (uint32_t)text.len, flags = len > 0 ? RECORD_HAS_TEXT : 0;
    uint32_t bytes = record_bytes(false, flags, len, 0);
    char *room = ring_reserve(&thread->writer, bytes, reserve);
    if (!room) {
        struct record_view view = {
            .kind = RECORD_PUSH, .time = time, .text = text.data, .text_len = len};
        return thread_record_in_more(thread, &view, reserve);
    }
    *(struct record *)room = (struct record){RECORD_PUSH, (uint8_t)flags, 0, bytes, time};
    if (len > 0) {
        memcpy(room + sizeof(struct record), (const uint32_t[]){len, 0}, 8);
        record_put_text(room + sizeof(struct record) + 8, text.data, len);
    }
    thread_publish(thread, bytes, true);
    return true;
}

// A pop without JSON.
static inline bool thread_record_pop(struct thread *thread, uint32_t domain, uint64_t time,
                                     uint32_t reserve) {
    char *room = ring_reserve(&thread->writer, RECORD_POP_BYTES, reserve);
    if (room) {
        *(struct record *)room =
            (struct record){RECORD_POP, 0, (uint16_t)domain, RECORD_POP_BYTES, time};
        ring_publish(&thread->writer, RECORD_POP_BYTES);
    }
    return room != NULL;
}

// Gives a thread of this process the name that the system has for it, where that is not the
// program's and nobody has named the thread. Opens a file for a moment.
void recorder_name_thread(uint32_t tid);

// The ring of a thread that has ended and that a pass has emptied may be used again.
void recorder_free_ring(uint32_t ring);

// Marks and ranges recorded by all threads so far. 0 when a call that this one interrupts holds the
// lock.
uint64_t recorder_recorded(void);

// For fork: holds the locks over it; in the parent, in the child. The region is replaced by private
// memory in the child if a handler has forked in the middle of a call.
void recorder_before_fork(void);
void recorder_after_fork(void);
void recorder_in_child(void);

// The page whose first word is `alive`: wiped in every child, by the kernel or, where it cannot, by
// recorder_in_child(). NULL without memory. The recording goes on once recorder_set_alive() was
// called.
_Atomic uint32_t *recorder_make_word(void);
void recorder_set_alive(_Atomic uint32_t *word);
