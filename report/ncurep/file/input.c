// SPDX-License-Identifier: Apache-2.0
//
// A file that says its size is read into memory of that size, a pipe into memory that grows. What
// is compressed is known by the first bytes, not by the name of the file, and what is no report,
// too.
#include "report/ncurep/file/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/ncurep/file/zstd.h"

#define PIECE ((size_t)1 << 20)
#define FIRST_ROOM ((size_t)64 << 10)

#define MAGIC_BYTES 4
static const char magic[MAGIC_BYTES] = {'N', 'V', 'R', '\0'};
static const char zstd_magic[MAGIC_BYTES] = {'\x28', '\xB5', '\x2F', '\xFD'};

struct reading {
    const struct report_ncurep_options *options;
    struct report_ncurep_fault *fault;
    int fd;
    char *bytes;
    size_t len, room;
};

static int fail(struct reading *reading, int code, int error) {
    snprintf(reading->fault->what, sizeof(reading->fault->what), "%s", strerror(error));
    return error == ENOMEM || error == EMFILE || error == ENFILE ? -error : code;
}

static bool is_stopped(const struct reading *reading) {
    return reading->options->interrupted && reading->options->interrupted();
}

static int grow(struct reading *reading, size_t room) {
    uint64_t most = reading->options->max_memory;
    if (most > 0 && room > most && reading->len < most) {
        room = (size_t)most;
    }
    if (most > 0 && room > most) {
        snprintf(reading->fault->what, sizeof(reading->fault->what),
                 "it needs more than %llu bytes (--max-memory)", (unsigned long long)most);
        return REPORT_NCUREP_TOO_LARGE;
    }
    char *bytes = realloc(reading->bytes, room);
    if (!bytes) {
        return -ENOMEM;
    }
    reading->bytes = bytes;
    reading->room = room;
    return 0;
}

static bool begins_with(const struct reading *reading, const char bytes[MAGIC_BYTES]) {
    return reading->len >= MAGIC_BYTES && memcmp(reading->bytes, bytes, MAGIC_BYTES) == 0;
}

// Of what does not begin as a report no more is read: it may have no end.
static bool is_none(const struct reading *reading) {
    return reading->len >= MAGIC_BYTES && !begins_with(reading, magic) &&
           !begins_with(reading, zstd_magic);
}

static int read_all(struct reading *reading) {
    while (!is_none(reading)) {
        int rc = 0;
        if (is_stopped(reading)) {
            return REPORT_NCUREP_STOPPED;
        }
        if (reading->len == reading->room) {
            rc = grow(reading,
                      reading->room > 0 ? reading->room + reading->room / 2 + 1 : FIRST_ROOM);
        }
        if (rc != 0) {
            return rc;
        }
        size_t room = reading->room - reading->len;
        ssize_t got = read(reading->fd, reading->bytes + reading->len, room < PIECE ? room : PIECE);
        if (got == 0) {
            return 0;
        }
        if (got < 0 && errno != EINTR) {
            return fail(reading, errno == EISDIR ? REPORT_NCUREP_NO_INPUT : REPORT_NCUREP_IO,
                        errno);
        }
        reading->len += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static int read_file(struct reading *reading) {
    struct stat stat;
    int rc = 0;
    if (fstat(reading->fd, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size > 0) {
        // One more: the end shows without more memory.
        rc = grow(reading, (size_t)stat.st_size + 1);
    }
    return rc == 0 ? read_all(reading) : rc;
}

static int unpack(struct reading *reading) {
    struct nvtxt_slice packed = {reading->bytes, reading->len};
    char *bytes;
    size_t len;
    if (!begins_with(reading, zstd_magic)) {
        return 0;
    }
    int rc = report_zstd_unpack(packed, reading->options, &bytes, &len, reading->fault);
    if (rc == 0) {
        free(reading->bytes);
        reading->bytes = bytes;
        reading->len = len;
    }
    return rc;
}

int report_ncurep_read(const char *path, const struct report_ncurep_options *options, char **bytes,
                       size_t *len, struct report_ncurep_fault *fault) {
    struct reading reading = {.options = options, .fault = fault};
    *fault = (struct report_ncurep_fault){.offset = 0};
    *bytes = NULL;
    *len = 0;
    do { // a pipe waits for somebody who writes to it
        reading.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    } while (reading.fd < 0 && errno == EINTR && !is_stopped(&reading));
    if (reading.fd < 0) {
        return is_stopped(&reading) ? REPORT_NCUREP_STOPPED
                                    : fail(&reading, REPORT_NCUREP_NO_INPUT, errno);
    }
    int rc = read_file(&reading);
    close(reading.fd);
    rc = rc == 0 ? unpack(&reading) : rc;
    if (rc != 0) {
        free(reading.bytes);
        return rc;
    }
    *bytes = reading.bytes;
    *len = reading.len;
    return 0;
}
