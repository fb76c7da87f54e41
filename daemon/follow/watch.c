// SPDX-License-Identifier: Apache-2.0
#include "daemon/follow/watch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clocks.h"
#include "daemon/conf/paths.h"
#include "daemon/follow/folder.h"
#include "daemon/source/source.h"
#include "protocol/base/hash.h"

#define QUIET_MS 10000       // a file that did not change for so long is closed
#define RETRY_MS 1000        // what failed for want of memory or descriptors
#define CHECKS_PER_EXPIRY 24 // as for sessions
#define SHORTEST_CHECK_MS 500
#define OPEN_MOST 1024   // files
#define OPEN_SHARE 8     // one of so many descriptors
#define BURST_USUAL 8192 // half of what the kernel keeps by default

// ---- Turns -------------------------------------------------------------------------------------

static void put(struct watch_queue *queue, struct follow *follow) {
    if (!queue->head) {
        queue->tail = &queue->head;
    }
    follow->next_ready = NULL;
    *queue->tail = follow;
    queue->tail = &follow->next_ready;
    follow->ready = true;
}

static struct follow *take(struct watch_queue *queue) {
    struct follow *follow = queue->head;
    queue->head = follow->next_ready;
    follow->ready = false;
    return follow;
}

// Whether one more file may be opened; one that rests is closed for it.
static bool has_room(struct watch *watch) {
    if (watch->open_count + watch->busy >= watch->open_max && watch->rested) {
        follow_release(watch->rested);
    }
    return watch->open_count + watch->busy < watch->open_max || watch->open_count == 0;
}

static struct follow *next_ready(struct watch *watch) {
    bool closed = watch->ready_closed.head && has_room(watch);
    watch->ready_turn = !watch->ready_turn;
    if (closed && (watch->ready_turn || !watch->ready_open.head)) {
        return take(&watch->ready_closed);
    }
    return watch->ready_open.head ? take(&watch->ready_open) : NULL;
}

static void go_on(struct watch *watch) {
    struct follow *follow;
    if (watch->going) { // further up
        return;
    }
    watch->going = true;
    while (!watch->stopping && watch->busy < WATCH_STEPS && !watch->hub->batcher.pressed &&
           (follow = next_ready(watch))) {
        follow->busy = true;
        watch->busy++;
        follow_run(follow);
    }
    watch->going = false;
}

static void on_pressure(struct hub_listener *listener, bool pressed) {
    if (!pressed) {
        go_on(NVTXT_CONTAINER_OF(listener, struct watch, listener));
    }
}

void watch_change(struct follow *follow) {
    struct watch *watch = follow->watch;
    if (follow->busy) {
        follow->again = true;
    }
    if (watch->stopping || follow->busy || follow->ready) {
        return;
    }
    watch_unrest(follow);
    put(follow->live ? &watch->ready_open : &watch->ready_closed, follow);
    go_on(watch);
}

bool watch_hold(struct watch *watch) {
    bool before = watch->going;
    watch->going = true;
    return before;
}

void watch_let_go(struct watch *watch, bool before) {
    watch->going = before;
    go_on(watch);
}

static void wait_for_expiry(struct watch *watch);

static void forget(struct follow *follow) {
    follow_release(follow);
    follows_remove(&follow->watch->follows, follow);
    follow_free(follow);
}

void watch_done(struct follow *follow, bool more) {
    struct watch *watch = follow->watch;
    follow->busy = false;
    watch->busy--;
    if (!watch->stopping && (more || follow->again)) {
        put(follow->live ? &watch->ready_open : &watch->ready_closed, follow);
    } else if (follow->names == 0 && follow->source_id == 0 && !follow->lost && !follow->retry) {
        forget(follow);
    }
    if (!uv_is_active((uv_handle_t *)&watch->expiry)) {
        wait_for_expiry(watch);
    }
    go_on(watch);
}

