// SPDX-License-Identifier: Apache-2.0
//
// What the socket takes at once is written at once, without a request of libuv; only the rest
// waits. A flush swaps two buffers: the one that is written belongs to libuv until it is done. The
// bound is checked at a flush, against what waited at the flush before.
#include "daemon/socket/outq.h"

#include "protocol/base/origin.h"

void outq_init(struct outq *outq, uv_stream_t *stream, size_t limit,
               void (*on_drained)(struct outq *outq, int status)) {
    *outq = (struct outq){.stream = stream, .limit = limit, .on_drained = on_drained};
    outq->request.data = outq;
}

void outq_deinit(struct outq *outq) {
    nvtxt_buf_deinit(&outq->waiting);
    nvtxt_buf_deinit(&outq->writing);
}

bool outq_is_empty(const struct outq *outq) {
    return !outq->busy && outq->waiting.len == 0;
}

static int start_write(struct outq *outq);

static void on_written(uv_write_t *request, int status) {
    struct outq *outq = request->data;
    outq->busy = false;
    nvtxt_buf_deinit(&outq->writing);
    if (status == UV_ECANCELED) {
        return; // the stream is being closed
    }
    if (status == 0 && outq->waiting.len > 0) {
        status = start_write(outq);
    }
    if (status < 0 || !outq->busy) {
        outq->on_drained(outq, status);
    }
}

static int start_write(struct outq *outq) {
    outq->writing = outq->waiting;
    outq->waiting = (struct nvtxt_buf){0};
    outq->flushed = 0;
    uv_buf_t piece = uv_buf_init(outq->writing.data, (unsigned)outq->writing.len);
    int r = uv_write(&outq->request, outq->stream, &piece, 1, on_written);
    if (r < 0) {
        nvtxt_buf_deinit(&outq->writing);
        return r;
    }
    outq->busy = true;
    return 0;
}

void outq_abandon(struct outq *outq) {
    outq->abandoned = true;
    nvtxt_buf_deinit(&outq->waiting);
}

int outq_flush(struct outq *outq) {
    if (outq->abandoned) {
        nvtxt_buf_clear(&outq->waiting);
        return 0;
    }
    if (nvtxt_buf_failed(&outq->waiting)) {
        return nvtxt_origin(-ENOMEM);
    }
    if (outq->waiting.len == 0) {
        return 0;
    }
    if (outq->busy) {
        bool over = outq->flushed > outq->limit && outq->waiting.len > outq->flushed;
        outq->flushed = outq->waiting.len;
        return over ? OUTQ_UNREAD : 0;
    }
    uv_buf_t piece = uv_buf_init(outq->waiting.data, (unsigned)outq->waiting.len);
    int n = uv_try_write(outq->stream, &piece, 1);
    if (n < 0 && n != UV_EAGAIN) {
        return OUTQ_BROKEN;
    }
    if (n > 0) {
        nvtxt_buf_drop(&outq->waiting, (size_t)n);
    }
    if (outq->waiting.len == 0) {
        return 0;
    }
    return start_write(outq) < 0 ? OUTQ_BROKEN : 0;
}
