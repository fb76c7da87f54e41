// SPDX-License-Identifier: Apache-2.0
//
// Lines from a descriptor, of a bounded length each, in memory that does not grow.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "protocol/base/slice.h"

enum report_lines_result {
    REPORT_LINES_END = 0,
    REPORT_LINES_ONE,
    REPORT_LINES_TOO_LONG, // the line is skipped
    REPORT_LINES_WAIT,     // there is no whole line without a read
};

struct report_lines {
    int fd; // borrowed
    size_t most;
    char *data; // owned
    size_t start, end, scanned, room;
    bool skips, ended;
};

// Lines of at most `most` bytes, without the line feed. Returns 0 or -ENOMEM.
int report_lines_init(struct report_lines *lines, int fd, size_t most);
void report_lines_deinit(struct report_lines *lines);

// The next line that is there already; it lives until the next call. The last one needs no line
// feed.
enum report_lines_result report_lines_take(struct report_lines *lines, struct nvtxt_slice *line);

// Reads once, after WAIT. Returns 0 or -errno; -EINTR when a signal came.
int report_lines_read(struct report_lines *lines);
