// SPDX-License-Identifier: Apache-2.0
//
// Reads folders with scandir(), which sorts. Opens only folders: a file is known by its stat().
#include "client/import/folders.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ENDING ".nvtxt"
#define CAPTURE "capture"

void folders_deinit(struct folders *folders) {
    for (size_t i = 0; i < folders->count; i++) {
        free(folders->files[i].path);
    }
    free(folders->files);
    *folders = (struct folders){0};
}

static int is_nvtxt(const struct dirent *entry) {
    size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '.' && len > sizeof(ENDING) - 1 &&
           strcmp(entry->d_name + len - (sizeof(ENDING) - 1), ENDING) == 0;
}

static int is_capture(const struct dirent *entry) {
    return entry->d_name[0] != '.' && strcasestr(entry->d_name, CAPTURE) != NULL;
}

static bool is_listed(const struct folders *folders, const struct stat *status) {
    for (size_t i = 0; i < folders->count; i++) {
        if (folders->files[i].device == status->st_dev &&
            folders->files[i].inode == status->st_ino) {
            return true;
        }
    }
    return false;
}

static int add_file(struct folders *folders, const char *folder, const char *name) {
    struct stat status = {0};
    char path[PATH_MAX];
    size_t len = strlen(folder);
    const char *slash = len > 0 && folder[len - 1] == '/' ? "" : "/";
    if (snprintf(path, sizeof(path), "%s%s%s", folder, slash, name) >= (int)sizeof(path)) {
        return -ENAMETOOLONG;
    }
    bool there =
        stat(path, &status) == 0; // the open of a link to nowhere fails later, with a message
    if (there && is_listed(folders, &status)) {
        return 0;
    }
    if (folders->count == folders->room) {
        size_t room = folders->room ? folders->room * 2 : 16;
        struct folders_file *files = realloc(folders->files, room * sizeof(*files));
        if (!files) {
            return -ENOMEM;
        }
        folders->files = files;
        folders->room = room;
    }
    char *copy = strdup(path);
    if (!copy) {
        return -ENOMEM;
    }
    folders->files[folders->count++] =
        (struct folders_file){.path = copy,
                              .device = status.st_dev,
                              .inode = status.st_ino,
                              .is_regular = !there || S_ISREG(status.st_mode)};
    return 0;
}

// Adds the files of the folder itself, and their number to `*found`. Returns 0, FOLDERS_IS_NONE or
// -errno.
static int add_folder(struct folders *folders, const char *folder, size_t *found) {
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_nvtxt, alphasort);
    int result = count >= 0 ? 0 : errno == ENOTDIR ? FOLDERS_IS_NONE : -errno;
    for (int i = 0; i < count; i++) {
        if (result == 0) {
            result = add_file(folders, folder, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    *found += count > 0 ? (size_t)count : 0;
    return result;
}

static int add_captures(struct folders *folders, const char *folder, size_t *found) {
    struct dirent **entries = NULL;
    int result = 0;
    int count = scandir(folder, &entries, is_capture, alphasort);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat status;
        int len = snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (result >= 0 && len < (int)sizeof(path) && stat(path, &status) == 0 &&
            S_ISDIR(status.st_mode)) {
            result = add_folder(folders, path, found);
        }
        free(entries[i]);
    }
    free(entries);
    return result < 0 ? result : 0;
}

// `folder` without slashes at its end; its real path when the last part is no name ("..", "/").
static void name_of(const char *folder, char name[PATH_MAX]) {
    snprintf(name, PATH_MAX, "%s", folder);
    for (size_t len = strlen(name); len > 1 && name[len - 1] == '/'; len--) {
        name[len - 1] = '\0';
    }
    const char *slash = strrchr(name, '/');
    const char *last = slash ? slash + 1 : name;
    char real[PATH_MAX];
    if ((strcmp(last, ".") == 0 || strcmp(last, "..") == 0) && realpath(folder, real)) {
        memcpy(name, real, sizeof(real));
    }
}

int folders_add(struct folders *folders, const char *folder, size_t *found) {
    char name[PATH_MAX];
    *found = 0;
    int result = add_folder(folders, folder, found);
    if (result != 0) {
        return result;
    }
    name_of(folder, name);
    char *slash = strrchr(name, '/');
    if (!strcasestr(slash ? slash + 1 : name, CAPTURE)) {
        result = add_captures(folders, folder, found);
    } else if (!slash) {
        result = add_folder(folders, ".", found);
    } else {
        slash[slash == name] = '\0';
        result = add_folder(folders, name, found);
    }
    *found = result < 0 ? 0 : *found;
    return result;
}
