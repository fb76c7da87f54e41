// SPDX-License-Identifier: Apache-2.0
//
// Only framing and interpreting, of memory, on one core: the file goes through frame and interp in
// pieces as large as a read of the daemon, and the results are only counted. For comparison it does
// the least that any program must do with the same bytes: memchr() from line end to line end.
//
//   parse FILE      prints the MB (10^6 bytes) per second of both, the interpreter first
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "bench/workload.h"
#include "protocol/base/frame.h"
#include "protocol/interp/interp.h"

#define PIECE ((size_t)256 << 10) // SERVER_READ_BYTES

static struct nvtxt_slice load(const char *path) {
    struct stat stat;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat) < 0) {
        err(EX_NOINPUT, "%s", path);
    }
    char *data = malloc((size_t)stat.st_size + 1);
    if (!data) {
        err(EX_OSERR, "%s", path);
    }
    struct nvtxt_slice bytes = {data, 0};
    ssize_t n;
    while ((n = read(fd, data + bytes.len, (size_t)stat.st_size - bytes.len)) > 0) {
        bytes.len += (size_t)n;
    }
    close(fd);
    return bytes;
}

static int count_event(void *context, const struct nvtxt_event *event) {
    uint64_t *sum = context;
    *sum += (uint64_t)event->start; // so that nothing is optimized away
    return 0;
}

static int ignore_name(void *context, const struct nvtxt_name *name) {
    (void)context;
    (void)name;
    return 0;
}

static int refuse_diag(void *context, const struct nvtxt_diag *diag) {
    (void)context;
    errx(EX_DATAERR, "line %llu: %s", (unsigned long long)diag->line, diag->message);
}

static double interpret(struct nvtxt_slice bytes) {
    const struct nvtxt_source_config config = {.limits = NVTXT_LIMITS_DEFAULT};
    uint64_t sum = 0;
    const struct nvtxt_sink sink = {count_event, ignore_name, refuse_diag, &sum};
    double started = workload_seconds();
    struct nvtxt_interp *interp = nvtxt_interp_new(&config);
    struct nvtxt_frame frame;
    nvtxt_frame_init(&frame, config.limits.line_bytes);
    for (size_t at = 0; at < bytes.len; at += PIECE) {
        struct nvtxt_slice line;
        struct nvtxt_slice piece = {bytes.data + at,
                                    bytes.len - at < PIECE ? bytes.len - at : PIECE};
        while (nvtxt_frame_next(&frame, &piece, &line) == NVTXT_FRAME_LINE) {
            if (nvtxt_interp_line(interp, line, &sink) < 0) {
                errx(EX_OSERR, "the interpreter failed");
            }
        }
    }
    nvtxt_interp_end(interp, &sink);
    double seconds = workload_seconds() - started;
    if (nvtxt_interp_counters(interp)->events == 0 || sum == 0) {
        errx(EX_DATAERR, "no events");
    }
    nvtxt_frame_deinit(&frame);
    nvtxt_interp_free(interp);
    return (double)bytes.len / seconds / 1e6;
}

static double walk(struct nvtxt_slice bytes) {
    double started = workload_seconds();
    const char *at = bytes.data;
    const char *end = bytes.data + bytes.len;
    uint64_t lines = 0;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        lines++;
    }
    double seconds = workload_seconds() - started;
    if (lines == 0) {
        errx(EX_DATAERR, "no lines");
    }
    return (double)bytes.len / seconds / 1e6;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        errx(EX_USAGE, "usage: parse FILE");
    }
    struct nvtxt_slice bytes = load(argv[1]);
    double interpreted = interpret(bytes);
    printf("%.1f %.1f\n", interpreted, walk(bytes));
    free((char *)bytes.data);
    return 0;
}
