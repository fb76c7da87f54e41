// SPDX-License-Identifier: Apache-2.0
//
// The life of the watch: folders come and go with the configuration, files that the store knows are
// there from the start. A file that did not change for FileExpiry ends; the place of one that has
// ended and has no name is forgotten after that time again. No file is freed while all are walked
// over: the schedule is paused for that.
#include "daemon/follow/watch_state.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/conf/paths.h"
#include "daemon/follow/follow.h"
#include "daemon/follow/follow_source.h"
#include "daemon/follow/known_files.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"

#define OPEN_MOST 1024 // files
#define OPEN_SHARE 8   // one of so many descriptors

#define BURST_USUAL 8192   // half of what the kernel keeps by default
#define CAPTURES_MOST 1000 // folders: each takes a watch of the kernel, and a user may make many

// ---- What ends ----------------------------------------------------------------------------------

static void wait_for_expiry(struct watch *watch);

static void forget(struct follow *follow) {
    follow_release(follow);
    known_files_forget(follow);
}

// A step of the file is over. A file without a name and without a place is not kept.
static void on_done(struct follow *follow) {
    struct watch *watch = follow->watch;
    if (!follow->ready && follow->names == 0 && follow->source_id == 0 && !follow->lost &&
        !follow->retry) {
        forget(follow);
    }
    if (!uv_is_active((uv_handle_t *)&watch->expiry)) {
        wait_for_expiry(watch);
    }
}

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

