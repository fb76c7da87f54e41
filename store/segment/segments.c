// SPDX-License-Identifier: Apache-2.0
//
// Names are parsed by hand and strictly: a file that is not named exactly like a segment belongs to
// somebody else and is never touched. A segment has ".new" after its name until it is complete. The
// main file is renamed last and removed first: so a store never stands without its log, and a log
// without a store is known to be a leftover.
#include "store/segment/segments.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "protocol/lang/timebase.h"
#include "protocol/table/arrays.h"
#include "store/db/header.h"

#define ENDING ".sqlite"
#define TIME_FORMAT "%Y%m%dT%H%M%SZ"
#define TIME_BYTES 16

// ---- Names --------------------------------------------------------------------------------------

struct place {
    char folder[PATH_MAX]; // with its slash; "" for the current one
    char stem[NAME_MAX + 1];
};

static int place_of(const char *path, struct place *place) {
    const char *base = nvtxt_base_name(path);
    size_t folder = (size_t)(base - path), len = strlen(base);
    size_t ending = sizeof(ENDING) - 1;
    if (len > ending && strcmp(base + len - ending, ENDING) == 0) {
        len -= ending;
    }
    if (folder >= sizeof(place->folder) || len >= sizeof(place->stem)) {
        return nvtxt_origin(-ENAMETOOLONG);
    }
    snprintf(place->folder, sizeof(place->folder), "%.*s", (int)folder, path);
    snprintf(place->stem, sizeof(place->stem), "%.*s", (int)len, base);
    return 0;
}

static bool read_time(const char *text, int64_t *ns) {
    struct tm tm = {0};
    char again[TIME_BYTES + 1];
    for (int i = 0; i < TIME_BYTES; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        if (i == 8 ? text[i] != 'T' : i == 15 ? text[i] != 'Z' : !digit) {
            return false;
        }
    }
    if (sscanf(text, "%4d%2d%2dT%2d%2d%2dZ", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec) != 6) {
        return false;
    }
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    time_t seconds = timegm(&tm);
    *ns = nvtxt_time_ns(seconds, 0);
    // timegm() makes another day of one that does not exist.
    return gmtime_r(&seconds, &tm) &&
           strftime(again, sizeof(again), TIME_FORMAT, &tm) == TIME_BYTES &&
           memcmp(again, text, TIME_BYTES) == 0;
}

// What stands after the number; NULL when the name is not that of a segment.
static const char *parse(const struct place *place, const char *name, int64_t *started_ns,
                         uint64_t *number) {
    size_t stem = strlen(place->stem);
    if (strncmp(name, place->stem, stem) != 0 || name[stem] != '-' ||
        strnlen(name + stem + 1, TIME_BYTES + 1) <= TIME_BYTES ||
        !read_time(name + stem + 1, started_ns) || name[stem + 1 + TIME_BYTES] != '-') {
        return NULL;
    }
    const char *digits = name + stem + 2 + TIME_BYTES;
    const char *at = digits;
    *number = 0;
    for (; *at >= '0' && *at <= '9' && at - digits < 18; at++) {
        *number = *number * 10 + (uint64_t)(*at - '0');
    }
    bool whole = at > digits && *digits != '0' && strncmp(at, ENDING, sizeof(ENDING) - 1) == 0;
    return whole ? at + sizeof(ENDING) - 1 : NULL;
}

int store_segments_name(const char *path, int64_t started_ns, uint64_t number, char *name,
                        size_t size) {
    struct place place;
    char when[32];
    struct tm tm;
    time_t seconds = (time_t)(started_ns / 1000000000);
    int r = place_of(path, &place);
    if (r < 0) {
        return r;
    }
    if (!gmtime_r(&seconds, &tm) || strftime(when, sizeof(when), TIME_FORMAT, &tm) != TIME_BYTES) {
        return nvtxt_origin(-EOVERFLOW);
    }
    int len =
        snprintf(name, size, "%s%s-%s-%" PRIu64 ENDING, place.folder, place.stem, when, number);
    return len < (int)size ? 0 : nvtxt_origin(-ENAMETOOLONG);
}

// Finds the stem in the name of a segment: what stands before its time.
static bool split(const char *segment, struct place *place, uint64_t *number) {
    const char *name = nvtxt_base_name(segment);
    int64_t started_ns;
    if (place_of(segment, place) < 0) {
        return false;
    }
    for (const char *dash = strchr(name, '-'); dash; dash = strchr(dash + 1, '-')) {
        snprintf(place->stem, sizeof(place->stem), "%.*s", (int)(dash - name), name);
        const char *rest = parse(place, name, &started_ns, number);
        if (rest && !*rest) {
            return true;
        }
    }
    return false;
}

bool store_segments_stem(const char *segment, char *stem) {
    struct place place;
    uint64_t number;
    return split(segment, &place, &number) &&
           snprintf(stem, PATH_MAX, "%s%s", place.folder, place.stem) < PATH_MAX;
}

