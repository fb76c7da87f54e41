// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a line of the data socket: as a hello, as a report of dropped lines, and as a reply.
// What is read has values in their ranges and text that may be shown. A hello or a report that is
// formatted and read again is the same.
#include "tests/fuzz/replay.h"

#include <string.h>

#include "protocol/wire/hello.h"
#include "protocol/wire/reply.h"

static void must_be_plain(const char *text) {
    for (; *text; text++) {
        must((unsigned char)*text >= 0x20 && *text != 0x7f);
    }
}

static void check_hello(struct nvtxt_slice line) {
    struct nvtxt_hello hello;
    struct nvtxt_hello again;
    char why[128];
    int result = nvtxt_hello_parse(line, &hello, why, sizeof(why));
    must(result >= NVTXT_HELLO_OK && result <= NVTXT_HELLO_UNSUPPORTED && (result == 0 || *why));
    if (result != 0) {
        return;
    }
    struct nvtxt_buf out = {0};
    nvtxt_hello_format(&out, &hello);
    must(!nvtxt_buf_failed(&out) && out.len - 1 <= NVTXT_HELLO_BYTES);
    must(nvtxt_hello_parse((struct nvtxt_slice){out.data, out.len - 1}, &again, why, sizeof(why)) ==
         0);
    must(strcmp(hello.session, again.session) == 0 && hello.has_pid == again.has_pid &&
         hello.pid == again.pid && hello.acked == again.acked &&
         hello.diagnostics == again.diagnostics && hello.mapping.mode == again.mapping.mode);
    must(hello.nvtx == again.nvtx && hello.expiry == again.expiry &&
         hello.escapes == again.escapes && (hello.escapes || !hello.nvtx));
    bool escapes, nvtx;
    must(nvtxt_hello_of_file(line, &escapes, &nvtx) == 1 && escapes == hello.escapes &&
         nvtx == (hello.nvtx > 0));
    nvtxt_buf_deinit(&out);
}

static void check_lost(struct nvtxt_slice line) {
    struct nvtxt_lost lost;
    struct nvtxt_lost again;
    if (!nvtxt_lost_parse(line, &lost)) {
        return;
    }
    struct nvtxt_buf out = {0};
    must(lost.lines > 0 && *lost.reason);
    nvtxt_lost_format(&out, &lost);
    must(nvtxt_lost_parse((struct nvtxt_slice){out.data, out.len - 1}, &again));
    must(lost.lines == again.lines && strcmp(lost.reason, again.reason) == 0);
    nvtxt_buf_deinit(&out);
}

static void check_keyed(struct nvtxt_slice line) {
    struct nvtxt_keyed keyed;
    struct nvtxt_keyed again;
    if (!nvtxt_keyed_parse(line, &keyed)) {
        return;
    }
    struct nvtxt_buf out = {0};
    must(*keyed.key && strlen(keyed.parent) <= NVTXT_PARENT_BYTES);
    nvtxt_keyed_format(&out, &keyed);
    must(out.len <= NVTXT_RANGE_BYTES);
    must(nvtxt_keyed_parse((struct nvtxt_slice){out.data, out.len - 1}, &again) == 1);
    must(strcmp(keyed.key, again.key) == 0 && !again.bad_parent);
    must(strcmp(keyed.bad_parent ? "" : keyed.parent, again.parent) == 0);
    nvtxt_buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct nvtxt_slice line = {(const char *)data, size};
    struct nvtxt_reply reply;
    check_hello(line);
    check_lost(line);
    check_keyed(line);
    if (nvtxt_reply_parse(line, &reply) == 0) {
        must(reply.line <= INT64_MAX && reply.events <= INT64_MAX && reply.protocol >= 0);
        must_be_plain(reply.message);
        must_be_plain(reply.code);
        must_be_plain(reply.severity);
    }
    return 0;
}
