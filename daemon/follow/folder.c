// SPDX-License-Identifier: Apache-2.0
//
// folder_list_all() and want_name() note which names to read. One list at a time is made in the
// thread pool and merged here. The watch of a folder begins before the list, so that what comes
// after the list is an event: a list that found no watch set is made again.
#include "daemon/follow/watch_state.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/list.h"
#include "daemon/follow/follow.h"
#include "daemon/follow/known_files.h"
#include "protocol/base/origin.h"

#define LOOK_AGAIN_MS 5000 // at folders without events, or with uncounted files

static void list_next(struct folder *folder);
static void on_timer(uv_timer_t *timer);

// ---- Names --------------------------------------------------------------------------------------

static struct folder_name *find_name(struct folder *folder, const char *text) {
    struct folder_name *name;
    NVTXT_HASH_FIND(name, node, &folder->names, nvtxt_hash_bytes(nvtxt_slice_of(text)),
                    strcmp(name->name, text) == 0);
    return name;
}

static struct folder_name *add_name(struct folder *folder, const char *text) {
    struct folder_name *name = calloc(1, sizeof(*name) + strlen(text) + 1);
    if (!name) {
        return NULL;
    }
    memcpy(name->name, text, strlen(text) + 1);
    if (nvtxt_hash_add(&folder->names, &name->node, nvtxt_hash_bytes(nvtxt_slice_of(text))) < 0) {
        free(name);
        return NULL;
    }
    LIST_ADD(folder->first, name);
    return name;
}

static void drop_name(struct folder *folder, struct folder_name *name) {
    LIST_REMOVE(folder->first, name);
    nvtxt_hash_remove(&folder->names, &name->node);
    if (name->follow) {
        known_files_lose_name(name->follow, false);
    }
    free(name);
}

// Something that is not followed: logged once for each.
static void leave_alone(struct folder *folder, struct folder_name *name, const char *path,
                        const char *why) {
    char text[512];
    if (name->follow) {
        known_files_lose_name(name->follow, true);
    } else if (name->round) {
        return;
    }
    name->follow = NULL;
    log_limited(&folder->log_names, LOG_LEVEL_WARNING, "not followed: %s path=\"%s\"", why,
                watch_escaped(path, text, sizeof(text)));
}

// Only a list of all names tells how many there are: an event may tell of one that was counted.
static void count_passed_over(struct folder *folder) {
    if (folder->list.all) {
        folder->passed_over++;
    } else if (!uv_is_active((uv_handle_t *)&folder->timer)) {
        uv_timer_start(&folder->timer, on_timer, LOOK_AGAIN_MS, 0);
    }
}

// Another file may have had its name.
static void pass_over(struct folder *folder, struct folder_name *name) {
    char text[512];
    count_passed_over(folder);
    if (!folder->logged_empty) {
        log_warning("the watched folders have more than %d empty files: the others are followed "
                    "from their first byte on folder=\"%s\"",
                    KNOWN_EMPTY_MOST, watch_escaped(folder->path, text, sizeof(text)));
    }
    folder->logged_empty = true;
    if (name && name->follow) {
        known_files_lose_name(name->follow, true);
        name->follow = NULL;
    }
    if (name) {
        drop_name(folder, name);
    }
}

static void see(struct folder *folder, const struct watch_entry *entry) {
    char path[PATH_MAX + NAME_MAX + 2];
    const struct watch_stat *stat = &entry->stat;
    struct folder_name *name = find_name(folder, entry->name);
    bool is_capture = folder->has_captures && nvtxt_is_capture_name(entry->name);
    if (is_capture && (stat->is_folder || stat->error == WATCH_IO_ABSENT)) {
        folder->watch->on_capture(folder, entry->name, stat->is_folder);
    }
    bool is_none = stat->error == WATCH_IO_ABSENT || (is_capture && stat->is_folder);
    if (is_none && name) {
        drop_name(folder, name);
    }
    if (is_none || !nvtxt_is_file_name(entry->name)) {
        return;
    }
    if (!stat->error && known_files_pass_over(&folder->watch->known, stat)) {
        pass_over(folder, name);
        return;
    }
    if (!name) {
        name = add_name(folder, entry->name);
    }
    if (!name) {
        return; // memory is short; the next event for this name tries again
    }
    snprintf(path, sizeof(path), "%s/%s", folder->path, entry->name);
    struct follow *follow =
        stat->is_file ? known_files_find_or_add(folder->watch, path, stat) : NULL;
    if (stat->error) {
        leave_alone(folder, name, path, strerror(-stat->error));
    } else if (!stat->is_file) {
        leave_alone(folder, name, path, "it is no regular file");
    } else if (follow && follow != name->follow) {
        struct follow *old = name->follow;
        name->follow = follow;
        known_files_gain_name(follow, path, stat);
        if (old) {
            known_files_lose_name(old, true);
        }
    } else if (follow) {
        known_files_see(follow, stat);
    }
    name->round = folder->all_round;
}

