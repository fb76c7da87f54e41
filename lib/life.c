// SPDX-License-Identifier: Apache-2.0
//
// The first event makes the region and the sender, in a child as in its parent. What cannot be made
// is tried again a second later; until then calls are counted as dropped. In a signal handler no
// thread is started, because that allocates: what is recorded waits in the ring until a call that
// is surely outside starts the sender. The destructor ends the session; it waits as long as it may,
// and no longer. Where there is no sender by then, it does the sender's work itself.
#include "lib/life.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/options.h"
#include "lib/ring/thread.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"

#define RETRY_NS 1000000000
#define EXPIRY_WITHOUT_SPOOL 60u // seconds; ten thousand short programs must not fill a quota

struct sender life_sender;

static _Atomic int64_t retry_at;
static _Atomic bool has_begun, has_ended;
static pid_t owner; // the process that the region and the sender are of

bool life_has_begun(void) {
    return has_begun;
}

static void remember_limits(uint64_t push_depth, uint64_t open_ranges) {
    if (push_depth > 0 && push_depth < STACK_LEVELS) {
        atomic_store(&recorder.push_depth, (uint32_t)push_depth);
    }
    if (open_ranges > 0 && open_ranges < REGION_OPEN) {
        atomic_store(&recorder.open_most, open_ranges);
    }
}

// What the first events need, so that a folder that is full is known now.
static int touch_first(void) {
    struct region *region = &recorder.region;
    int r = region_chunk(region, 0);
    r = r ?: region_grant_ring(region, 0, 0);
    return r ?: region_grant_window(region, LINES_BYTES);
}

// A file of the spool folder, which must be one's own.
static int make_file(void) {
    struct stat folder;
    char path[REGION_PATH];
    if (stat(lib_options.spool, &folder) < 0) {
        return nvtxt_origin(-errno);
    }
    if (folder.st_uid != geteuid()) {
        return nvtxt_origin(-EPERM);
    }
    int len = snprintf(path, sizeof(path), "%s/nvtxt-%u-%llx.ring", lib_options.spool,
                       (unsigned)getpid(), (unsigned long long)nvtxt_monotonic_ns());
    if ((size_t)len >= sizeof(path)) {
        return nvtxt_origin(-ENAMETOOLONG);
    }
    int r = region_make(&recorder.region, path, lib_options.ring_bytes, lib_options.window_bytes);
    if (r == 0 && (r = touch_first()) < 0) {
        unlink(path);
        region_unmap(&recorder.region);
    }
    return r;
}

static int use_region(bool is_child) {
    catalog_lock();
    int r = catalog_use(&recorder.region, is_child);
    catalog_unlock();
    return r;
}

static int make_region(bool is_child) {
    struct region *region = &recorder.region;
    int r = *lib_options.spool ? make_file() : nvtxt_origin(-ENOENT);
    if (r == 0 && (r = use_region(is_child)) < 0) {
        unlink(region->path);
        region_unmap(region);
    }
    if (r == 0) {
        return 0;
    }
    if (*lib_options.spool) {
        options_log("cannot keep rings in %s (error %d); they are kept in memory",
                    lib_options.spool, -r);
    }
    r = region_make(region, NULL, lib_options.ring_bytes, lib_options.window_bytes);
    return r ?: use_region(is_child);
}

static void prepare_sender(void) {
    memset(&life_sender, 0, sizeof(life_sender));
    struct sender_options *options = &life_sender.options;
    options->path_count = options_paths(options->paths);
    strcpy(options->name, lib_options.name);
    strcpy(options->parent, lib_options.parent);
    options->levels = lib_options.levels;
    options->expiry = recorder.region.is_file ? 0 : EXPIRY_WITHOUT_SPOOL;
    options->logs_to_stderr = strcmp(lib_options.log, "stderr") == 0;
    options->names_version = catalog_version;
    options->name_thread = recorder_name_thread;
    options->on_empty = recorder_free_ring;
    options->log = options_log;
    options->on_limits = remember_limits;
    life_sender.region = &recorder.region;
    life_sender.attention = &recorder.attention;
    life_sender.asleep = RECORDER_ASLEEP;
    life_sender.dozes = RECORDER_DOZES;
    life_sender.rests = RECORDER_RESTS;
    sender_prepare(&life_sender);
}

// Under the recorder's lock, when there is no sender.
static void start_sender(enum handler_trust trust) {
    if (nvtxt_monotonic_ns() < retry_at || has_ended || !handler_is_out(trust)) {
        return;
    }
    if (sender_start(&life_sender) < 0) {
        retry_at = nvtxt_monotonic_ns() + RETRY_NS;
    } else {
        atomic_fetch_and(&recorder.attention, ~(uint32_t)RECORDER_NO_SENDER);
    }
}

// In a child that has recorded nothing, what is missing is the parent's.
static bool lacks_sender(void) {
    return atomic_load(&recorder.attention) & RECORDER_NO_SENDER &&
           atomic_load(atomic_load(&recorder.alive));
}