// Returns whether the file is to be checked again.
static bool check_expiry(struct watch *watch, struct follow *follow, int64_t before_ns) {
    if (follow->busy || follow->ready) {
        return true;
    }
    if (can_end(follow)) {
        if (follow->at.changed_ns < before_ns) {
            follow->ending = follow->ending ?: follow_idle;
            schedule_want(follow);
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
    int64_t before_ns = nvtxt_realtime_ns() - watch->hub->config->file_expiry_ms * 1000000;
    bool waiting = false, before = schedule_pause(watch);
    struct follow *next;
    for (struct follow *follow = watch->known.first; follow; follow = next) {
        next = follow->next;
        waiting |= check_expiry(watch, follow, before_ns);
    }
    if (waiting) {
        wait_for_expiry(watch);
    }
    schedule_resume(watch, before);
}

static void wait_for_expiry(struct watch *watch) {
    if (!watch->stopping && watch->known.first) {
        uv_timer_start(&watch->expiry, on_expiry,
                       hub_check_period_ms(watch->hub->config->file_expiry_ms), 0);
    }
}

// ---- Life ---------------------------------------------------------------------------------------

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

// The place of the folder of this path, or of a new one.
static struct folder **place_of(struct watch *watch, const char *path) {
    struct folder **at = &watch->folders;
    while (*at && strcmp((*at)->path, path) != 0) {
        at = &(*at)->next;
    }
    return at;
}

// Takes a folder out and closes it.
static void close_at(struct folder **at) {
    struct folder *folder = *at;
    *at = folder->next;
    folder->watch->captures -= folder->is_capture;
    folder_close(folder);
}

// A capture folder that nobody named stays with the folder that it is in.
static bool is_wanted(const struct folder *folder, const char *list) {
    const struct conf *config = folder->watch->hub->config;
    char session[PATH_MAX];
    size_t len = (size_t)(nvtxt_base_name(folder->path) - folder->path);
    snprintf(session, sizeof(session), "%.*s", (int)(len > 1 ? len - 1 : len), folder->path);
    return is_listed(list, folder->path) ||
           (folder->is_capture && is_listed(list, session) && paths_has_captures(config, session));
}

static void close_unlisted(struct watch *watch, const char *list) {
    for (struct folder **at = &watch->folders; *at;) {
        if (is_wanted(*at, list)) {
            at = &(*at)->next;
        } else {
            close_at(at);
        }
    }
}

// NULL when memory is short.
static struct folder *open_folder(struct watch *watch, const char *path) {
    struct folder **at = place_of(watch, path);
    *at = *at ?: folder_open(watch, path);
    if (!*at) {
        log_error("a folder cannot be watched: out of memory");
    }
    return *at;
}

static void open_listed(struct watch *watch, const char *list) {
    char path[PATH_MAX];
    while (*list) {
        list = next_path(list, path, sizeof(path));
        struct folder *folder = open_folder(watch, path);
        if (folder) {
            watch->captures -= folder->is_capture;
            folder->is_capture = false;
            folder->has_captures = paths_has_captures(watch->hub->config, path);
        }
    }
}

static void on_capture(struct folder *session, const char *name, bool is_there) {
    struct watch *watch = session->watch;
    char path[PATH_MAX + NAME_MAX + 2], text[512];
    snprintf(path, sizeof(path), "%s/%s", session->path, name);
    struct folder *known = *place_of(watch, path);
    if (known && !is_there) {
        folder_list_all(known);
    }
    if (known || !is_there) {
        return;
    }
    if (watch->captures >= CAPTURES_MOST) {
        if (!watch->logged_captures) {
            log_warning("there are more than %d capture folders: the others are not watched "
                        "folder=\"%s\"",
                        CAPTURES_MOST, watch_escaped(session->path, text, sizeof(text)));
        }
        watch->logged_captures = true;
        return;
    }
    struct folder *capture = open_folder(watch, path);
    if (capture) {
        capture->is_capture = true;
        watch->captures++;
        folder_list_all(capture);
    }
}

// Its files are looked for everywhere, and are removed with it where they are not found.
static void on_capture_gone(struct folder *capture) {
    struct watch *watch = capture->watch;
    struct folder *session = watch_folder_of(watch, capture->path);
    close_at(place_of(watch, capture->path));
    if (session && watch->logged_captures) { // another one has room now
        folder_list_all(session);
    }
}

void watch_configure(struct watch *watch) {
    if (!watch->started || watch->stopping) {
        return;
    }
    const char *list = paths_watched(watch->hub->config);
    close_unlisted(watch, list);
    open_listed(watch, list);
    watch->reserved = watch->folders ? watch->open_max : 0;
    if (uv_is_active((uv_handle_t *)&watch->expiry)) {
        wait_for_expiry(watch);
    }
    lost_files_search(&watch->lost);
}

// What the store knows, oldest first.
static int know(struct watch *watch, struct store_file *file) {
    known_files_retire(&watch->known, file->at.device, file->at.inode);
    struct follow *follow = known_files_add(watch, file->path, file->at.device, file->at.inode);
    if (!follow) {
        return nvtxt_origin(-ENOMEM);
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

// libuv does not say that the kernel dropped events. But then as many came at once as the kernel
// keeps.
static size_t usual_burst(void) {
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

int watch_start(struct watch *watch, struct hub *hub, struct store_file_list *known_take,
                size_t descriptors) {
    size_t share = descriptors / OPEN_SHARE;
    *watch = (struct watch){
        .hub = hub,
        .run = follow_run,
        .release = follow_release,
        .on_done = on_done,
        .on_capture = on_capture,
        .on_capture_gone = on_capture_gone,
        .burst = usual_burst(),
        .open_max = share > OPEN_MOST ? OPEN_MOST
                    : share > 0       ? share
                                      : 1,
    };
    uv_timer_init(hub->loop, &watch->expiry); // cannot fail
    watch->expiry.data = watch;
    schedule_start(watch);
    lost_files_init(&watch->lost, watch);
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
    for (struct follow *follow = watch->known.first; follow; follow = follow->next) {
        if (!follow->busy) {
            follow_release(follow);
        }
    }
    uv_close((uv_handle_t *)&watch->expiry, NULL);
    schedule_stop(watch);
    lost_files_close(&watch->lost);
}

void watch_deinit(struct watch *watch) {
    while (watch->known.first) {
        forget(watch->known.first);
    }
    for (size_t i = 0; i < WATCH_STEPS; i++) {
        free(watch->steps[i].buffer);
    }
    known_files_deinit(&watch->known);
}
