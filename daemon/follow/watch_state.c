// SPDX-License-Identifier: Apache-2.0
//
// A file belongs to the folder in its path, whether it is still there or not. There are few
// folders, so they are compared one by one.
#include "daemon/follow/watch_state.h"

#include <string.h>

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

const char *watch_escaped(const char *path, char *text, size_t size) {
    return log_escape(text, size, nvtxt_slice_of(path));
}
