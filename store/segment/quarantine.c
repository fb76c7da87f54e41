// SPDX-License-Identifier: Apache-2.0
//
// The main file goes first: when we are killed in between, what is left beside no store is put
// aside by the next one, and a write-ahead log never stands beside a store that it is not of.
#include "store/segment/quarantine.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define TRIES 1000

static const char *const endings[] = {"", "-wal", "-shm"};
#define ENDINGS (sizeof(endings) / sizeof(endings[0]))

static int name_with(char *name, const char *path, const char *ending) {
    int len = snprintf(name, PATH_MAX, "%s%s", path, ending);
    return len < PATH_MAX ? 0 : -ENAMETOOLONG;
}

// True when any of the names exists.
static bool exists(const char *path) {
    char name[PATH_MAX];
    struct stat status;
    for (size_t i = 0; i < ENDINGS; i++) {
        if (name_with(name, path, endings[i]) == 0 && lstat(name, &status) == 0) {
            return true;
        }
    }
    return false;
}

static int find_name(const char *path, int64_t now_ns, char *aside, size_t size) {
    char when[32];
    struct tm tm;
    time_t seconds = (time_t)(now_ns / 1000000000);
    if (!gmtime_r(&seconds, &tm)) {
        return -EOVERFLOW;
    }
    strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
    for (int number = 1; number <= TRIES; number++) {
        int len = snprintf(aside, size, "%s.broken-%s-%d", path, when, number);
        if (len >= (int)size) {
            return -ENAMETOOLONG;
        }
        if (!exists(aside)) {
            return 0;
        }
    }
    return -EEXIST;
}

int store_aside_rename(const char *file, const char *path, int64_t now_ns, char *aside,
                       size_t size) {
    char from[PATH_MAX], to[PATH_MAX];
    if (!exists(file)) {
        return 1;
    }
    int r = find_name(path, now_ns, aside, size);
    for (size_t i = 0; i < ENDINGS && r == 0; i++) {
        r = name_with(from, file, endings[i]);
        r = r ? r : name_with(to, aside, endings[i]);
        if (r == 0 && rename(from, to) < 0 && errno != ENOENT) {
            r = -errno;
        }
    }
    return r;
}
