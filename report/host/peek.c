// SPDX-License-Identifier: Apache-2.0
//
// A function ends where a line begins with something else than a blank; its first `return` counts.
#include "report/host/peek.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NOWHERE SIZE_MAX

static size_t find_in(struct nvtxt_slice text, size_t from, size_t to, const char *word) {
    size_t len = strlen(word);
    for (size_t at = from; at + len <= to; at++) {
        if (memcmp(text.data + at, word, len) == 0) {
            return at;
        }
    }
    return NOWHERE;
}

// Where the line after `at` begins.
static size_t next_line(struct nvtxt_slice text, size_t at) {
    const char *end = at < text.len ? memchr(text.data + at, '\n', text.len - at) : NULL;
    return end ? (size_t)(end - text.data) + 1 : text.len;
}

static size_t end_of_function(struct nvtxt_slice text, size_t at) {
    for (at = next_line(text, at); at < text.len; at = next_line(text, at)) {
        if (!strchr(" \t\r\n#", text.data[at])) {
            break;
        }
    }
    return at;
}

// A string in quotes that begins at `at`.
static struct nvtxt_slice string_at(struct nvtxt_slice text, size_t at, size_t end) {
    struct nvtxt_slice none = {0};
    while (at < end && text.data[at] == ' ') {
        at++;
    }
    if (at >= end || !strchr("\"'", text.data[at])) {
        return none;
    }
    const char *begin = text.data + at + 1;
    const char *close = memchr(begin, text.data[at], end - at - 1);
    size_t len = close ? (size_t)(close - begin) : 0;
    bool plain = len > 0 && !memchr(begin, '\\', len) && !memchr(begin, '\n', len);
    return plain ? (struct nvtxt_slice){begin, len} : none;
}

bool report_peek(struct nvtxt_slice text, const char *function, struct nvtxt_slice *value) {
    char head[64];
    int len = snprintf(head, sizeof(head), "def %s(", function);
    *value = (struct nvtxt_slice){0};
    for (size_t at = 0; at < text.len; at = next_line(text, at)) {
        if (text.len - at < (size_t)len || memcmp(text.data + at, head, (size_t)len) != 0) {
            continue;
        }
        size_t end = end_of_function(text, at);
        size_t word = find_in(text, at, end, "return ");
        if (word != NOWHERE) {
            *value = string_at(text, word + strlen("return "), end);
        }
        return true;
    }
    return false;
}
