// SPDX-License-Identifier: Apache-2.0
//
// Reads folders with scandir(), which sorts. Opens only folders: a file is known by its stat().
#include "client/import/import_job.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

void folders_deinit(struct folders *folders) {
    for (size_t i = 0; i < folders->count; i++) {
        free(folders->files[i].path);
    }
    for (size_t i = 0; i < folders->taken_count; i++) {
        free(folders->taken[i].path);
    }
    free(folders->files);
    free(folders->taken);
    *folders = (struct folders){0};
}

static int is_nvtxt(const struct dirent *entry) {
    return nvtxt_is_file_name(entry->d_name);
}

static int is_capture(const struct dirent *entry) {
    return nvtxt_is_capture_name(entry->d_name);
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
        return nvtxt_origin(-ENAMETOOLONG);
    }
    bool there =
        stat(path, &status) == 0; // the open of a link to nowhere fails later, with a message
    if (there && is_listed(folders, &status)) {
        return 0;
    }
    if (nvtxt_grow(&folders->files, &folders->room, folders->count + 1, sizeof(*folders->files)) <
        0) {
        return nvtxt_origin(-ENOMEM);
    }
    char *copy = strdup(path);
    if (!copy) {
        return nvtxt_origin(-ENOMEM);
    }
    folders->files[folders->count++] =
        (struct folders_file){.path = copy,
                              .device = status.st_dev,
                              .inode = status.st_ino,
                              .is_regular = !there || S_ISREG(status.st_mode)};
    return 0;
}

// Notes that the folder was read; once, whatever its names.
static int take_folder(struct folders *folders, const char *folder, size_t files) {
    struct stat status;
    if (stat(folder, &status) != 0) {
        return nvtxt_origin(-errno);
    }
    for (size_t i = 0; i < folders->taken_count; i++) {
        if (folders->taken[i].device == status.st_dev && folders->taken[i].inode == status.st_ino) {
            return 0;
        }
    }
    char *path = strdup(folder);
    struct folders_taken *taken =
        path ? nvtxt_add(&folders->taken, &folders->taken_count, sizeof(*taken)) : NULL;
    if (!taken) {
        free(path);
        return nvtxt_origin(-ENOMEM);
    }
    *taken = (struct folders_taken){path, status.st_dev, status.st_ino, files};
    return 0;
}

// Lists what is in the folder. Returns 0, FOLDERS_IS_NONE or -errno.
static int list_folder(const char *folder, int (*wants)(const struct dirent *),
                       struct dirent ***entries, int *count) {
    *entries = NULL;
    *count = scandir(folder, entries, wants, alphasort);
    return *count >= 0 ? 0 : errno == ENOTDIR ? FOLDERS_IS_NONE : nvtxt_origin(-errno);
}

// Adds the files of the folder itself, and their number to `*found`. Returns as list_folder().
static int add_folder(struct folders *folders, const char *folder, size_t *found) {
    struct dirent **entries;
    int count;
    int r = list_folder(folder, is_nvtxt, &entries, &count);
    r = r ?: take_folder(folders, folder, (size_t)count);
    for (int i = 0; i < count; i++) {
        r = r ?: add_file(folders, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    *found += count > 0 ? (size_t)count : 0;
    return r;
}

// Returns as list_folder().
static int add_captures(struct folders *folders, const char *folder, size_t *found) {
    struct dirent **entries;
    int count;
    int r = list_folder(folder, is_capture, &entries, &count);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat status;
        int len = snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (r == 0 && len < (int)sizeof(path) && stat(path, &status) == 0 &&
            S_ISDIR(status.st_mode)) {
            r = add_folder(folders, path, found);
        }
        free(entries[i]);
    }
    free(entries);
    return r;
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
    name_of(folder, name);
    char *slash = strrchr(name, '/');
    bool is_session = !nvtxt_is_capture_name(nvtxt_base_name(name));
    int r = is_session && folders->no_session ? 0 : add_folder(folders, folder, found);
    if (is_session) {
        r = r ?: add_captures(folders, folder, found);
    } else if (!folders->no_session) {
        if (slash) {
            slash[slash == name] = '\0';
        }
        r = r ?: add_folder(folders, slash ? name : ".", found);
    }
    *found = r < 0 ? 0 : *found;
    return r;
}
