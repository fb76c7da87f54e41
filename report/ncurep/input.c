// SPDX-License-Identifier: Apache-2.0
//
// A file that says its size is read into memory of that size, a pipe into memory that grows. What
// is compressed is known by the first bytes, not by the name of the file, and what is no report,
// too.
#include "report/ncurep/input.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"

#define PIECE ((size_t)1 << 20)

#define MAGIC "NVR"
#define ZSTD_MAGIC "\x28\xB5\x2F\xFD"

static bool begins_as_zstd(struct nvtxt_slice bytes) {
    return bytes.len >= REPORT_NCUREP_FIRST && memcmp(bytes.data, ZSTD_MAGIC, 4) == 0;
}

bool report_ncurep_begins(struct nvtxt_slice bytes) {
    return begins_as_zstd(bytes) ||
           (bytes.len >= REPORT_NCUREP_FIRST && memcmp(bytes.data, MAGIC, 4) == 0);
}

struct reading {
    const struct report_ncurep_options *options;
    struct report_ncurep_fault *fault;
    int fd;
    struct report_bytes bytes;
};

static int fail(struct reading *reading, int code, int error) {
    snprintf(reading->fault->what, sizeof(reading->fault->what), "%s", strerror(error));
    return error == ENOMEM || error == EMFILE || error == ENFILE ? nvtxt_origin(-error) : code;
}

static bool is_stopped(const struct reading *reading) {
    return reading->options->interrupted && reading->options->interrupted();
}

static int grow(struct reading *reading, size_t wanted) {
    return report_bytes_grow(&reading->bytes, wanted, reading->options->max_memory, reading->fault);
}

static struct nvtxt_slice slice_of(const struct reading *reading) {
    return (struct nvtxt_slice){reading->bytes.data, reading->bytes.len};
}

// Of what does not begin as a report no more is read: it may have no end.
static bool is_none(const struct reading *reading) {
    return reading->bytes.len >= REPORT_NCUREP_FIRST && !report_ncurep_begins(slice_of(reading));
}

static int read_all(struct reading *reading) {
    struct report_bytes *bytes = &reading->bytes;
    while (!is_none(reading)) {
        if (is_stopped(reading)) {
            return REPORT_NCUREP_STOPPED;
        }
        int r = bytes->len == bytes->room ? grow(reading, 0) : 0;
        if (r != 0) {
            return r;
        }
        size_t room = bytes->room - bytes->len;
        ssize_t got = read(reading->fd, bytes->data + bytes->len, room < PIECE ? room : PIECE);
        if (got == 0) {
            return 0;
        }
        if (got < 0 && errno != EINTR) {
            return fail(reading, errno == EISDIR ? REPORT_NCUREP_NO_INPUT : REPORT_NCUREP_IO,
                        errno);
        }
        bytes->len += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static int read_file(struct reading *reading) {
    struct stat stat;
    int r = 0;
    if (fstat(reading->fd, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size > 0) {
        // One more: the end shows without more memory.
        r = grow(reading, (size_t)stat.st_size + 1);
    }
    return r ?: read_all(reading);
}

static int unpack(struct reading *reading) {
    struct report_bytes unpacked;
    if (!begins_as_zstd(slice_of(reading))) {
        return 0;
    }
    int r = report_zstd_unpack(slice_of(reading), reading->options, &unpacked, reading->fault);
    if (r == 0) {
        free(reading->bytes.data);
        reading->bytes = unpacked;
    }
    return r;
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
    int r = read_file(&reading);
    close(reading.fd);
    r = r ?: unpack(&reading);
    if (r != 0) {
        free(reading.bytes.data);
        return r;
    }
    *bytes = reading.bytes.data;
    *len = reading.bytes.len;
    return 0;
}