static void drop_unseen(struct folder *folder) {
    struct folder_name *next;
    for (struct folder_name *name = folder->first; name; name = next) {
        next = name->next;
        if (name->round < folder->all_round) {
            drop_name(folder, name);
        }
    }
}

// ---- Watching -----------------------------------------------------------------------------------

static void want_name(struct folder *folder, const char *name) {
    for (size_t i = 0; i < folder->wanted_count; i++) {
        if (strcmp(folder->wanted[i], name) == 0) {
            return;
        }
    }
    if (folder->all_wanted) {
        return;
    }
    if (folder->wanted_count >= 64) { // a list of all is less work
        folder->all_wanted = true;
        return;
    }
    if (!folder->wanted) {
        folder->wanted = calloc(64, sizeof(char *));
    }
    char *copy = folder->wanted ? strdup(name) : NULL;
    if (copy) {
        folder->wanted[folder->wanted_count++] = copy;
    } else {
        folder->all_wanted = true;
    }
}

static void parent_of(const struct folder *folder, char *parent, size_t size) {
    size_t len = (size_t)(nvtxt_base_name(folder->path) - folder->path);
    snprintf(parent, size, "%.*s", (int)(len > 1 ? len - 1 : len), folder->path);
}

static void unwatch(struct folder *folder) {
    uv_fs_event_stop(&folder->event);
    folder->watching = FOLDER_UNWATCHED;
}

// Counts an event of the folder. Returns true when there were so many that some may be lost: all
// folders are listed then. What comes after that in the same turn may be newer than the list.
static bool count_event(struct folder *in) {
    struct watch *watch = in->watch;
    if (watch->events_at != watch->hub->loop_count) {
        watch->events_at = watch->hub->loop_count;
        watch->events = 0;
    }
    watch->events++;
    if (watch->events == watch->burst) {
        for (struct folder *folder = watch->folders; folder; folder = folder->next) {
            folder_list_all(folder);
        }
    } else if (watch->events > watch->burst) {
        folder_list_all(in);
    }
    return watch->events >= watch->burst;
}

static void on_event(uv_fs_event_t *handle, const char *name, int events, int status) {
    struct folder *folder = handle->data;
    if (folder->closing) {
        return;
    }
    if (status < 0 || !name || strcmp(name, nvtxt_base_name(folder->path)) == 0) {
        unwatch(folder); // another folder may have its name now
        folder->all_wanted = true;
    } else if (nvtxt_is_file_name(name)) {
        struct folder_name *known = find_name(folder, name);
        if (count_event(folder)) {
            return; // the list of all names includes this one
        }
        if (events == UV_CHANGE && known && known->follow) {
            schedule_want(known->follow);
        } else {
            want_name(folder, name);
        }
    } else if (count_event(folder) || !folder->has_captures || events == UV_CHANGE ||
               !nvtxt_is_capture_name(name)) {
        return;
    } else {
        want_name(folder, name);
    }
    list_next(folder);
}

static void on_parent_event(uv_fs_event_t *handle, const char *name, int events, int status) {
    struct folder *folder = handle->data;
    char parent[PATH_MAX];
    (void)events;
    if (folder->closing) {
        return;
    }
    parent_of(folder, parent, sizeof(parent));
    bool itself = status < 0 || !name || strcmp(name, nvtxt_base_name(parent)) == 0;
    if (itself) {
        unwatch(folder);
    }
    if (!itself && strcmp(name, nvtxt_base_name(folder->path)) != 0) {
        return;
    }
    folder->all_wanted = true;
    list_next(folder);
}