struct follow_step *watch_step(struct watch *watch) {
    for (size_t i = 0; i < WATCH_STEPS; i++) {
        struct follow_step *step = &watch->steps[i];
        if (step->follow) {
            continue;
        }
        if (!step->buffer) {
            step->buffer = malloc(FOLLOW_READ_BYTES);
        }
        return step->buffer ? step : NULL;
    }
    return NULL;
}

// ---- Files at rest -----------------------------------------------------------------------------

static void on_quiet(uv_timer_t *timer) {
    struct watch *watch = timer->data;
    uint64_t now = uv_now(timer->loop);
    while (watch->rested && watch->rested->live->rested_ms + QUIET_MS <= now) {
        follow_release(watch->rested);
    }
    if (watch->rested) {
        uv_timer_start(timer, on_quiet, watch->rested->live->rested_ms + QUIET_MS - now, 0);
    }
}

void watch_rest(struct follow *follow) {
    struct watch *watch = follow->watch;
    struct follow_live *live = follow->live;
    live->rested_ms = uv_now(watch->hub->loop);
    if (!watch->rested) {
        watch->rested_tail = &watch->rested;
    }
    live->next_rested = NULL;
    live->rested = watch->rested_tail;
    *watch->rested_tail = follow;
    watch->rested_tail = &live->next_rested;
    if (!watch->stopping && !uv_is_active((uv_handle_t *)&watch->quiet)) {
        uv_timer_start(&watch->quiet, on_quiet, QUIET_MS, 0);
    }
}

void watch_unrest(struct follow *follow) {
    struct watch *watch = follow->watch;
    struct follow_live *live = follow->live;
    if (!live || !live->rested) {
        return;
    }
    *live->rested = live->next_rested;
    if (live->next_rested) {
        live->next_rested->live->rested = live->rested;
    } else {
        watch->rested_tail = live->rested;
    }
    live->rested = NULL;
}

static void on_retry(uv_timer_t *timer) {
    struct watch *watch = timer->data;
    bool before = watch_hold(watch);
    for (struct follow *follow = watch->follows.first; follow; follow = follow->next) {
        if (!follow->retry) {
            continue;
        }
        follow->retry = false;
        watch_change(follow);
    }
    watch_let_go(watch, before);
}

void watch_retry(struct follow *follow) {
    struct watch *watch = follow->watch;
    follow->retry = true;
    if (!watch->stopping && !uv_is_active((uv_handle_t *)&watch->retry)) {
        uv_timer_start(&watch->retry, on_retry, RETRY_MS, 0);
    }
}

// ---- What ends ---------------------------------------------------------------------------------

static bool can_end(const struct follow *follow) {
    return (follow->source_id && !follow->ended) ||
           (!follow->stuck && (uint64_t)follow->size > follow->at.offset);
}

static void drop_place(struct watch *watch, struct follow *follow) {
    struct store_batch *batch = batcher_open_batch(&watch->hub->batcher);
    if (batch && store_batch_forget_file(batch, follow->source_id) == 0) {
        forget(follow);
    }
}

// Returns whether there is something in it that time may change.
static bool check_expiry(struct watch *watch, struct follow *follow, int64_t before_ns) {
    if (follow->busy || follow->ready) {
        return true;
    }
    if (can_end(follow)) {
        if (follow->at.changed_ns < before_ns) {
            follow->ending = follow->ending ? follow->ending : follow_idle;
            watch_change(follow);
        }
        return true;
    }
    if (follow->names > 0 || !follow->ended) {
        return false;
    }
    if (follow->closed_ns < before_ns) {
        drop_place(watch, follow);
    }
    return true;
}

static void on_expiry(uv_timer_t *timer) {
    struct watch *watch = timer->data;
    int64_t before_ns = clocks_realtime_ns() - watch->hub->config->file_expiry_ms * 1000000;
    bool waiting = false, before = watch_hold(watch);
    struct follow *next;
    for (struct follow *follow = watch->follows.first; follow; follow = next) {
        next = follow->next;
        waiting |= check_expiry(watch, follow, before_ns);
    }
    if (waiting) {
        wait_for_expiry(watch);
    }
    watch_let_go(watch, before);
}

