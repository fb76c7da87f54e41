// SPDX-License-Identifier: Apache-2.0
//
// A turn of the thread: a pass; then the session does what it can without waiting; then it waits.
// What it waits for decides how. For calls to come: while there are any it looks every 10 ms, in
// the first second every ms, and the writer of a ring that is half full wakes it. For the daemon:
// in poll(), when somebody waits for the daemon or the socket is full; else acknowledgements may
// wait until it looks, less and less often. When all is quiet it sleeps: it sets `attention`, makes
// sure that every thread sees that (membarrier), looks once more and waits in a futex, from which
// the next call wakes it. Only every 20 s it looks whether the daemon is still there, so that a
// session does not expire because its program has nothing to say.
#include "lib/send/sender.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "protocol/base/clock.h"
#include "protocol/base/origin.h"

#define STACK_BYTES (128u << 10)
#define TRAFFIC_MS 10
#define YOUNG_TRAFFIC_MS 1
#define YOUNG_MS 1000    // so long after its start: a short program may end without telling libc
#define FULL_SOCKET_MS 2 // while calls come
#define ACK_MS_FIRST 10
#define ACK_MS_MOST 1000
#define QUIET_MS 20000
#define NO_BARRIER_MS 100
#define GREETING_MS 100
#define LIMITS_MS 20 // the first lines wait so long for what the daemon says of its limits
#define MS INT64_C(1000000)

// What the thread knows and nobody else: mapped memory, since the program may be inside of malloc.
struct sender_work {
    struct session session;
    struct pass pass;
    int64_t ack_ms;  // the next time that it waits for an acknowledgement
    int64_t stop_at; // when it gives up, in ns; 0: never
    int64_t old_at;  // when the process has shown that it is no short one
    uint64_t names;
    uint32_t named[REGION_RINGS]; // the thread of each ring that got its system's name
    int64_t offset_at;
    bool has_barrier;
    bool has_named; // the threads that the process ends with
    bool has_all;   // the last pass was made
};

// ---- Time and waiting ---------------------------------------------------------------------------

static void futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t timeout_ns) {
    struct timespec timeout = nvtxt_timespec(timeout_ns);
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout_ns < 0 ? NULL : &timeout, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word) {
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    errno = saved;
}

static void tell_progress(struct sender *sender) {
    atomic_fetch_add(&sender->progress, 1);
    if (atomic_load(&sender->waiting) > 0) {
        futex_wake(&sender->progress);
    }
}

void sender_wake(struct sender *sender) {
    uint32_t flags = sender->asleep | sender->dozes | sender->rests;
    if (atomic_fetch_and(sender->attention, ~flags) & flags) {
        futex_wake(sender->attention);
    }
}

// The narrowest of a few readings of the one clock between two of the other.
static int64_t measure_offset(void) {
    int64_t best = INT64_MAX, offset = 0;
    for (int i = 0; i < 5; i++) {
        int64_t before = nvtxt_monotonic_ns(), real = nvtxt_realtime_ns(),
                after = nvtxt_monotonic_ns();
        if (after - before < best) {
            best = after - before;
            offset = real - before - (after - before) / 2;
        }
    }
    return offset;
}

// The offset is kept until it differs by more than a millisecond, which is a step of the clock and
// no drift.
static void check_offset(struct sender *sender) {
    struct sender_work *work = sender->work;
    struct region_head *head = sender->region->head;
    int64_t offset = measure_offset(), difference = offset - atomic_load(&head->offset_ns);
    if (difference > 1000000 || difference < -1000000) {
        atomic_store(&head->offset_ns, offset);
        work->pass.offset_ns = offset;
    }
    work->offset_at = nvtxt_monotonic_ns() + 1000000000;
}

// ---- Turns --------------------------------------------------------------------------------------