static int watch_itself(struct folder *folder) {
    unwatch(folder);
    int r = uv_fs_event_start(&folder->event, on_event, folder->path, 0);
    if (r == 0) {
        folder->watching = FOLDER_WATCHES_ITSELF;
    }
    return r;
}

static int watch_parent(struct folder *folder) {
    char parent[PATH_MAX];
    parent_of(folder, parent, sizeof(parent));
    unwatch(folder);
    int r = uv_fs_event_start(&folder->event, on_parent_event, parent, 0);
    if (r == 0) {
        folder->watching = FOLDER_WATCHES_PARENT;
    }
    return r;
}

static void on_timer(uv_timer_t *timer) {
    folder_list_all(timer->data);
}

static void log_unwatchable(struct folder *folder, int error) {
    char text[512];
    if (!folder->logged_unwatchable) {
        log_warning("a folder cannot be watched: %s folder=\"%s\"; the daemon tries again",
                    strerror(nvtxt_origin(-error)),
                    watch_escaped(folder->path, text, sizeof(text)));
    }
    folder->logged_unwatchable = true;
}

// Files of which nothing was read have no place to go on from when the folder comes again.
static void drop_blank_names(struct folder *folder) {
    struct folder_name *next;
    for (struct folder_name *name = folder->first; name; name = next) {
        next = name->next;
        if (!name->follow || follow_is_blank(name->follow)) {
            drop_name(folder, name);
        }
    }
}

// It is not there, or cannot be read.
static void go_down(struct folder *folder, int error) {
    bool absent = error == WATCH_IO_ABSENT;
    if (folder->is_capture && (absent || error == -ENOTDIR || error == -ELOOP)) {
        folder->watch->on_capture_gone(folder);
        return;
    }
    log_unwatchable(folder, absent ? nvtxt_origin(-ENOENT) : error);
    folder->up = false;
    if (absent) {
        drop_blank_names(folder);
    }
    if (absent && folder->watching == FOLDER_WATCHES_PARENT) {
        return; // there will be an event
    }
    if (absent && watch_parent(folder) == 0) {
        folder->all_wanted = true; // it may have come before the watch
        return;
    }
    unwatch(folder);
    uv_timer_start(&folder->timer, on_timer, LOOK_AGAIN_MS, 0);
}

static void log_limits(struct folder *folder, const char *what) {
    char text[512];
    if (!folder->logged_limits) {
        log_limited(&folder->watch->log_files, LOG_LEVEL_WARNING, "%s folder=\"%s\"", what,
                    watch_escaped(folder->path, text, sizeof(text)));
    }
    folder->logged_limits = true;
}

static void come_up(struct folder *folder) {
    char text[512];
    bool new = !folder->up;
    int r = 0;
    if (folder->watching != FOLDER_WATCHES_ITSELF) {
        r = watch_itself(folder);
        folder->all_wanted = r == 0; // for what came before the watch
    }
    if (r < 0) {
        log_limits(folder, "there are no events for a folder (fs.inotify.max_user_watches?): it is "
                           "looked at every 5 s");
    } else if (folder->list.silent) {
        log_limits(folder, "the file system of a folder may send no events for changes of others: "
                           "it is looked at every 5 s");
    }
    if (folder->list.truncated) {
        log_limits(folder, "a folder has more than 100000 files: the others are not followed");
    }
    if (r < 0 || folder->list.silent) {
        uv_timer_start(&folder->timer, on_timer, LOOK_AGAIN_MS, 0);
    }
    if (new) {
        // Who makes capture folders cannot flood the log.
        log_line(folder->is_capture ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO,
                 "watching folder=\"%s\" files=%zu",
                 watch_escaped(folder->path, text, sizeof(text)), folder->names.count);
    }
    folder->up = true;
    folder->logged_unwatchable = false;
    if (new) {
        folder->watch->look_everywhere(folder->watch);
    }
}

// ---- Listing ------------------------------------------------------------------------------------

static void free_names(char **names, size_t count) {
    for (size_t i = 0; names && i < count; i++) {
        free(names[i]);
    }
    free(names);
}

