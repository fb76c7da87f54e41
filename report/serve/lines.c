// SPDX-License-Identifier: Apache-2.0
//
// One buffer has room for the longest line and a read more. What is taken is dropped when the rest
// has no room; of a line that is too long nothing is kept.
#include "report/serve/lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/base/origin.h"

#define READ_BYTES ((size_t)64 * 1024)

int report_lines_init(struct report_lines *lines, int fd, size_t most) {
    *lines = (struct report_lines){.fd = fd, .most = most, .room = most + 1 + READ_BYTES};
    lines->data = malloc(lines->room);
    return lines->data ? 0 : nvtxt_origin(-ENOMEM);
}

void report_lines_deinit(struct report_lines *lines) {
    free(lines->data);
    lines->data = NULL;
}

static enum report_lines_result take_line(struct report_lines *lines, size_t len, size_t used,
                                          struct nvtxt_slice *line) {
    bool skipped = lines->skips;
    *line = (struct nvtxt_slice){lines->data + lines->start, len};
    lines->start += used;
    lines->scanned = lines->start;
    lines->skips = false;
    return skipped || len > lines->most ? REPORT_LINES_TOO_LONG : REPORT_LINES_ONE;
}

enum report_lines_result report_lines_take(struct report_lines *lines, struct nvtxt_slice *line) {
    const char *end = lines->end > lines->scanned
                          ? memchr(lines->data + lines->scanned, '\n', lines->end - lines->scanned)
                          : NULL;
    if (end) {
        size_t len = (size_t)(end - lines->data) - lines->start;
        return take_line(lines, len, len + 1, line);
    }
    size_t left = lines->end - lines->start;
    lines->scanned = lines->end;
    if (lines->ended) {
        return left > 0 || lines->skips ? take_line(lines, left, left, line) : REPORT_LINES_END;
    }
    if (left > lines->most || lines->skips) {
        lines->skips = true;
        lines->start = lines->scanned = lines->end = 0;
    }
    return REPORT_LINES_WAIT;
}

int report_lines_read(struct report_lines *lines) {
    // The front first: pages of the buffer that nothing needs stay untouched.
    if (lines->start == lines->end || lines->room - lines->end < READ_BYTES) {
        memmove(lines->data, lines->data + lines->start, lines->end - lines->start);
        lines->end -= lines->start;
        lines->scanned -= lines->start;
        lines->start = 0;
    }
    ssize_t got = read(lines->fd, lines->data + lines->end, lines->room - lines->end);
    if (got < 0) {
        return nvtxt_origin(-errno);
    }
    lines->ended = got == 0;
    lines->end += (size_t)got;
    return 0;
}
