// SPDX-License-Identifier: Apache-2.0
//
// The segments of a session that nobody has. Nothing that is read here is trusted: names, heads and
// line numbers must fit together. Where they do not, the session is left as it is, and a sentence
// says what does not fit.
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/spool/spool_inner.h"
#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

int spool_refuse(struct spool *spool, int r) {
    spool_fault(spool, "%s: %s", spool->dir, strerror(-r));
    return r;
}

// Another user's lines are not ours to send, nor the files ours to remove, not even for root: the
// daemon would take the lines for ours, or refuse the session.
int spool_leave_to_owner(struct spool *spool, const char *name, uid_t uid) {
    const struct passwd *owner = getpwuid(uid);
    spool_fault(spool,
                "%s/%s belongs to user %s (uid %u): it was left alone; that user can send it",
                spool->dir, name, owner ? owner->pw_name : "?", (unsigned)uid);
    return SPOOL_OTHERS;
}

// The number in the name of a segment of this session; 0 when it is none.
static uint64_t segment_number(const struct spool *spool, const char *name) {
    size_t len = strlen(spool->session);
    uint64_t number = 0;
    if (strncmp(name, spool->session, len) != 0 || name[len] != '.') {
        return 0;
    }
    const char *at = name + len + 1;
    for (; *at >= '0' && *at <= '9' && number < UINT64_MAX / 16; at++) {
        number = number * 10 + (uint64_t)(*at - '0');
    }
    return strcmp(at, SEGMENT_SUFFIX) == 0 ? number : 0;
}

static int by_number(const void *a, const void *b) {
    const struct spool_segment *one = a;
    const struct spool_segment *other = b;
    return (one->number > other->number) - (one->number < other->number);
}

// A second descriptor: fdopendir() takes the one that it is given.
static DIR *open_list(int dir_fd) {
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (!list && fd >= 0) {
        close(fd);
    }
    return list;
}

struct dirent *spool_next_entry(DIR *list, int *r) {
    errno = 0;
    struct dirent *entry = readdir(list);
    if (!entry && errno != 0) {
        *r = nvtxt_origin(-errno);
    }
    return entry;
}

int spool_find_segments(struct spool *spool) {
    DIR *list = open_list(spool->dir_fd);
    if (!list) {
        return spool_refuse(spool, nvtxt_origin(-errno));
    }
    int r = 0;
    for (struct dirent *entry; r == 0 && (entry = spool_next_entry(list, &r));) {
        uint64_t number = segment_number(spool, entry->d_name);
        if (number > 0) {
            r = nvtxt_grow(&spool->segments, &spool->cap, spool->count + 1,
                           sizeof(*spool->segments));
        }
        if (number > 0 && r == 0) {
            spool->segments[spool->count++] = (struct spool_segment){.number = number};
        }
    }
    closedir(list);
    if (spool->count > 0) {
        qsort(spool->segments, spool->count, sizeof(*spool->segments), by_number);
    }
    return r < 0 ? spool_refuse(spool, r) : 0;
}