void life_start_sender(void) {
    if (lacks_sender()) {
        start_sender(HANDLER_PROMISE);
    }
}

static void take_early_losses(void) {
    for (int why = 0; why < LOSSES; why++) {
        uint64_t count = atomic_exchange(&recorder.lost_early[why], 0);
        atomic_fetch_add(&recorder.region.head->lost[why], count);
    }
}

// Whether a handler has forked since, and this is the child: it begins anew, with its next call.
static bool is_forked(pid_t from) {
    return getpid() != from;
}

// Under the recorder's lock.
static int start(bool is_child) {
    if (nvtxt_monotonic_ns() < retry_at || has_ended) {
        return nvtxt_origin(-EAGAIN);
    }
    // Another thread may have read them: what it found is seen only after this.
    options_read();
    if (lib_options.is_secure) {
        return nvtxt_origin(-EPERM);
    }
    has_begun = true;
    static _Atomic uint32_t *word;
    pid_t self = getpid();
    atomic_store(&recorder.attention, 0);
    if (!is_child) {
        clock_choose();
    }
    int r = catalog_init();
    if (r == 0 && !word && !(word = recorder_make_word())) {
        r = nvtxt_origin(-ENOMEM);
    }
    r = r ?: make_region(is_child);
    if (is_forked(self)) {
        return nvtxt_origin(-EAGAIN);
    }
    if (r < 0) {
        retry_at = nvtxt_monotonic_ns() + RETRY_NS;
        return r;
    }
    recorder.region.head->is_tsc = clock_is_tsc;
    recorder.region.head->states[0].clock = clock_now();
    owner = self;
    take_early_losses();
    atomic_store_explicit(&recorder.has_region, true, memory_order_release);
    prepare_sender();
    atomic_store(&recorder.attention, RECORDER_NO_SENDER);
    start_sender(HANDLER_CALL);
    if (is_forked(self)) {
        return nvtxt_origin(-EAGAIN);
    }
    recorder_set_alive(word);
    take_early_losses(); // of a signal handler meanwhile
    options_log("recording as %s", lib_options.name);
    return 0;
}

static void attend(uint32_t attention) {
    int saved = errno;
    if (attention & RECORDER_NO_SENDER) {
        if (nvtxt_monotonic_ns() >= retry_at && pthread_mutex_trylock(&recorder.lock) == 0) {
            if (lacks_sender()) {
                start_sender(HANDLER_CALL);
            }
            pthread_mutex_unlock(&recorder.lock);
        }
    } else if (attention & (RECORDER_ASLEEP | RECORDER_DOZES)) {
        sender_wake(&life_sender);
    }
    errno = saved;
}

__attribute__((constructor(101))) void life_init(void) {
    recorder.on_start = start;
    recorder.on_attention = attend;
    recorder_init();
    pthread_atfork(recorder_before_fork, recorder_after_fork, recorder_in_child);
    catalog_set_filter(options_is_excluded);
}

static void log_end(bool done) {
    options_log("%s; recorded %llu, acknowledged lines %llu",
                done ? "ended" : "ended, not all is stored",
                (unsigned long long)recorder_recorded(),
                (unsigned long long)atomic_load(&life_sender.lines_acked));
}

// Nobody starts one any more. `was_busy`: a handler ends the process in the middle of a call, which
// may be the one that makes the sender.
static bool has_sender(bool was_busy) {
    int r = was_busy ? pthread_mutex_trylock(&recorder.lock) : pthread_mutex_lock(&recorder.lock);
    bool has = r != 0 || !(atomic_load(&recorder.attention) & RECORDER_NO_SENDER);
    if (r == 0) {
        pthread_mutex_unlock(&recorder.lock);
    }
    return has;
}

// In a child that recorded nothing the word is 0, and there is nothing to end. A signal handler may
// end the process in the middle of a call, which may hold a lock: then nothing is logged.
__attribute__((destructor(101))) static void end(void) {
    bool was_busy = thread_busy;
    if (atomic_exchange(&has_ended, true)) {
        return;
    }
    thread_busy = 1;
    if (!has_begun || owner != getpid() || !atomic_load(atomic_load(&recorder.alive)) ||
        !atomic_load(&recorder.has_region)) {
        return;
    }
    int64_t until_ns = nvtxt_monotonic_ns() + (int64_t)lib_options.exit_ms * 1000000;
    bool done = has_sender(was_busy) ? sender_end(&life_sender, until_ns)
                                     : sender_end_here(&life_sender, until_ns);
    if (!was_busy) {
        log_end(done);
    }
    if (done && recorder.region.is_file) {
        atomic_store(&recorder.region.head->pid, 0);
        unlink(recorder.region.path);
    }
    thread_busy = was_busy;
}

void nvtxt_finish(void) {
    int saved = errno;
    end();
    errno = saved;
}
