// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the lines of requests over F1: each line gets one line of JSON, which has either a
// result or an error.
#include "tests/fuzz/replay.h"

#include <jansson.h>
#include <string.h>

#include "protocol/base/json.h"
#include "report/serve/objects.h"
#include "report/serve/serve.h"
#include "tests/unit/report_kit.h"

static struct report_serve *serve_f1(void) {
    static struct report_serve *serve;
    if (!serve) {
        struct report_objects *objects;
        must(report_captured_new(&objects, report_kit_f1()) == 0);
        must(report_serve_new(&serve, objects, "1") == 0);
    }
    return serve;
}

static void check_reply(const struct nvtxt_out *out) {
    json_t *reply;
    must(out->len > 0 && out->data[out->len - 1] == '\n');
    must(!memchr(out->data, '\n', out->len - 1));
    must(nvtxt_json_read((struct nvtxt_slice){out->data, out->len - 1}, 0, &reply, NULL) == 0);
    must(json_object_size(reply) == 2 && json_object_get(reply, "id"));
    must(json_object_get(reply, "result") || json_object_get(reply, "error"));
    json_decref(reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *at = (const char *)data;
    for (size_t left = size; left > 0;) {
        const char *end = memchr(at, '\n', left);
        size_t len = end ? (size_t)(end - at) : left;
        struct nvtxt_out out;
        must(nvtxt_out_init(&out, -1) == 0);
        must(report_serve_line(serve_f1(), (struct nvtxt_slice){at, len}, &out) == 0);
        check_reply(&out);
        nvtxt_out_deinit(&out);
        left -= len + (end != NULL);
        at += len + (end != NULL);
    }
    return 0;
}