static void wait_for_expiry(struct watch *watch) {
    uint64_t ms = (uint64_t)watch->hub->config->file_expiry_ms / CHECKS_PER_EXPIRY;
    if (!watch->stopping && watch->follows.first) {
        uv_timer_start(&watch->expiry, on_expiry, ms < SHORTEST_CHECK_MS ? SHORTEST_CHECK_MS : ms,
                       0);
    }
}

// ---- Names and files ---------------------------------------------------------------------------

struct folder *watch_folder_of(const struct watch *watch, const char *path) {
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;
    for (struct folder *folder = watch->folders; folder; folder = folder->next) {
        if (strlen(folder->path) == len && memcmp(folder->path, path, len) == 0) {
            return folder;
        }
    }
    return NULL;
}

struct log_limit *watch_log_of(struct watch *watch, const char *path) {
    struct folder *folder = watch_folder_of(watch, path);
    return folder ? &folder->log_names : &watch->log_files;
}

// NULL when memory is short.
static struct follow *begin(struct watch *watch, const char *path, int64_t device, int64_t inode) {
    struct follow *follow = follow_new(watch, path, device, inode);
    if (follow && follows_add(&watch->follows, follow) < 0) {
        follow_free(follow);
        return NULL;
    }
    return follow;
}

struct follow *watch_find(struct watch *watch, const char *path, const struct watch_stat *stat) {
    struct follow *follow = follows_find(&watch->follows, path, stat);
    return follow ? follow : begin(watch, path, stat->device, stat->inode);
}

void watch_see(struct follow *follow, const struct watch_stat *stat) {
    uint64_t read =
        follow->live && follow->live->fd >= 0 ? follow->live->position : follow->at.offset;
    follow->size = stat->size;
    if (!follow->live) {
        follow->at.changed_ns = stat->changed_ns;
    }
    if (!follow->verified || read != (uint64_t)stat->size) {
        watch_change(follow);
    }
}

void watch_gain_name(struct follow *follow, const char *path, const struct watch_stat *stat) {
    char *copy = strcmp(path, follow->path) ? strdup(path) : NULL;
    if (copy) {
        free(follow->path);
        follow->path = copy;
    }
    follow->names++;
    follow->lost = false;
    follow->replaced = false;
    if (!follow->anew) {
        follow->ending = NULL; // it is not gone after all
    }
    watch_see(follow, stat);
}

void watch_lose_name(struct follow *follow, bool replaced) {
    struct watch *watch = follow->watch;
    follow->names--;
    if (follow->names > 0) {
        return;
    }
    follow->lost = true;
    follow->replaced = replaced;
    follow->lost_round = watch->search.round;
    if (!follow->live) {
        follow->verified = false;
    }
    search_begin(&watch->search);
}

// ---- Events ------------------------------------------------------------------------------------

// libuv does not tell that the kernel had to drop events, but then as many as it keeps came at
// once.
static size_t read_burst(void) {
    FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "re");
    unsigned long most = 0;
    if (file && fscanf(file, "%lu", &most) != 1) {
        most = 0;
    }
    if (file) {
        fclose(file);
    }
    return most >= 2 ? most / 2 : BURST_USUAL;
}

bool watch_count_event(struct watch *watch) {
    if (watch->turn != watch->hub->turn) {
        watch->turn = watch->hub->turn;
        watch->events = 0;
    }
    watch->events++;
    if (watch->events == watch->burst) {
        for (struct folder *folder = watch->folders; folder; folder = folder->next) {
            folder_list_all(folder);
        }
    }
    return watch->events >= watch->burst;
}

// ---- Life --------------------------------------------------------------------------------------

// The next line of the list, without slashes at its end. Returns what follows it.
static const char *next_path(const char *list, char *path, size_t size) {
    size_t len = strcspn(list, "\n");
    snprintf(path, size, "%.*s", (int)len, list);
    for (size_t end = strlen(path); end > 1 && path[end - 1] == '/'; end--) {
        path[end - 1] = '\0';
    }
    return list + len + (list[len] == '\n');
}

