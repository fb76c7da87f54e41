// SPDX-License-Identifier: Apache-2.0
//
// The whole file goes into one buffer, and views of it are the lines: those that the interpreter
// counts. What is after the last LF is a line too, if it is not empty.
#include "protocol/table/arrays.h"
#include "report/load/replay.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "protocol/base/origin.h"

#define READ_LEAST ((size_t)4 << 10) // bytes at once

void report_file_text_deinit(struct report_file_text *text) {
    free(text->bytes);
    free(text->lines);
    *text = (struct report_file_text){0};
}

static int read_bytes(struct report_file_text *text, int fd, size_t *len) {
    size_t room = 0;
    for (;;) {
        int r = nvtxt_grow(&text->bytes, &room, *len + READ_LEAST, 1);
        if (r < 0) {
            return r;
        }
        ssize_t got = read(fd, text->bytes + *len, room - *len);
        if (got == 0) {
            return 0;
        }
        if (got < 0 && errno != EINTR) {
            return nvtxt_origin(-errno);
        }
        *len += got > 0 ? (size_t)got : 0;
    }
}

static int cut(struct report_file_text *text, size_t len) {
    size_t count = 1;
    for (size_t i = 0; i < len; i++) {
        count += text->bytes[i] == '\n';
    }
    text->lines = malloc(count * sizeof(*text->lines));
    if (!text->lines) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t at = 0; at < len;) {
        const char *begin = text->bytes + at;
        const char *end = memchr(begin, '\n', len - at);
        size_t size = end ? (size_t)(end - begin) : len - at;
        at += size + 1;
        size -= size > 0 && begin[size - 1] == '\r';
        text->lines[text->count++] = (struct nvtxt_slice){begin, size};
    }
    return 0;
}

int report_file_text_read(struct report_file_text *text, const char *path) {
    size_t len = 0;
    *text = (struct report_file_text){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return nvtxt_origin(-errno);
    }
    int r = read_bytes(text, fd, &len);
    close(fd);
    return r ?: cut(text, len);
}