// A thread gets the name that it has now when its first events are sent. It may have another one
// later: a thread that ends looks itself, and those that the process ends with are looked at here.
static void name_threads(struct sender *sender) {
    struct sender_work *work = sender->work;
    const struct region *region = sender->region;
    bool is_ending = atomic_load(&sender->is_ending) && !work->has_named;
    uint32_t rings = atomic_load(&region->head->chunks) * REGION_CHUNK_RINGS;
    for (uint32_t i = 0; i < rings && work->session.link.is_private; i++) {
        const struct ring_head *ring = &region->rings[i];
        bool is_live = atomic_load_explicit(&ring->state, memory_order_acquire) == RING_LIVE;
        uint32_t tid = atomic_load_explicit(&ring->tid, memory_order_relaxed);
        if (is_live && (is_ending || (tid != work->named[i] &&
                                      atomic_load(&ring->at) != region_tail(region, i)))) {
            work->named[i] = tid;
            sender->options.name_thread(tid);
        }
    }
    work->has_named = work->has_named || is_ending;
}

static struct pass_result make_lines(struct sender *sender) {
    struct sender_work *work = sender->work;
    if (nvtxt_monotonic_ns() > work->offset_at) {
        check_offset(sender);
    }
    name_threads(sender);
    uint64_t names = sender->options.names_version();
    struct pass_result result =
        pass_run(&work->pass, names != work->names, sender->options.on_empty);
    if (!result.is_full) {
        work->names = names;
        atomic_fetch_add(&sender->passes, 1);
    }
    atomic_store(&sender->ignored, work->pass.ignored);
    atomic_store(&sender->lines_made, work->pass.next.lines);
    return result;
}

// Lines are cut for the limits of the daemon, so the first ones wait a moment for its welcome, if
// no ring fills meanwhile.
static bool waits_for_limits(struct sender *sender) {
    const struct session *session = &sender->work->session;
    return !session->knows_limits && session->phase == SESSION_HELLO &&
           nvtxt_monotonic_ns() - session->hello_at < LIMITS_MS * MS &&
           !pass_should_hurry(&sender->work->pass);
}

static void turn_session(struct sender *sender, bool is_ending) {
    struct session *session = &sender->work->session;
    uint64_t acked = session->pass->next.acked_lines;
    session_turn(session, is_ending);
    if (session->pass->next.acked_lines != acked) {
        sender->work->ack_ms = ACK_MS_FIRST;
    }
    atomic_store(&sender->lines_sent, session->sent_lines);
    atomic_store(&sender->lines_acked, session->pass->next.acked_lines);
    atomic_store(&sender->is_connected, session->phase == SESSION_LINES);
}

// ---- Waiting ------------------------------------------------------------------------------------

static bool is_awaited(struct sender *sender) {
    return atomic_load(&sender->waiting) > 0 || atomic_load(&sender->is_ending);
}

// Waits in the futex, unless somebody has begun to wait for us.
static void rest(struct sender *sender, uint32_t flag, int64_t timeout_ms) {
    flag |= sender->rests;
    uint32_t value = atomic_fetch_or(sender->attention, flag) | flag;
    if (!is_awaited(sender)) {
        futex_wait(sender->attention, value, timeout_ms * MS);
    }
    atomic_fetch_and(sender->attention, ~flag);
}

// Nothing is to be done until a call comes, or for `timeout_ms`. Returns what the last look found.
static struct pass_result sleep_quietly(struct sender *sender, int64_t timeout_ms) {
    struct sender_work *work = sender->work;
    atomic_fetch_or(sender->attention, sender->asleep);
    if (work->has_barrier && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) < 0) {
        work->has_barrier = false;
    }
    atomic_thread_fence(memory_order_seq_cst);
    struct pass_result result = make_lines(sender);
    uint32_t value = atomic_load(sender->attention);
    if (!result.moved && !is_awaited(sender) && value & sender->asleep) {
        bool is_long = !work->has_barrier && timeout_ms > NO_BARRIER_MS;
        futex_wait(sender->attention, value, (is_long ? NO_BARRIER_MS : timeout_ms) * MS);
    }
    atomic_fetch_and(sender->attention, ~sender->asleep);
    return result;
}

static int64_t until_stop(const struct sender_work *work, int64_t wait_ms) {
    int64_t left_ms = work->stop_at ? (work->stop_at - nvtxt_monotonic_ns()) / MS + 1 : wait_ms;
    return left_ms < 0 ? 0 : nvtxt_earlier(wait_ms, left_ms);
}

static bool must_stop(const struct sender_work *work) {
    return work->stop_at && nvtxt_monotonic_ns() >= work->stop_at;
}

