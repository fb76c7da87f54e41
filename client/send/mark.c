// SPDX-License-Identifier: Apache-2.0
//
// The lines are written into a file in memory: at most three, each no longer than a line of NVTXT
// may be.
#include "client/send/send_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "protocol/base/limits.h"
#include "protocol/base/origin.h"
#include "protocol/lang/value.h"

// The definition of a marker without a payload.
static const char definition[] =
    "@Marker,Time,TimeBase,ProcessId,ThreadId,CategoryId,Color,Message\n";

bool mark_payload_fits(const char *text) {
    int64_t integer;
    double real;
    return nvtxt_option_int64(text, &integer) ||
           nvtxt_decimal_parse(nvtxt_slice_of(text), &real) == 0;
}

static void format_tail(char *tail, size_t size, const char *payload) {
    int64_t integer;
    if (!payload) {
        snprintf(tail, size, "%s", "");
    } else if (nvtxt_option_int64(payload, &integer)) {
        snprintf(tail, size, ",%lld", (long long)integer);
    } else {
        snprintf(tail, size, ",'%.200s'", payload);
    }
}

static int write_lines(int fd, const struct mark *mark, char *line, size_t room) {
    char head[160], tail[256];
    uint32_t category = mark->category ? textlog_category(mark->category) : 0;
    size_t len = 0;
    if (mark->category) {
        snprintf(head, sizeof(head), "SetCategoryName,%u,", category);
        len = textlog_call(line, room, head, nvtxt_slice_of(mark->category), "");
        if (write(fd, line, len) != (ssize_t)len) {
            return nvtxt_origin(-EIO);
        }
    }
    if (!mark->payload && write(fd, definition, strlen(definition)) < 0) {
        return nvtxt_origin(-EIO);
    }
    format_tail(tail, sizeof(tail), mark->payload);
    snprintf(head, sizeof(head), "Marker,%lld,Manual,%u,%u,%u,0x%08x,", (long long)mark->time_ns,
             mark->pid, mark->pid, category, mark->color);
    len = textlog_call(line, room, head, nvtxt_slice_of(mark->text), tail);
    return write(fd, line, len) == (ssize_t)len && lseek(fd, 0, SEEK_SET) == 0 ? 0
                                                                               : nvtxt_origin(-EIO);
}

int mark_open(struct input *input, const struct mark *mark) {
    const struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    *input = (struct input){.name = "--mark", .fd = -1};
    char *line = malloc(limits.line_bytes);
    if (!line) {
        return nvtxt_origin(-ENOMEM);
    }
    input->fd = memfd_create("nvtxt-mark", MFD_CLOEXEC);
    int r = input->fd < 0 ? nvtxt_origin(-errno)
                          : write_lines(input->fd, mark, line, limits.line_bytes);
    input->is_regular = true;
    free(line);
    return r;
}

uint32_t mark_usual_pid(void) {
    pid_t parent = getppid();
    return (uint32_t)(parent > 1 ? parent : getpid());
}
