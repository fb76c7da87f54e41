// SPDX-License-Identifier: Apache-2.0
//
// The main file is renamed first. If the daemon is killed before the others, the next call moves
// them, and a write-ahead log never stands beside a store that it does not belong to.
#include "store/segment/quarantine.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "store/db/header.h"

#define TRIES 1000

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
        return -EOVERFLOW;
    }
    strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
    for (int number = 1; number <= TRIES; number++) {
        int len = snprintf(new_name, size, "%s.broken-%s-%d", path, when, number);
        if (len >= (int)size) {
            return -ENAMETOOLONG;
        }
        if (!exists(new_name)) {
            return 0;
        }
    }
    return -EEXIST;
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
        r = r ? r : store_file_name(to, new_name, store_file_endings[i]);
        if (r == 0 && rename(from, to) < 0 && errno != ENOENT) {
            r = -errno;
        }
    }
    return r;
}
