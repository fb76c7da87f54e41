// SPDX-License-Identifier: Apache-2.0
//
// The capacity doubles, so that a text of any length costs few allocations. What is in the buffer
// when an allocation fails stays there, but the buffer takes nothing more: a text with a hole in it
// is worse than none.
#include "protocol/base/buf.h"

#include <stdlib.h>

#include "protocol/base/origin.h"

#define FIRST_CAPACITY 256u // a reply or two

void nvtxt_buf_deinit(struct nvtxt_buf *buf) {
    free(buf->data);
    *buf = (struct nvtxt_buf){0};
}

void nvtxt_buf_clear(struct nvtxt_buf *buf) {
    buf->len = 0;
    buf->failed = false;
}

void nvtxt_buf_trim(struct nvtxt_buf *buf, size_t most) {
    if (buf->cap > most) {
        nvtxt_buf_deinit(buf);
    } else {
        nvtxt_buf_clear(buf);
    }
}

void nvtxt_buf_drop(struct nvtxt_buf *buf, size_t len) {
    if (len == buf->len) {
        nvtxt_buf_deinit(buf);
        return;
    }
    memmove(buf->data, buf->data + len, buf->len - len);
    buf->len -= len;
}

static bool reserve(struct nvtxt_buf *buf, size_t more) {
    if (buf->failed) {
        return false;
    }
    if (more <= buf->cap - buf->len) {
        return true;
    }
    size_t cap = buf->cap ?: FIRST_CAPACITY;
    while (cap - buf->len < more && cap <= SIZE_MAX / 2) {
        cap *= 2;
    }
    char *data = cap - buf->len < more ? NULL : realloc(buf->data, cap);
    if (!data) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->cap = cap;
    return true;
}

int nvtxt_buf_reserve(struct nvtxt_buf *buf, size_t more) {
    return reserve(buf, more) ? 0 : nvtxt_origin(-ENOMEM);
}

void nvtxt_buf_add(struct nvtxt_buf *buf, const void *data, size_t len) {
    if (len == 0 || !reserve(buf, len)) {
        return;
    }
    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
}

void nvtxt_buf_add_string(struct nvtxt_buf *buf, const char *string) {
    nvtxt_buf_add(buf, string, strlen(string));
}

void nvtxt_buf_add_uint(struct nvtxt_buf *buf, uint64_t value) {
    char digits[20]; // 2^64 - 1 has twenty
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    nvtxt_buf_add(buf, digits + at, sizeof(digits) - at);
}

void nvtxt_buf_add_int(struct nvtxt_buf *buf, int64_t value) {
    if (value >= 0) {
        nvtxt_buf_add_uint(buf, (uint64_t)value);
        return;
    }
    nvtxt_buf_add(buf, "-", 1);
    nvtxt_buf_add_uint(buf, 0 - (uint64_t)value);
}

void nvtxt_buf_add_pair_int(struct nvtxt_buf *buf, const char *before, int64_t value) {
    nvtxt_buf_add_string(buf, before);
    nvtxt_buf_add_int(buf, value);
}

void nvtxt_buf_add_pair_uint(struct nvtxt_buf *buf, const char *before, uint64_t value) {
    nvtxt_buf_add_string(buf, before);
    nvtxt_buf_add_uint(buf, value);
}