static void free_when_closed(struct folder *folder) {
    if (folder->handles > 0 || folder->listing) {
        return;
    }
    free_names(folder->wanted, folder->wanted_count);
    nvtxt_hash_deinit(&folder->names);
    free(folder->path);
    free(folder);
}

static void work(uv_work_t *req) {
    struct folder *folder = NVTXT_CONTAINER_OF(req, struct folder, work);
    folder->list_result =
        watch_io_list(folder->path, folder->how, folder->asked, folder->asked_count, &folder->list);
}

static void merge(struct folder *folder) {
    const struct watch_list *list = &folder->list;
    if (list->all && !list->error) {
        folder->all_round++;
        folder->passed_over = 0;
    }
    for (size_t i = 0; i < list->count; i++) {
        see(folder, &list->entries[i]);
    }
    if (list->all && !list->error) {
        drop_unseen(folder);
    }
    if (list->error) {
        go_down(folder, list->error);
    } else if (list->all) {
        come_up(folder);
    }
    if (list->all) {
        folder->round = folder->list_round;
    }
}

static void on_listed(uv_work_t *req, int status) {
    struct folder *folder = NVTXT_CONTAINER_OF(req, struct folder, work);
    struct watch *watch = folder->watch;
    (void)status; // nothing is ever cancelled
    free_names(folder->asked, folder->asked_count);
    folder->asked = NULL;
    folder->asked_count = 0;
    if (!folder->closing && folder->list_result < 0) { // out of memory
        uv_timer_start(&folder->timer, on_timer, LOOK_AGAIN_MS, 0);
    } else if (!folder->closing) {
        merge(folder);
    }
    watch_io_list_deinit(&folder->list);
    folder->listing = false; // now: the next list takes its place
    if (folder->closing) {
        free_when_closed(folder);
    } else {
        list_next(folder);
    }
    watch->on_listed(watch);
}

static void list_next(struct folder *folder) {
    if (folder->closing || folder->listing || (!folder->all_wanted && folder->wanted_count == 0)) {
        return;
    }
    if (folder->all_wanted) {
        free_names(folder->wanted, folder->wanted_count);
        folder->wanted = NULL;
        folder->wanted_count = 0;
        if (folder->watching == FOLDER_UNWATCHED) {
            watch_itself(folder);
        }
    }
    folder->asked = folder->wanted;
    folder->asked_count = folder->wanted_count;
    folder->wanted = NULL;
    folder->wanted_count = 0;
    folder->all_wanted = false;
    folder->list_round = folder->watch->lost.round;
    folder->how = (folder->has_captures ? WATCH_IO_CAPTURES : 0) |
                  (folder->is_capture ? WATCH_IO_NO_LINK : 0);
    folder->listing = uv_queue_work(folder->watch->hub->loop, &folder->work, work, on_listed) == 0;
}

void folder_list_all(struct folder *folder) {
    folder->all_wanted = true;
    list_next(folder);
}

bool folder_is_busy(const struct folder *folder) {
    return folder->listing || folder->all_wanted || folder->wanted_count > 0;
}

// ---- Life ---------------------------------------------------------------------------------------

static void on_closed(uv_handle_t *handle) {
    struct folder *folder = handle->data;
    folder->handles--;
    free_when_closed(folder);
}

struct folder *folder_open(struct watch *watch, const char *path) {
    struct folder *folder = calloc(1, sizeof(*folder));
    if (!folder) {
        return NULL;
    }
    folder->path = strdup(path);
    if (!folder->path) {
        free(folder);
        return NULL;
    }
    folder->watch = watch;
    folder->log_names = (struct log_limit){.window_ms = 1000, .most = 1};
    uv_fs_event_init(watch->hub->loop, &folder->event); // these two cannot fail
    uv_timer_init(watch->hub->loop, &folder->timer);
    folder->event.data = folder->timer.data = folder;
    folder->handles = 2;
    return folder;
}

void folder_close(struct folder *folder) {
    folder->closing = true;
    while (folder->first) {
        drop_name(folder, folder->first);
    }
    uv_close((uv_handle_t *)&folder->event, on_closed);
    uv_close((uv_handle_t *)&folder->timer, on_closed);
}