static bool is_listed(const char *list, const char *wanted) {
    char path[PATH_MAX];
    while (*list) {
        list = next_path(list, path, sizeof(path));
        if (strcmp(path, wanted) == 0) {
            return true;
        }
    }
    return false;
}

static void close_unlisted(struct watch *watch, const char *list) {
    struct folder **at = &watch->folders;
    while (*at) {
        struct folder *folder = *at;
        if (is_listed(list, folder->path)) {
            at = &folder->next;
            continue;
        }
        *at = folder->next;
        folder_close(folder);
    }
}

static void open_listed(struct watch *watch, const char *list) {
    char path[PATH_MAX];
    while (*list) {
        struct folder **at = &watch->folders;
        list = next_path(list, path, sizeof(path));
        while (*at && strcmp((*at)->path, path) != 0) {
            at = &(*at)->next;
        }
        if (!*at) {
            *at = folder_open(watch, path);
        }
        if (!*at) {
            log_error("a folder cannot be watched: out of memory");
        }
    }
}

void watch_configure(struct watch *watch) {
    const char *list = paths_watched(watch->hub->config);
    if (!watch->started || watch->stopping) {
        return;
    }
    close_unlisted(watch, list);
    open_listed(watch, list);
    watch->reserved = watch->folders ? watch->open_max : 0;
    if (uv_is_active((uv_handle_t *)&watch->expiry)) {
        wait_for_expiry(watch);
    }
    search_begin(&watch->search);
}

// What the store knows, oldest first.
static int know(struct watch *watch, struct store_file *file) {
    follows_retire(&watch->follows, file->at.device, file->at.inode);
    struct follow *follow = begin(watch, file->path, file->at.device, file->at.inode);
    if (!follow) {
        return -ENOMEM;
    }
    follow->at = file->at;
    follow->size = (int64_t)file->at.offset;
    follow->source_id = file->source_id;
    follow->ended = file->ended;
    follow->opened_ns = file->opened_ns;
    follow->closed_ns = file->closed_ns;
    follow->counters = file->counters;
    follow->lost = true;
    return 0;
}

int watch_start(struct watch *watch, struct hub *hub, struct store_file_list *known_take,
                size_t descriptors) {
    size_t share = descriptors / OPEN_SHARE;
    *watch = (struct watch){
        .hub = hub,
        .burst = read_burst(),
        .open_max = share > OPEN_MOST ? OPEN_MOST
                    : share > 0       ? share
                                      : 1,
    };
    uv_timer_t *timers[] = {&watch->quiet, &watch->expiry, &watch->retry};
    for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
        uv_timer_init(hub->loop, timers[i]); // cannot fail
        timers[i]->data = watch;
    }
    search_init(&watch->search, watch);
    watch->listener.on_pressure = on_pressure;
    hub_listen(hub, &watch->listener);
    watch->started = true;
    int r = 0;
    for (size_t i = 0; i < known_take->count && r == 0; i++) {
        r = know(watch, &known_take->files[i]);
    }
    store_files_free(known_take);
    if (r == 0) {
        watch_configure(watch);
    }
    return r;
}

void watch_stop(struct watch *watch) {
    if (!watch->started || watch->stopping) {
        return;
    }
    watch->stopping = true;
    while (watch->folders) {
        struct folder *folder = watch->folders;
        watch->folders = folder->next;
        folder_close(folder);
    }
    for (struct follow *follow = watch->follows.first; follow; follow = follow->next) {
        if (!follow->busy) {
            follow_release(follow);
        }
    }
    uv_close((uv_handle_t *)&watch->quiet, NULL);
    uv_close((uv_handle_t *)&watch->expiry, NULL);
    uv_close((uv_handle_t *)&watch->retry, NULL);
    search_close(&watch->search);
}

void watch_deinit(struct watch *watch) {
    while (watch->follows.first) {
        forget(watch->follows.first);
    }
    for (size_t i = 0; i < WATCH_STEPS; i++) {
        free(watch->steps[i].buffer);
    }
    follows_deinit(&watch->follows);
}
