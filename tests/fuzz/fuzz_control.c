// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a request of the control socket and as a reply of it. A request is taken, or refused
// with a sentence that can be sent as a reply and read again, and so are its arguments; a reply is
// taken or not.
#include "tests/fuzz/replay.h"

#include <string.h>

#include "protocol/wire/ctlmsg.h"
#include "protocol/wire/ctlmsg_args.h"

// Arguments are taken, and then read as what the table says, or refused with a sentence.
static void check_arguments(const json_t *request) {
    static const struct nvtxt_ctl_arg args[] = {
        {"limit", NVTXT_CTL_INTEGER, false, 1, 1000, NULL},
        {"path", NVTXT_CTL_STRING, true, 1, 16, NULL},
        {"level", NVTXT_CTL_STRING, false, 0, 0, "error|warning"},
        {NULL, NVTXT_CTL_INTEGER, false, 0, 0, NULL},
    };
    char why[256] = "";
    int r = nvtxt_ctl_args_check(request, args, why, sizeof(why));
    must(r == 0 || (r == 1 && strlen(why) > 0));
    if (r == 0) {
        int64_t limit = nvtxt_ctl_integer(request, "limit", 1);
        const char *level = nvtxt_ctl_string(request, "level");
        must(limit >= 1 && limit <= 1000);
        must(strlen(nvtxt_ctl_string(request, "path")) <= 16);
        must(!level || strcmp(level, "error") == 0 || strcmp(level, "warning") == 0);
    }
    must(nvtxt_ctl_args_check(request, NULL, why, sizeof(why)) == 0 || strlen(why) > 0);
}

// What is formatted is one line that its reader takes.
static void read_back(struct nvtxt_buf *out, int64_t id, bool ok, const char *message) {
    struct nvtxt_ctl_reply reply = {0};
    must(!nvtxt_buf_failed(out) && out->len > 1);
    must(memchr(out->data, '\n', out->len) == out->data + out->len - 1);
    must(nvtxt_ctl_reply_parse((struct nvtxt_slice){out->data, out->len - 1}, &reply) == 0);
    must(reply.id == id && reply.ok == ok);
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
        check_arguments(request.object);
        int64_t id = json_integer_value(request.id);
        nvtxt_ctl_result_format(&out, request.id, request.object);
        read_back(&out, id, true, "");
        nvtxt_ctl_request_format(&out, 7, request.command, request.object);
        must(!nvtxt_buf_failed(&out));
        nvtxt_buf_clear(&out);
    } else {
        nvtxt_ctl_error_format(&out, request.id, NVTXT_CTL_BAD_REQUEST, why);
        read_back(&out, json_integer_value(request.id), false, why);
    }
    nvtxt_ctl_request_deinit(&request);
    if (nvtxt_ctl_reply_parse(line, &reply) == 0) {
        nvtxt_ctl_reply_deinit(&reply);
    }
    nvtxt_buf_deinit(&out);
    return 0;
}