uint64_t store_segments_number(const char *segment) {
    struct place place;
    uint64_t number;
    return split(segment, &place, &number) ? number : 0;
}

// ---- Lists --------------------------------------------------------------------------------------

void store_segments_deinit(struct store_segments *segments) {
    for (size_t i = 0; i < segments->count; i++) {
        free(segments->rows[i].path);
    }
    free(segments->rows);
    *segments = (struct store_segments){0};
}

static int64_t bytes_of(const char *path) {
    int64_t bytes = 0;
    for (size_t i = 0; i < STORE_FILE_ENDINGS; i++) {
        int64_t size = store_file_size(path, store_file_endings[i]);
        bytes += size > 0 ? size : 0;
    }
    return bytes;
}

static int add_segment(struct store_segments *segments, const char *path, uint64_t number,
                       int64_t started_ns) {
    char *copy = strdup(path);
    struct store_segment *row =
        copy ? nvtxt_add(&segments->rows, &segments->count, sizeof(*row)) : NULL;
    if (!row) {
        free(copy);
        return nvtxt_origin(-ENOMEM);
    }
    *row = (struct store_segment){
        .path = copy, .number = number, .started_ns = started_ns, .bytes = bytes_of(path)};
    return 0;
}

// Calls `each` for every file of the folder, if there is one; ends with the first that returns
// below 0.
static int walk(const struct place *place,
                int (*each)(void *context, const struct place *place, const char *name),
                void *context) {
    DIR *folder = opendir(*place->folder ? place->folder : ".");
    if (!folder) {
        return errno == ENOENT ? 0 : nvtxt_origin(-errno);
    }
    int r = 0;
    const struct dirent *entry;
    while (r >= 0 && (errno = 0, entry = readdir(folder))) {
        r = each(context, place, entry->d_name);
    }
    // Else the rest of the folder would seem to be empty.
    r = r >= 0 && errno != 0 ? nvtxt_origin(-errno) : r;
    closedir(folder);
    return r < 0 ? r : 0;
}

static int add_if_segment(void *context, const struct place *place, const char *name) {
    char path[PATH_MAX];
    int64_t started_ns;
    uint64_t number;
    const char *rest = parse(place, name, &started_ns, &number);
    if (!rest || *rest) {
        return 0;
    }
    return store_file_name(path, place->folder, name) < 0
               ? 0
               : add_segment(context, path, number, started_ns);
}

static int compare(const void *a, const void *b) {
    const struct store_segment *left = a, *right = b;
    return NVTXT_ORDER(left->number, right->number) ?: strcmp(left->path, right->path);
}

int store_segments_scan(const char *path, struct store_segments *segments) {
    struct place place;
    *segments = (struct store_segments){0};
    int r = place_of(path, &place);
    r = r ?: walk(&place, add_if_segment, segments);
    if (r < 0) {
        store_segments_deinit(segments);
    } else if (segments->count > 0) {
        qsort(segments->rows, segments->count, sizeof(*segments->rows), compare);
    }
    return r;
}

int store_segments_list(const char *path, struct store_segments *segments) {
    char target[PATH_MAX];
    enum store_link link;
    *segments = (struct store_segments){0};
    int r = store_segments_link(path, &link, target);
    if (r == 0 && (link == STORE_LINK_NONE || link == STORE_LINK_VANISHED)) {
        r = nvtxt_origin(-ENOENT);
    }
    if (r == 0 && link != STORE_LINK_SEGMENT) {
        r = access(path, F_OK) < 0 ? nvtxt_origin(-errno) : add_segment(segments, path, 0, 0);
    } else if (r == 0) {
        r = store_segments_scan(path, segments);
        while (segments->count > 0 &&
               strcmp(segments->rows[segments->count - 1].path, target) != 0) {
            free(segments->rows[--segments->count].path); // made, but the link does not know it yet
        }
    }
    if (r < 0) {
        store_segments_deinit(segments);
    }
    return r;
}

// ---- The link -----------------------------------------------------------------------------------

int store_segments_link(const char *path, enum store_link *link, char *target) {
    struct place place;
    struct stat status;
    char says[PATH_MAX];
    int64_t started_ns;
    uint64_t number;
    int r = place_of(path, &place);
    if (r < 0) {
        return r;
    }
    *target = '\0';
    *link = STORE_LINK_NONE;
    if (lstat(path, &status) < 0) {
        return errno == ENOENT ? 0 : nvtxt_origin(-errno);
    }
    if (!S_ISLNK(status.st_mode)) {
        *link = S_ISREG(status.st_mode) ? STORE_LINK_FILE : STORE_LINK_OTHER;
        return 0;
    }
    ssize_t len = readlink(path, says, sizeof(says) - 1);
    if (len < 0) {
        return nvtxt_origin(-errno);
    }
    says[len] = '\0';
    const char *rest = strchr(says, '/') ? NULL : parse(&place, says, &started_ns, &number);
    if (!rest || *rest) {
        *link = STORE_LINK_FOREIGN;
        memcpy(target, says, (size_t)len + 1);
        return 0;
    }
    r = store_file_name(target, place.folder, says);
    *link = r < 0 || lstat(target, &status) == 0 ? STORE_LINK_SEGMENT : STORE_LINK_VANISHED;
    return r;
}