// How long it may be until something is to be done for the daemon.
static int64_t daemon_ms(struct sender_work *work) {
    const struct session *session = &work->session;
    if (session->phase == SESSION_AWAY) {
        int64_t until = (session->retry_at - nvtxt_monotonic_ns()) / MS + 1;
        return until < 1 ? 1 : until;
    }
    if (session->phase == SESSION_LINES && !session_has_unacked(session)) {
        return QUIET_MS;
    }
    int64_t wait_ms = work->ack_ms;
    work->ack_ms = nvtxt_earlier(2 * wait_ms, ACK_MS_MOST);
    return wait_ms;
}

// How long poll() may take, which no call can end; 0: it is not for us.
static int64_t poll_ms(struct sender *sender, struct pass_result found) {
    const struct sender_work *work = sender->work;
    const struct session *session = &work->session;
    if (session->phase == SESSION_AWAY) {
        return 0;
    }
    if (waits_for_limits(sender)) {
        return 1;
    }
    if (work->has_all) {
        return ACK_MS_MOST; // no call counts any more
    }
    if (found.moved && session_wants_room(session)) {
        return FULL_SOCKET_MS;
    }
    bool is_greeting = session->phase == SESSION_HELLO &&
                       nvtxt_monotonic_ns() - session->hello_at < GREETING_MS * MS;
    return is_greeting || found.is_full || is_awaited(sender) ? TRAFFIC_MS : 0;
}

static int64_t traffic_ms(const struct sender_work *work) {
    return nvtxt_monotonic_ns() < work->old_at ? YOUNG_TRAFFIC_MS : TRAFFIC_MS;
}

// Waits after a turn.
static void wait_awhile(struct sender *sender, struct pass_result found) {
    struct sender_work *work = sender->work;
    bool traffic = found.moved || (found.is_full && work->session.phase != SESSION_AWAY);
    int64_t most_ms = traffic ? traffic_ms(work) : daemon_ms(work),
            to_poll_ms = poll_ms(sender, found);
    work->ack_ms = traffic ? ACK_MS_FIRST : work->ack_ms;
    if (to_poll_ms > 0) {
        link_wait(&work->session.link, session_wants_room(&work->session),
                  (int)until_stop(work, to_poll_ms));
    } else if (is_awaited(sender)) {
        nanosleep(&(struct timespec){0, until_stop(work, nvtxt_earlier(most_ms, TRAFFIC_MS)) * MS},
                  NULL);
    } else if (traffic || found.is_full) {
        rest(sender, found.is_full ? 0 : sender->dozes, most_ms);
    } else {
        sleep_quietly(sender, most_ms);
    }
}

static void run_sender(struct sender *sender) {
    struct sender_work *work = sender->work;
    turn_session(sender, false);
    while (work->session.phase != SESSION_OVER && !must_stop(work)) {
        bool is_ending = atomic_load(&sender->is_ending);
        struct pass_result found = {0};
        if (!work->has_all && (is_ending || !waits_for_limits(sender))) {
            bool was_empty = !session_has_unacked(&work->session);
            found = make_lines(sender);
            work->has_all = is_ending && (!found.is_full || (was_empty && !found.moved));
        }
        turn_session(sender, is_ending);
        if (work->has_all) {
            session_end(&work->session);
        }
        tell_progress(sender);
        if (!found.hurry && work->session.phase != SESSION_OVER) {
            wait_awhile(sender, found);
        }
    }
    link_close(&work->session.link);
    atomic_store(&sender->is_complete, !session_has_unacked(&work->session) && work->has_all);
    atomic_store(&sender->is_done, true);
    tell_progress(sender);
}

static void begin(struct sender *sender, bool is_thread) {
    struct sender_work *work = sender->work;
    work->ack_ms = ACK_MS_FIRST;
    work->old_at = nvtxt_monotonic_ns() + YOUNG_MS * MS;
    work->names = UINT64_MAX;
    pass_init(&work->pass, sender->region);
    work->pass.is_live = true;
    session_init(&work->session, &work->pass, &sender->options, is_thread);
    check_offset(sender);
}

