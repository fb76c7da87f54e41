// SPDX-License-Identifier: Apache-2.0
//
// Threads lie in slabs of mapped memory that is never given back: a thread that ends leaves its
// entry to the next one. A key of pthread tells of the end of a thread. Rings are numbered; a free
// one is searched from where the last was found.
#include "lib/ring/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ring/catalog.h"

#define SLAB_THREADS 64u
#define OPEN_DEFAULT 65536u // nvtxt(5), "Limits"
#define NAME_BYTES 16u      // of a thread, to the system, with the NUL

enum { LOCKS_RENEWED = 1, LOCKS_GOOD };

static _Atomic uint32_t never_alive;

struct recorder recorder = {
    .alive = &never_alive,
    .push_depth = STACK_LEVELS,
    .open_most = OPEN_DEFAULT,
    .next_range = 3,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

__thread struct thread *thread_self __attribute__((tls_model("initial-exec")));
__thread uint32_t thread_busy __attribute__((tls_model("initial-exec")));

static pthread_key_t end_key;
static bool has_end_key;
static uint32_t next_ring;

// What a thread has while it has no ring: nothing fits in it.
static struct ring_head no_ring;

void recorder_lose(enum region_loss why, uint64_t calls) {
    bool has_region = atomic_load_explicit(&recorder.has_region, memory_order_acquire) &&
                      atomic_load(atomic_load(&recorder.alive));
    atomic_fetch_add_explicit(has_region ? &recorder.region.head->lost[why]
                                         : &recorder.lost_early[why],
                              calls, memory_order_relaxed);
}

uint64_t recorder_recorded(void) {
    uint32_t was_busy = thread_busy;
    uint64_t sum = 0;
    thread_busy = was_busy ?: 1;
    if ((was_busy ? pthread_mutex_trylock(&recorder.lock) : pthread_mutex_lock(&recorder.lock)) ==
        0) {
        sum = atomic_load(&recorder.recorded_before);
        for (struct thread *thread = recorder.threads; thread; thread = thread->next) {
            sum += atomic_load_explicit(&thread->recorded, memory_order_relaxed);
        }
        pthread_mutex_unlock(&recorder.lock);
    }
    thread_busy = was_busy;
    return sum;
}

// ---- Names --------------------------------------------------------------------------------------

// The system calls threads as the program's file, cut, until somebody names them.
static bool is_of(const char *path, const char *name) {
    return path && strncmp(nvtxt_base_name(path), name, NAME_BYTES - 1) == 0;
}

static void name_thread(uint32_t tid, const char *name) {
    if (*name && !is_of((const char *)getauxval(AT_EXECFN), name) &&
        !is_of(program_invocation_short_name, name)) {
        catalog_name_thread(tid, name);
    }
}

void recorder_name_thread(uint32_t tid) {
    char path[64], name[NAME_BYTES + 1];
    snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, name, NAME_BYTES);
    if (fd >= 0) {
        close(fd);
    }
    if (got > 0) {
        name[got - (name[got - 1] == '\n')] = '\0';
        name_thread(tid, name);
    }
}

// A thread that ends. A sender that sleeps is told of a new name.
static void name_self(void) {
    char name[NAME_BYTES];
    uint64_t version = catalog_version();
    if (pthread_getname_np(pthread_self(), name, sizeof(name)) == 0) {
        name_thread((uint32_t)gettid(), name);
    }
    if (catalog_version() != version) {
        thread_leave();
        thread_busy = 1;
    }
}

// ---- Threads that come and go -------------------------------------------------------------------

static void unlink_thread(struct thread *thread) {
    struct thread **at = &recorder.threads;
    while (*at && *at != thread) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = thread->next;
    }
    atomic_fetch_add(&recorder.recorded_before, atomic_load(&thread->recorded));
    stacks_deinit(&thread->stacks);
    thread->next = recorder.free_threads;
    recorder.free_threads = thread;
}

// Runs at the end of a thread.
static void end_thread(void *of) {
    struct thread *thread = of;
    thread_busy = 1;
    if (atomic_load(atomic_load(&recorder.alive))) {
        name_self();
    }
    pthread_mutex_lock(&recorder.lock);
    if (atomic_load(atomic_load(&recorder.alive))) {
        atomic_store_explicit(&thread->writer.head->state, RING_LEFT, memory_order_release);
    }
    unlink_thread(thread);
    pthread_mutex_unlock(&recorder.lock);
    thread_self = NULL;
    thread_busy = 0;
}

void recorder_init(void) {
    has_end_key = has_end_key || pthread_key_create(&end_key, end_thread) == 0;
}

