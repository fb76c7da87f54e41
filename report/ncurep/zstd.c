// SPDX-License-Identifier: Apache-2.0
//
// Decompresses piece by piece into memory that grows by half: what a frame says about its size is
// not believed.
#include "report/ncurep/input.h"

#include <stdio.h>
#include <stdlib.h>

#include <zstd.h>

#include "protocol/base/origin.h"

struct unpacking {
    const struct report_ncurep_options *options;
    struct report_ncurep_fault *fault;
    ZSTD_inBuffer in;
    struct report_bytes bytes;
};

static int broken(struct unpacking *to, const char *what) {
    to->fault->offset = to->in.pos;
    snprintf(to->fault->what, sizeof(to->fault->what), "zstd: %s", what);
    return REPORT_NCUREP_BROKEN;
}

static int unpack(struct unpacking *to, ZSTD_DStream *stream) {
    struct report_bytes *bytes = &to->bytes;
    size_t left = 1; // what zstd wants to have yet; 0: a frame is over
    while (to->in.pos < to->in.size || left > 0) {
        if (to->options->interrupted && to->options->interrupted()) {
            return REPORT_NCUREP_STOPPED;
        }
        int r = bytes->len == bytes->room
                    ? report_bytes_grow(bytes, 0, to->options->max_memory, to->fault)
                    : 0;
        if (r != 0) {
            return r;
        }
        ZSTD_outBuffer out = {bytes->data, bytes->room, bytes->len};
        size_t before = to->in.pos;
        left = ZSTD_decompressStream(stream, &out, &to->in);
        if (ZSTD_isError(left)) {
            return broken(to, ZSTD_getErrorName(left));
        }
        bool moved = to->in.pos > before || out.pos > bytes->len;
        bytes->len = out.pos;
        if (!moved && left > 0) {
            return broken(to, "the stream is cut off");
        }
    }
    return 0;
}

int report_zstd_unpack(struct nvtxt_slice packed, const struct report_ncurep_options *options,
                       struct report_bytes *bytes, struct report_ncurep_fault *fault) {
    struct unpacking to = {.options = options, .fault = fault, .in = {packed.data, packed.len, 0}};
    ZSTD_DStream *stream = ZSTD_createDStream();
    fault->offset = 0;
    int r = stream ? unpack(&to, stream) : nvtxt_origin(-ENOMEM);
    ZSTD_freeDStream(stream);
    if (r != 0) {
        free(to.bytes.data);
        to.bytes = (struct report_bytes){.data = NULL};
    }
    *bytes = to.bytes;
    return r;
}