static void *thread_main(void *of) {
    struct sender *sender = of;
    prctl(PR_SET_NAME, "nvtxt");
    begin(sender, true);
    sender->work->has_barrier =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    run_sender(sender);
    return NULL;
}

void sender_prepare(struct sender *sender) {
    struct region_head *head = sender->region->head;
    struct region_session session = {.first = 0};
    atomic_store(&head->offset_ns, measure_offset());
    snprintf(head->name, sizeof(head->name), "%s", sender->options.name);
    snprintf(head->parent, sizeof(head->parent), "%s", sender->options.parent);
    atomic_store(&head->expiry, sender->options.expiry);
    head->levels = sender->options.levels;
    session_make_id(session.id);
    region_set_session(sender->region, &session);
}

// A program with large thread-local variables needs a larger stack: then as large as its own.
static int make_thread(struct sender *sender, size_t stack_bytes) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) {
        return nvtxt_origin(-ENOMEM);
    }
    if (stack_bytes) {
        pthread_attr_setstacksize(&attributes, stack_bytes);
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int r = pthread_create(&thread, &attributes, thread_main, sender);
    pthread_attr_destroy(&attributes);
    return nvtxt_origin(-r);
}

static int make_work(struct sender *sender) {
    sender->work = mmap(NULL, sizeof(*sender->work), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sender->work == MAP_FAILED) {
        return nvtxt_origin(-ENOMEM);
    }
    madvise(sender->work, sizeof(*sender->work), MADV_DONTFORK);
    return 0;
}

int sender_start(struct sender *sender) {
    sigset_t all, before;
    if (make_work(sender) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = make_thread(sender, STACK_BYTES);
    r = r == -EINVAL ? make_thread(sender, 0) : r;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r < 0) {
        munmap(sender->work, sizeof(*sender->work));
    }
    return r;
}

// A handler that forks must not interrupt it: the child would have none of this memory.
bool sender_end_here(struct sender *sender, int64_t until_ns) {
    sigset_t all, before;
    if (make_work(sender) < 0) {
        return false;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    begin(sender, false);
    sender->work->stop_at = until_ns;
    atomic_store(&sender->is_ending, true);
    run_sender(sender);
    munmap(sender->work, sizeof(*sender->work));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return atomic_load(&sender->is_complete);
}

// ---- For other threads --------------------------------------------------------------------------

// Waits for a condition that the sender's progress may bring about.
static bool wait_until(struct sender *sender, int64_t until_ns,
                       bool (*is_so)(struct sender *, uint64_t), uint64_t value) {
    bool so;
    atomic_fetch_add(&sender->waiting, 1);
    sender_wake(sender);
    for (;;) {
        uint32_t progress = atomic_load(&sender->progress);
        so = is_so(sender, value);
        int64_t left = until_ns - nvtxt_monotonic_ns();
        if (so || left <= 0) {
            break;
        }
        futex_wait(&sender->progress, progress, left);
    }
    atomic_fetch_sub(&sender->waiting, 1);
    return so;
}

static bool has_passed(struct sender *sender, uint64_t passes) {
    return atomic_load(&sender->passes) >= passes || atomic_load(&sender->is_done);
}

static bool has_acked(struct sender *sender, uint64_t lines) {
    return atomic_load(&sender->lines_acked) >= lines || atomic_load(&sender->is_done);
}

static bool has_ended(struct sender *sender, uint64_t unused) {
    (void)unused;
    return atomic_load(&sender->is_done);
}

int sender_flush(struct sender *sender, int64_t until_ns) {
    uint64_t passes = atomic_load(&sender->passes) + 2; // one may have begun before the call
    if (wait_until(sender, until_ns, has_passed, passes)) {
        uint64_t lines = atomic_load(&sender->lines_made);
        if (wait_until(sender, until_ns, has_acked, lines) &&
            atomic_load(&sender->lines_acked) >= lines) {
            return 0;
        }
    }
    return atomic_load(&sender->is_connected) ? nvtxt_origin(-ETIMEDOUT) : nvtxt_origin(-ENOTCONN);
}

bool sender_end(struct sender *sender, int64_t until_ns) {
    atomic_store(&sender->is_ending, true);
    return wait_until(sender, until_ns, has_ended, 0) && atomic_load(&sender->is_complete);
}