static struct thread *new_thread(void) {
    if (!recorder.free_threads) {
        struct thread *slab = mmap(NULL, SLAB_THREADS * sizeof(*slab), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (slab == MAP_FAILED) {
            return NULL;
        }
        for (uint32_t i = SLAB_THREADS; i-- > 0;) {
            slab[i].next = recorder.free_threads;
            recorder.free_threads = &slab[i];
        }
    }
    struct thread *thread = recorder.free_threads;
    recorder.free_threads = thread->next;
    memset(thread, 0, sizeof(*thread));
    thread->next = recorder.threads;
    recorder.threads = thread;
    if (has_end_key) {
        pthread_setspecific(end_key, thread);
    }
    return thread;
}

// Takes a free ring. Returns its number, or REGION_RINGS when all are in use or there is no memory.
static uint32_t take_ring(void) {
    struct region *region = &recorder.region;
    for (uint32_t i = 0; i < REGION_RINGS; i++) {
        uint32_t ring = (next_ring + i) % REGION_RINGS;
        uint32_t chunk = ring / REGION_CHUNK_RINGS;
        if (!atomic_load(&region->chunks[chunk]) && region_chunk(region, chunk) < 0) {
            return REGION_RINGS;
        }
        if (atomic_load_explicit(&region->rings[ring].state, memory_order_acquire) == RING_FREE) {
            return region_grant_ring(region, ring, 0) < 0 ? REGION_RINGS : ring;
        }
    }
    return REGION_RINGS;
}

static bool give_ring(struct thread *thread, uint32_t tid) {
    uint32_t ring = take_ring();
    if (ring == REGION_RINGS) {
        return false;
    }
    struct ring_head *head = &recorder.region.rings[ring];
    atomic_store_explicit(&head->tid, tid, memory_order_relaxed);
    atomic_store_explicit(&head->state, RING_LIVE, memory_order_release);
    thread->ring = ring;
    thread->open = 0;
    ring_writer_init(&thread->writer, &recorder.region, ring);
    next_ring = ring + 1 < REGION_RINGS && ring + 1 > next_ring ? ring + 1 : next_ring;
    return true;
}

void recorder_free_ring(uint32_t ring) {
    pthread_mutex_lock(&recorder.lock);
    atomic_store_explicit(&recorder.region.rings[ring].state, RING_FREE, memory_order_release);
    next_ring = ring < next_ring ? ring : next_ring;
    pthread_mutex_unlock(&recorder.lock);
}

// The thread of a child that has come along keeps its handles and depths, but has no ring.
static void leave_ring(struct thread *thread) {
    thread->writer = (struct ring_writer){.head = &no_ring, .size = RING_LAP_BYTES};
    stacks_forget_recorded(&thread->stacks);
    atomic_store(&thread->recorded, 0);
    thread->open = 0;
}

// Only the thread that forked is in a child. If a new one records first, nobody knows which of the
// entries is still somebody's: all stay, and one that calls gets its ring then.
static void leave_parent(void) {
    for (struct thread *next, *thread = recorder.threads; thread; thread = next) {
        next = thread->next;
        if (thread_self && thread != thread_self) {
            unlink_thread(thread);
        } else {
            leave_ring(thread);
        }
    }
    atomic_store(&recorder.has_region, false);
    atomic_store(&recorder.recorded_before, 0);
    atomic_store(&recorder.ignored, 0);
    atomic_store(&recorder.begun, 0);
    next_ring = 0;
}

// Under the lock.
static int start_process(bool is_child) {
    if (is_child) {
        leave_parent();
    }
    return recorder.on_start(is_child);
}

// `why` says why not.
static struct thread *begin_locked(enum region_loss *why) {
    _Atomic uint32_t *alive = atomic_load(&recorder.alive);
    bool is_new = !atomic_load(alive);
    *why = LOSS_FULL;
    if (is_new && (!recorder.on_start || start_process(alive != &never_alive) < 0)) {
        return NULL;
    }
    struct thread *thread = thread_self ?: new_thread();
    if (!thread) {
        return NULL;
    }
    if ((is_new || !thread_self) && !give_ring(thread, (uint32_t)gettid())) {
        thread_self = NULL;
        unlink_thread(thread);
        if (has_end_key) {
            pthread_setspecific(end_key, NULL);
        }
        *why = LOSS_THREADS;
        return NULL;
    }
    return thread_self = thread;
}

// In a child that libc did not make, locks may be held by threads that are not there. The first one
// to come makes them anew; the others wait the few instructions.
void recorder_renew_locks(void) {
    _Atomic uint32_t *word = atomic_load(&recorder.alive);
    if (word == &never_alive || atomic_load(&word[1]) == LOCKS_GOOD) {
        return;
    }
    uint32_t expected = 0;
    if (atomic_compare_exchange_strong(&word[1], &expected, LOCKS_RENEWED)) {
        pthread_mutex_init(&recorder.lock, NULL);
        catalog_renew_lock();
        atomic_store(&word[1], LOCKS_GOOD);
    }
    while (atomic_load(&word[1]) != LOCKS_GOOD) {
        sched_yield();
    }
}

static struct thread *begin(enum region_loss *why) {
    int saved = errno;
    recorder_renew_locks();
    pthread_mutex_lock(&recorder.lock);
    struct thread *thread = begin_locked(why);
    pthread_mutex_unlock(&recorder.lock);
    errno = saved;
    return thread;
}

void recorder_leave_region(void) {
    if (!atomic_load(atomic_load(&recorder.alive))) {
        pthread_mutex_lock(&recorder.lock); // nobody makes one meanwhile
        if (!atomic_load(atomic_load(&recorder.alive))) {
            catalog_lock();
            catalog_use(NULL, false);
            catalog_unlock();
        }
        pthread_mutex_unlock(&recorder.lock);
    }
}

struct thread *thread_begin(void) {
    enum region_loss why;
    struct thread *thread = begin(&why);
    if (!thread) {
        recorder_lose(why, 1);
    }
    return thread;
}

void thread_begin_for_name(void) {
    enum region_loss why;
    if (!thread_self || !atomic_load(atomic_load(&recorder.alive))) {
        begin(&why);
    }
}

// ---- Recording ----------------------------------------------------------------------------------

// In a child, for the thread that forked when another one recorded before it.
static bool give_first_ring(struct thread *thread) {
    pthread_mutex_lock(&recorder.lock);
    bool given = give_ring(thread, (uint32_t)gettid());
    pthread_mutex_unlock(&recorder.lock);
    return given;
}

// A ring of a file begins small, and a short program may end before the sender has seen that it
// fills. In a child that goes on with a call of its parent nothing is granted.
static bool grow_ring(struct thread *thread) {
    uint64_t granted = atomic_load_explicit(&thread->writer.head->granted, memory_order_relaxed);
    if (granted == 0 || granted >= thread->writer.size || thread->cannot_grow) {
        return false;
    }
    thread->cannot_grow = region_grant_ring(&recorder.region, thread->ring, 4 * granted) < 0;
    return !thread->cannot_grow;
}

bool thread_record_in_more(struct thread *thread, const struct record_view *view,
                           uint32_t reserve) {
    int saved = errno;
    bool given = thread->writer.head == &no_ring ? give_first_ring(thread) : grow_ring(thread);
    errno = saved;
    return given && thread_record(thread, view, reserve);
}

bool thread_record(struct thread *thread, const struct record_view *view, uint32_t reserve) {
    uint32_t flags = record_flags(view);
    bool has_id = view->kind == RECORD_START || view->kind == RECORD_END;
    uint32_t bytes = record_bytes(has_id, flags, view->text_len, view->json_len);
    char *room = ring_reserve(&thread->writer, bytes, reserve);
    if (!room) {
        return thread_record_in_more(thread, view, reserve);
    }
    record_write(room, view, flags, bytes);
    thread_publish(thread, bytes, view->kind != RECORD_POP && view->kind != RECORD_END);
    return true;
}

// ---- Fork ---------------------------------------------------------------------------------------

// A signal handler that forks in the middle of a call may hold the locks already.
void recorder_before_fork(void) {
    if (!thread_busy) {
        pthread_mutex_lock(&recorder.lock);
        catalog_lock();
    }
}

void recorder_after_fork(void) {
    if (!thread_busy) {
        catalog_unlock();
        pthread_mutex_unlock(&recorder.lock);
    }
}

// The call that a handler has interrupted goes on in the child, in memory that nobody reads.
void recorder_in_child(void) {
    _Atomic uint32_t *word = atomic_load(&recorder.alive);
    if (word != &never_alive) { // also where the kernel does not wipe
        atomic_store(&word[0], 0);
        atomic_store(&word[1], 0);
        atomic_store(&recorder.attention, 0); // of the parent's sender
        recorder_renew_locks();
    } else {
        recorder_after_fork();
    }
    for (int why = 0; why < LOSSES; why++) {
        atomic_store(&recorder.lost_early[why], 0); // the parent tells its own
    }
    atomic_store(&recorder.ignored, 0);
    if (thread_busy) {
        region_cover(&recorder.region);
    }
}

_Atomic uint32_t *recorder_make_word(void) {
    _Atomic uint32_t *word =
        mmap(NULL, REGION_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (word == MAP_FAILED) {
        return NULL;
    }
    madvise(word, REGION_PAGE, MADV_WIPEONFORK); // refused: recorder_in_child() clears it
    return word;
}

void recorder_set_alive(_Atomic uint32_t *word) {
    atomic_store(&word[1], LOCKS_GOOD);
    atomic_store(&word[0], 1);
    atomic_store_explicit(&recorder.alive, word, memory_order_release);
}
