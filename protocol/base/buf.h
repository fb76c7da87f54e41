// SPDX-License-Identifier: Apache-2.0
//
// A buffer that grows, for text that is written piece by piece: replies, saved states, control
// messages. After a failed allocation every append does nothing and nvtxt_buf_failed() is true: a
// writer of many pieces asks once, at its end.
#pragma once

#include <stdint.h>

#include "protocol/base/slice.h"

struct nvtxt_buf {
    char *data; // owned; NULL while empty
    size_t len;
    size_t cap;
    bool failed;
};

void nvtxt_buf_deinit(struct nvtxt_buf *buf); // frees; the buffer is empty and can be used again
void nvtxt_buf_clear(struct nvtxt_buf *buf);  // empties, keeps the memory, forgets a failure
void nvtxt_buf_trim(struct nvtxt_buf *buf, size_t most); // empties, keeps at most so much memory
void nvtxt_buf_drop(struct nvtxt_buf *buf, size_t len);  // the first bytes; frees if none are left
static inline bool nvtxt_buf_failed(const struct nvtxt_buf *buf) {
    return buf->failed;
}

// Makes room for `more` bytes at data + len, which the caller fills. Returns 0 or -ENOMEM.
int nvtxt_buf_reserve(struct nvtxt_buf *buf, size_t more);

void nvtxt_buf_add(struct nvtxt_buf *buf, const void *data, size_t len);
void nvtxt_buf_add_string(struct nvtxt_buf *buf, const char *string);
void nvtxt_buf_add_int(struct nvtxt_buf *buf, int64_t value);
void nvtxt_buf_add_uint(struct nvtxt_buf *buf, uint64_t value);

// A text, such as `,"line":`, and the value after it.
void nvtxt_buf_add_pair_int(struct nvtxt_buf *buf, const char *before, int64_t value);
void nvtxt_buf_add_pair_uint(struct nvtxt_buf *buf, const char *before, uint64_t value);
