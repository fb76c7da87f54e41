// SPDX-License-Identifier: Apache-2.0
//
// Decompresses piece by piece into memory that grows by half: what a frame says about its size is
// not believed.
#include "report/ncurep/file/zstd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <zstd.h>

#define FIRST_ROOM ((size_t)256 << 10)

struct unpacking {
    const struct report_ncurep_options *options;
    struct report_ncurep_fault *fault;
    ZSTD_inBuffer in;
    char *bytes;
    size_t len, room;
};

static int make_room(struct unpacking *to) {
    uint64_t most = to->options->max_memory;
    size_t room = to->room > 0 ? to->room + to->room / 2 : FIRST_ROOM;
    if (most > 0 && to->len >= most) {
        snprintf(to->fault->what, sizeof(to->fault->what),
                 "what is compressed in it needs more than %llu bytes (--max-memory)",
                 (unsigned long long)most);
        return REPORT_NCUREP_TOO_LARGE;
    }
    room = most > 0 && room > most ? (size_t)most : room;
    char *bytes = realloc(to->bytes, room);
    if (!bytes) {
        return -ENOMEM;
    }
    to->bytes = bytes;
    to->room = room;
    return 0;
}

static int broken(struct unpacking *to, const char *what) {
    to->fault->offset = to->in.pos;
    snprintf(to->fault->what, sizeof(to->fault->what), "zstd: %s", what);
    return REPORT_NCUREP_BROKEN;
}

static int unpack(struct unpacking *to, ZSTD_DStream *stream) {
    size_t left = 1; // what zstd wants to have yet; 0: a frame is over
    while (to->in.pos < to->in.size || left > 0) {
        if (to->options->interrupted && to->options->interrupted()) {
            return REPORT_NCUREP_STOPPED;
        }
        int rc = to->len == to->room ? make_room(to) : 0;
        if (rc != 0) {
            return rc;
        }
        ZSTD_outBuffer out = {to->bytes, to->room, to->len};
        size_t before = to->in.pos;
        left = ZSTD_decompressStream(stream, &out, &to->in);
        if (ZSTD_isError(left)) {
            return broken(to, ZSTD_getErrorName(left));
        }
        bool moved = to->in.pos > before || out.pos > to->len;
        to->len = out.pos;
        if (!moved && left > 0) {
            return broken(to, "the stream is cut off");
        }
    }
    return 0;
}

int report_zstd_unpack(struct nvtxt_slice packed, const struct report_ncurep_options *options,
                       char **bytes, size_t *len, struct report_ncurep_fault *fault) {
    struct unpacking to = {.options = options, .fault = fault, .in = {packed.data, packed.len, 0}};
    ZSTD_DStream *stream = ZSTD_createDStream();
    fault->offset = 0;
    int rc = stream ? unpack(&to, stream) : -ENOMEM;
    ZSTD_freeDStream(stream);
    if (rc != 0) {
        free(to.bytes);
        to.bytes = NULL;
    }
    *bytes = to.bytes;
    *len = rc == 0 ? to.len : 0;
    return rc;
}
