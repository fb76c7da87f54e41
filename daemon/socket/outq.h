// SPDX-License-Identifier: Apache-2.0
//
// Replies on their way to a client: appended as text, written when the socket takes them, bounded.
// One write is under way at a time; what is appended meanwhile waits in a second buffer. When more
// than the limit waits there and a flush adds to it, the client does not read and is to be closed.
// What one flush adds may be more than the limit: no client can have read it before. An empty outq
// holds no memory. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "protocol/base/buf.h"

#define OUTQ_LIMIT_BYTES (1u << 20) // nvtxt-protocol(7): a client that never reads

struct outq {
    uv_stream_t *stream;
    struct nvtxt_buf waiting;
    struct nvtxt_buf writing;
    uv_write_t request;
    bool busy;
    bool abandoned; // the client does not read any more
    size_t limit;
    size_t flushed; // bytes in `waiting` at the last flush
    // Everything was written (status 0), or a write failed (-errno). May close the stream.
    void (*on_drained)(struct outq *outq, int status);
};

void outq_init(struct outq *outq, uv_stream_t *stream, size_t limit,
               void (*on_drained)(struct outq *outq, int status));

// In the stream's close callback: frees the buffers.
void outq_deinit(struct outq *outq);

// The buffer to append replies to; call outq_flush() after that.
static inline struct nvtxt_buf *outq_buffer(struct outq *outq) {
    return &outq->waiting;
}

enum {
    OUTQ_UNREAD = 1, // the client does not read: more than the limit waited before
    OUTQ_BROKEN,     // the socket takes no more
};

// Writes what the socket takes now, the rest later. Returns 0, one of the above, or -ENOMEM when an
// append had failed. Does not call on_drained.
int outq_flush(struct outq *outq);

// The client does not read any more: drops what waits, and what is appended from now on.
void outq_abandon(struct outq *outq);

bool outq_is_empty(const struct outq *outq);