int spool_check_owners(struct spool *spool) {
    char name[SPOOL_NAME_BYTES];
    struct stat status;
    for (size_t i = 0; i < spool->count; i++) {
        spool_segment_name(spool, spool->segments[i].number, name, sizeof(name));
        if (fstatat(spool->dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            return spool_refuse(spool, nvtxt_origin(-errno));
        }
        if (status.st_uid != geteuid()) {
            return spool_leave_to_owner(spool, name, status.st_uid);
        }
    }
    return 0;
}

static int bad_segment(struct spool *spool, uint64_t number, const char *what) {
    char name[SPOOL_NAME_BYTES];
    spool_segment_name(spool, number, name, sizeof(name));
    spool_fault(spool, "%s/%s: %s", spool->dir, name, what);
    return SPOOL_BAD;
}

const char *spool_newer(uint64_t version, uint32_t known, char what[SPOOL_NEWER_BYTES]) {
    snprintf(what, SPOOL_NEWER_BYTES,
             "it is of version %" PRIu64
             " of spools, and this program reads up to version %u: install a "
             "newer package nvtxt-tools",
             version, known);
    return what;
}

static int open_segment(const struct spool *spool, uint64_t number) {
    char name[SPOOL_NAME_BYTES];
    spool_segment_name(spool, number, name, sizeof(name));
    return openat(spool->dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

// Writes the sentence for the bytes from `offset` on, which cannot be used.
static void leave_out(struct spool *spool, uint64_t number, uint64_t size, uint64_t offset) {
    char what[128];
    snprintf(what, sizeof(what), "%llu bytes from offset %llu on are no whole record: left out",
             (unsigned long long)(size - offset), (unsigned long long)offset);
    (void)bad_segment(spool, number, what);
}

// Counts the records of the last segment. What stands after the last whole one is left out, with a
// sentence. The descriptor stays open as the tail.
static int recover_tail(struct spool *spool, struct spool_segment *segment) {
    struct segment_record record;
    struct stat status;
    int r;
    segment_reader_start(&spool->reader, spool->tail_fd, SEGMENT_HEAD_BYTES, segment->first);
    do {
        r = segment_next(&spool->reader, &spool->crc, &record);
    } while (r == 0);
    segment->lines = spool->reader.line - segment->first;
    segment->size = spool->reader.at;
    if (r == SEGMENT_DAMAGED) {
        r = segment_judge(&spool->reader, &spool->crc);
    }
    if (r == SEGMENT_DAMAGED) {
        return spool_bad_record(spool, segment->number, segment->size, "damaged");
    }
    if (r < 0 || fstat(spool->tail_fd, &status) != 0) {
        return bad_segment(spool, segment->number, strerror(r < 0 ? -r : errno)),
               nvtxt_origin(-EIO);
    }
    if (r == SEGMENT_CUT) {
        leave_out(spool, segment->number, (uint64_t)status.st_size, segment->size);
    }
    return 0;
}

// The head of segment i. The last one may have none: its writer was killed before it had written
// it, or the machine lost power. Then `*none` is set and it does not count.
static int read_head(struct spool *spool, size_t i, bool *none) {
    struct spool_segment *segment = &spool->segments[i];
    struct segment_head head;
    struct stat status = {0};
    int fd = open_segment(spool, segment->number);
    int r = fd < 0 || fstat(fd, &status) != 0 ? nvtxt_origin(-errno)
                                              : segment_read_head(fd, &spool->crc, &head);
    bool is_last = i + 1 == spool->count;
    *none = is_last && r == SEGMENT_CUT;
    if (*none && status.st_size > 0) {
        leave_out(spool, segment->number, (uint64_t)status.st_size, 0);
    }
    if (fd >= 0 && is_last && r == 0) {
        spool->tail_fd = fd;
    } else if (fd >= 0) {
        close(fd);
    }
    if (*none) {
        return 0;
    }
    if (r < 0) {
        (void)bad_segment(spool, segment->number, strerror(-r));
        return r;
    }
    if (r == SEGMENT_NEWER) {
        char what[SPOOL_NEWER_BYTES];
        return bad_segment(spool, segment->number,
                           spool_newer(head.version, SEGMENT_VERSION, what));
    }
    if (r > 0) {
        return bad_segment(spool, segment->number, "the head, bytes 0 to 79, is damaged");
    }
    if (strcmp(head.session, spool->session) != 0) {
        return bad_segment(spool, segment->number, "it is of another session");
    }
    segment->first = head.first;
    segment->lost = head.lost;
    segment->size = (uint64_t)status.st_size;
    return 0;
}

// Finds how many lines a segment has by the first line of the next one.
static int count_lines(struct spool *spool, struct spool_segment *segment) {
    const struct spool_segment *next = segment + 1;
    uint64_t lost = segment->lost > 0;
    if (next->number != segment->number + 1) {
        return bad_segment(spool, segment->number + 1, "it is missing");
    }
    if (next->first < segment->first + lost) {
        return bad_segment(spool, next->number, "it begins before the one before it");
    }
    segment->lines = next->first - segment->first - lost;
    return 0;
}

int spool_read_segments(struct spool *spool) {
    bool none = false;
    int r = spool_find_segments(spool);
    r = r ?: spool_check_owners(spool);
    for (size_t i = 0; r == 0 && i < spool->count; i++) {
        r = read_head(spool, i, &none);
    }
    if (r == 0 && none) { // its file is removed in the end
        spool->stray = spool->segments[--spool->count].number;
        if (spool->count > 0) {
            r = read_head(spool, spool->count - 1, &none);
            none = false;
        }
    }
    for (size_t i = 0; r == 0 && i + 1 < spool->count; i++) {
        r = count_lines(spool, &spool->segments[i]);
    }
    if (r == 0 && spool->count > 0) {
        struct spool_segment *end = &spool->segments[spool->count - 1];
        r = recover_tail(spool, end);
        spool->last = end->first + end->lines - (end->lost == 0);
    }
    return r;
}