int store_segments_sync(const char *path) {
    struct place place;
    int r = place_of(path, &place);
    if (r < 0) {
        return r;
    }
    int fd = open(*place.folder ? place.folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return nvtxt_origin(-errno);
    }
    // Some network file systems cannot sync a folder; then this is the best there is.
    r = fsync(fd) < 0 && errno != EINVAL && errno != ENOTSUP ? nvtxt_origin(-errno) : 0;
    close(fd);
    return r;
}

// Puts a link with the text `target` at `path`; without a target, a second name of the file
// `segment`.
static int put(const char *path, const char *target, const char *segment) {
    char fresh[PATH_MAX];
    int r = store_file_name(fresh, path, ".link" STORE_SEGMENT_UNFINISHED);
    if (r < 0) {
        return r;
    }
    unlink(fresh); // a process that was killed here left it
    if ((target ? symlink(target, fresh) : link(segment, fresh)) < 0) {
        return nvtxt_origin(-errno);
    }
    if (rename(fresh, path) < 0) {
        r = nvtxt_origin(-errno);
        unlink(fresh);
    }
    return r;
}

// What stood at `path`: a link that said `before`, the file that is now the segment, or nothing.
static void take_back(const char *path, const char *before, bool was_there, const char *segment) {
    if (was_there) {
        (void)put(path, *before ? before : NULL, segment);
    } else {
        unlink(path);
    }
}

int store_segments_set_link(const char *path, const char *segment) {
    char before[PATH_MAX];
    struct stat status;
    int r = store_segments_sync(path);
    if (r < 0) {
        return r;
    }
    bool was_there = lstat(path, &status) == 0;
    ssize_t len = readlink(path, before, sizeof(before) - 1);
    before[len < 0 ? 0 : len] = '\0';
    r = put(path, nvtxt_base_name(segment), NULL);
    if (r < 0) {
        return r;
    }
    r = store_segments_sync(path);
    if (r < 0) { // after a power loss `path` could be the old one, without what was committed
        take_back(path, before, was_there, segment);
    }
    return r;
}

// ---- Files --------------------------------------------------------------------------------------

int store_segments_rename(const char *from, const char *to) {
    char old_name[PATH_MAX], new_name[PATH_MAX];
    for (size_t i = 1; i <= STORE_FILE_ENDINGS; i++) { // the main file last
        const char *ending = store_file_endings[i % STORE_FILE_ENDINGS];
        int r = store_file_name(old_name, from, ending);
        r = r ?: store_file_name(new_name, to, ending);
        if (r < 0 || (rename(old_name, new_name) < 0 && errno != ENOENT)) {
            return r < 0 ? r : nvtxt_origin(-errno);
        }
    }
    return 0;
}

int store_segments_remove(const char *segment) {
    char name[PATH_MAX];
    int r = 0;
    for (size_t i = 0; i < STORE_FILE_ENDINGS && r == 0; i++) { // the main file first
        r = store_file_name(name, segment, store_file_endings[i]);
        r = r == 0 && unlink(name) < 0 && errno != ENOENT ? nvtxt_origin(-errno) : r;
    }
    return r;
}

static bool is_log(const char *ending) {
    return strcmp(ending, "-wal") == 0 || strcmp(ending, "-shm") == 0;
}

static int tidy_one(void *context, const struct place *place, const char *name) {
    (void)context;
    char path[PATH_MAX];
    int64_t started_ns;
    uint64_t number;
    const char *rest = parse(place, name, &started_ns, &number);
    if (!rest || !*rest || store_file_name(path, place->folder, name) < 0) {
        return 0;
    }
    size_t unfinished = sizeof(STORE_SEGMENT_UNFINISHED) - 1;
    bool is_unfinished = strncmp(rest, STORE_SEGMENT_UNFINISHED, unfinished) == 0 &&
                         (!rest[unfinished] || is_log(rest + unfinished) ||
                          strcmp(rest + unfinished, "-journal") == 0);
    if (is_unfinished) {
        return unlink(path) < 0 && errno != ENOENT ? nvtxt_origin(-errno) : 0;
    }
    if (!is_log(rest)) {
        return 0;
    }
    path[strlen(path) - strlen(rest)] = '\0'; // the main file
    return access(path, F_OK) < 0 && errno == ENOENT ? store_segments_remove(path) : 0;
}

int store_segments_tidy(const char *path) {
    struct place place;
    int r = place_of(path, &place);
    return r ?: walk(&place, tidy_one, NULL);
}
