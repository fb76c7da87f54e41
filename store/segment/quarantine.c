// SPDX-License-Identifier: Apache-2.0
//
// The main file is renamed first. If the daemon is killed before the others, the next call moves
// them, and a write-ahead log never stands beside a store that it does not belong to.
#include "store/segment/segments.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "protocol/base/origin.h"
#include "protocol/base/slice.h"
#include "protocol/table/arrays.h"
#include "store/db/header.h"

#define TRIES 1000
#define BROKEN ".broken-"

// True when any of the names exists.
static bool exists(const char *path) {
    char name[PATH_MAX];
    struct stat status;
    for (size_t i = 0; i < STORE_FILE_ENDINGS; i++) {
        if (store_file_name(name, path, store_file_endings[i]) == 0 && lstat(name, &status) == 0) {
            return true;
        }
    }
    return false;
}

static int find_name(const char *path, int64_t now_ns, char *new_name, size_t size) {
    char when[32];
    struct tm tm;
    time_t seconds = (time_t)(now_ns / 1000000000);
    if (!gmtime_r(&seconds, &tm)) {
        return nvtxt_origin(-EOVERFLOW);
    }
    strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
    for (int number = 1; number <= TRIES; number++) {
        int len = snprintf(new_name, size, "%s" BROKEN "%s-%d", path, when, number);
        if (len >= (int)size) {
            return nvtxt_origin(-ENAMETOOLONG);
        }
        if (!exists(new_name)) {
            return 0;
        }
    }
    return nvtxt_origin(-EEXIST);
}

int store_quarantine(const char *file, const char *path, int64_t now_ns, char *new_name,
                     size_t size) {
    char from[PATH_MAX], to[PATH_MAX];
    if (!exists(file)) {
        return 1;
    }
    int r = find_name(path, now_ns, new_name, size);
    for (size_t i = 0; i < STORE_FILE_ENDINGS && r == 0; i++) {
        r = store_file_name(from, file, store_file_endings[i]);
        r = r ?: store_file_name(to, new_name, store_file_endings[i]);
        if (r == 0 && rename(from, to) < 0 && errno != ENOENT) {
            r = nvtxt_origin(-errno);
        }
    }
    return r;
}

// Of the store whose name is `base`, and not one of its logs.
static bool is_aside(const char *name, const char *base) {
    size_t len = strlen(base);
    return strncmp(name, base, len) == 0 && strncmp(name + len, BROKEN, sizeof(BROKEN) - 1) == 0 &&
           !nvtxt_ends_with(name, "-wal") && !nvtxt_ends_with(name, "-shm");
}

static int add_file(struct store_segments *list, const char *folder, const char *name) {
    struct store_segment *row = nvtxt_add(&list->rows, &list->count, sizeof(*row));
    if (!row || asprintf(&row->path, "%s%s", folder, name) < 0) {
        list->count -= row != NULL;
        return nvtxt_origin(-ENOMEM);
    }
    return 0;
}

int store_quarantine_list(const char *path, struct store_segments *list) {
    char folder[PATH_MAX];
    const char *base = nvtxt_base_name(path);
    struct dirent *each;
    int r = 0;
    *list = (struct store_segments){0};
    snprintf(folder, sizeof(folder), "%.*s", (int)(base - path), path);
    DIR *stream = opendir(*folder ? folder : ".");
    if (!stream) {
        return nvtxt_origin(-errno);
    }
    while (r == 0 && (each = readdir(stream))) {
        r = is_aside(each->d_name, base) ? add_file(list, folder, each->d_name) : 0;
    }
    closedir(stream);
    if (r < 0) {
        store_segments_deinit(list);
    }
    return r;
}
