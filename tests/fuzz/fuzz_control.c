// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a request of the control socket and as a reply of it. A request is taken, or refused
// with a sentence that can be sent as a reply and read again; a reply is taken or not.
#include "tests/fuzz/replay.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/ctlmsg.h"

static void must(bool condition) {
    if (!condition)
        abort();
}

// What is formatted is one line that its reader takes.
static void read_back(struct nvtxt_buf *out, bool ok, const char *message) {
    struct nvtxt_ctl_reply reply = {0};
    must(!nvtxt_buf_failed(out) && out->len > 1);
    must(memchr(out->data, '\n', out->len) == out->data + out->len - 1);
    must(nvtxt_ctl_reply_parse((struct nvtxt_slice){out->data, out->len - 1}, &reply) == 0);
    must(reply.id == 7 && reply.ok == ok);
    must(ok || strlen(reply.message) > 0 || !*message);
    nvtxt_ctl_reply_deinit(&reply);
    nvtxt_buf_clear(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct nvtxt_slice line = {(const char *)data, size};
    struct nvtxt_ctl_request request;
    struct nvtxt_ctl_reply reply;
    struct nvtxt_buf out = {0};
    char why[256] = "";
    int r = nvtxt_ctl_request_parse(line, &request, why, sizeof(why));
    must(r == 0 || (r == 1 && !request.object && strlen(why) > 0));
    if (r == 0) {
        must(request.object && strlen(request.command) <= NVTXT_CTL_COMMAND_BYTES);
        nvtxt_ctl_result_format(&out, 7, request.object);
        read_back(&out, true, "");
        nvtxt_ctl_request_format(&out, 7, request.command, request.object);
        must(!nvtxt_buf_failed(&out));
        nvtxt_buf_clear(&out);
        nvtxt_ctl_request_deinit(&request);
    } else {
        nvtxt_ctl_error_format(&out, 7, NVTXT_CTL_BAD_REQUEST, why);
        read_back(&out, false, why);
    }
    if (nvtxt_ctl_reply_parse(line, &reply) == 0)
        nvtxt_ctl_reply_deinit(&reply);
    nvtxt_buf_deinit(&out);
    return 0;
}
