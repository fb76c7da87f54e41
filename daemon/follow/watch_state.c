// SPDX-License-Identifier: Apache-2.0
//
// A file belongs to the folder in its path, whether it is still there or not. There are few
// folders, so they are compared one by one.
#include "daemon/follow/watch_state.h"

#include <string.h>

// How long the folder's path is in the first `len` bytes of a path.
static size_t folder_length(const char *path, size_t len) {
    while (len > 0 && path[len - 1] != '/') {
        len--;
    }
    return len > 0 ? len - 1 : 0;
}

static struct folder *find(const struct watch *watch, const char *path, size_t len) {
    for (struct folder *folder = watch->folders; folder; folder = folder->next) {
        if (strlen(folder->path) == len && memcmp(folder->path, path, len) == 0) {
            return folder;
        }
    }
    return NULL;
}

struct folder *watch_folder_of(const struct watch *watch, const char *path) {
    size_t len = folder_length(path, strlen(path));
    struct folder *folder = find(watch, path, len);
    if (folder) {
        return folder;
    }
    folder = find(watch, path, folder_length(path, len));
    return folder && folder->has_captures ? folder : NULL;
}

struct log_limit *watch_log_of(struct watch *watch, const char *path) {
    struct folder *folder = watch_folder_of(watch, path);
    return folder ? &folder->log_names : &watch->log_files;
}

const char *watch_escaped(const char *path, char *text, size_t size) {
    return log_escape(text, size, nvtxt_slice_of(path));
}
