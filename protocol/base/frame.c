// SPDX-License-Identifier: Apache-2.0
//
// memchr() finds the end of each line. `partial` holds bytes only while a line is unfinished, or
// while the caller has that line (`taken`). It holds at most max_line bytes; of an overlong line
// (`skipping`) it holds the first OVERLONG_KEPT, for the diagnostic.
#include "protocol/base/frame.h"

#include <stdlib.h>

#include "protocol/base/limits.h"
#include "protocol/base/origin.h"

// Kept of an overlong line: its excerpt, a byte order mark before it, and what may be missing of
// the excerpt's last character.
#define OVERLONG_KEPT (NVTXT_EXCERPT_BYTES + 3 + 3)

void nvtxt_frame_init(struct nvtxt_frame *frame, size_t max_line) {
    *frame = (struct nvtxt_frame){.max_line = max_line};
}

static void drop_partial(struct nvtxt_frame *frame) {
    free(frame->partial);
    frame->partial = NULL;
    frame->partial_len = frame->partial_cap = 0;
    frame->taken = false;
}

void nvtxt_frame_deinit(struct nvtxt_frame *frame) {
    drop_partial(frame);
}

static int keep(struct nvtxt_frame *frame, const char *data, size_t len) {
    size_t need = frame->partial_len + len;
    if (need > frame->partial_cap) {
        size_t cap = frame->partial_cap ?: 128;
        while (cap < need) {
            cap *= 2;
        }
        char *grown = realloc(frame->partial, cap);
        if (!grown) {
            return nvtxt_origin(-ENOMEM);
        }
        frame->partial = grown;
        frame->partial_cap = cap;
    }
    if (len > 0) {
        memcpy(frame->partial + frame->partial_len, data, len);
    }
    frame->partial_len = need;
    return 0;
}

// Keeps the first bytes of an overlong line and lets the others go.
static int keep_start(struct nvtxt_frame *frame, const char *data, size_t len) {
    return keep(frame, data, nvtxt_min(len, OVERLONG_KEPT - frame->partial_len));
}

// The line has grown past the limit: remember its first bytes and skip the rest.
static int begin_skipping(struct nvtxt_frame *frame, const char *data, size_t len) {
    frame->partial_len = nvtxt_min(frame->partial_len, OVERLONG_KEPT);
    int r = keep_start(frame, data, len);
    if (r < 0) {
        return r;
    }
    char *shrunk = realloc(frame->partial, frame->partial_len ?: 1);
    if (shrunk) {
        frame->partial = shrunk;
        frame->partial_cap = frame->partial_len ?: 1;
    }
    frame->skipping = true;
    return 0;
}

static void advance(struct nvtxt_slice *input, size_t by) {
    input->data += by;
    input->len -= by;
}

static struct nvtxt_slice without_cr(const char *data, size_t len) {
    if (len > 0 && data[len - 1] == '\r') {
        len--;
    }
    return (struct nvtxt_slice){data, len};
}

static int hand_out(struct nvtxt_frame *frame, struct nvtxt_slice *line, bool overlong) {
    frame->taken = true;
    frame->skipping = false;
    *line = overlong ? (struct nvtxt_slice){frame->partial, frame->partial_len}
                     : without_cr(frame->partial, frame->partial_len);
    return overlong ? NVTXT_FRAME_OVERLONG : NVTXT_FRAME_LINE;
}

// Adds bytes of the line to what is kept of it.
static int swallow(struct nvtxt_frame *frame, const char *data, size_t len) {
    if (frame->skipping) {
        return keep_start(frame, data, len);
    }
    if (frame->partial_len + len > frame->max_line) {
        return begin_skipping(frame, data, len);
    }
    return keep(frame, data, len);
}

int nvtxt_frame_next(struct nvtxt_frame *frame, struct nvtxt_slice *input,
                     struct nvtxt_slice *line) {
    if (frame->taken) {
        drop_partial(frame);
    }
    if (input->len == 0) {
        return NVTXT_FRAME_MORE;
    }
    const char *end = memchr(input->data, '\n', input->len);
    const char *data = input->data;
    size_t len = end ? (size_t)(end - data) : input->len;
    if (end && frame->partial_len == 0 && !frame->skipping && len <= frame->max_line) {
        advance(input, len + 1);
        *line = without_cr(data, len);
        return NVTXT_FRAME_LINE;
    }
    int r = swallow(frame, data, len);
    if (r < 0) {
        return r;
    }
    advance(input, end ? len + 1 : len);
    return end ? hand_out(frame, line, frame->skipping) : NVTXT_FRAME_MORE;
}

int nvtxt_frame_finish(struct nvtxt_frame *frame, struct nvtxt_slice *line) {
    if (frame->taken) {
        drop_partial(frame);
    }
    if (frame->partial_len == 0 && !frame->skipping) {
        return NVTXT_FRAME_MORE;
    }
    return hand_out(frame, line, frame->skipping);
}

struct nvtxt_slice nvtxt_frame_pending(const struct nvtxt_frame *frame) {
    if (frame->taken) {
        return (struct nvtxt_slice){NULL, 0};
    }
    return (struct nvtxt_slice){frame->partial, frame->partial_len};
}
