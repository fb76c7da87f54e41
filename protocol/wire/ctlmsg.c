// SPDX-License-Identifier: Apache-2.0
//
// Messages are built with json_pack() and written into the buffer by a callback. Reading trusts no
// peer: a message has the members that it must have, or it is refused with a sentence. Text of a
// peer or of jansson is made valid UTF-8 before it goes into a message.
#include "protocol/wire/ctlmsg.h"

#include <stdio.h>
#include <string.h>

#include "protocol/base/utf8.h"

#define MESSAGE_BYTES 1000 // the rest of a longer message is cut off

static void copy(char *to, size_t size, const json_t *string) {
    const char *text = json_string_value(string);
    snprintf(to, size, "%s", text ?: "");
}

int nvtxt_ctl_request_parse(struct nvtxt_slice line, struct nvtxt_ctl_request *request, char *why,
                            size_t size) {
    *request = (struct nvtxt_ctl_request){0};
    json_error_t error;
    json_t *object = json_loadb(line.data ?: "", line.len, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(object)) {
        if (object) {
            snprintf(why, size, "a request is a JSON object");
        } else {
            snprintf(why, size, "bad JSON at byte %d: %s", error.position, error.text);
        }
        json_decref(object);
        return 1;
    }
    request->id = json_incref(json_object_get(object, "id"));
    const json_t *command = json_object_get(object, "command");
    const char *word = json_string_value(command);
    size_t len = json_string_length(command);
    if (!word || len == 0 || len > NVTXT_CTL_COMMAND_BYTES) {
        snprintf(why, size, "\"command\" must be a word of 1 to %d bytes", NVTXT_CTL_COMMAND_BYTES);
        json_decref(object);
        return 1;
    }
    memcpy(request->command, word, len);
    request->object = object;
    return 0;
}

void nvtxt_ctl_request_deinit(struct nvtxt_ctl_request *request) {
    json_decref(request->id);
    json_decref(request->object);
    *request = (struct nvtxt_ctl_request){0};
}

static int append(const char *data, size_t len, void *out) {
    nvtxt_buf_add(out, data, len);
    return nvtxt_buf_failed(out) ? -1 : 0;
}

// Takes `message`; NULL means that memory was short.
static void append_line(struct nvtxt_buf *out, json_t *message) {
    if (!message || json_dump_callback(message, append, out, JSON_COMPACT) < 0) {
        out->failed = true;
    }
    json_decref(message);
    nvtxt_buf_add(out, "\n", 1);
}

void nvtxt_ctl_request_format(struct nvtxt_buf *out, int64_t id, const char *command,
                              json_t *arguments) {
    json_t *message = json_pack("{s:I, s:s}", "id", (json_int_t)id, "command", command);
    if (message && arguments && json_object_update_missing(message, arguments) < 0) {
        json_decref(message);
        message = NULL;
    }
    append_line(out, message);
}

void nvtxt_ctl_result_format(struct nvtxt_buf *out, json_t *id, json_t *result) {
    append_line(out, json_pack("{s:O?, s:b, s:O}", "id", id, "ok", 1, "result", result));
}

void nvtxt_ctl_error_format(struct nvtxt_buf *out, json_t *id, const char *code,
                            const char *message) {
    char valid[NVTXT_UTF8_GROWTH * MESSAGE_BYTES];
    struct nvtxt_slice text = nvtxt_slice_cut(nvtxt_slice_of(message), MESSAGE_BYTES);
    text.len = nvtxt_utf8_repair(valid, text); // a JSON reader's error may be cut in a character
    append_line(out, json_pack("{s:O?, s:b, s:{s:s, s:s%}}", "id", id, "ok", 0, "error", "code",
                               code, "message", valid, text.len));
}

int nvtxt_ctl_reply_parse(struct nvtxt_slice line, struct nvtxt_ctl_reply *reply) {
    *reply = (struct nvtxt_ctl_reply){0};
    json_t *object = json_loadb(line.data ?: "", line.len, 0, NULL);
    const json_t *ok = json_object_get(object, "ok");
    if (!json_is_boolean(ok)) {
        json_decref(object);
        return 1;
    }
    reply->id = json_integer_value(json_object_get(object, "id"));
    reply->ok = json_is_true(ok);
    const json_t *error = json_object_get(object, "error");
    copy(reply->code, sizeof(reply->code), json_object_get(error, "code"));
    copy(reply->message, sizeof(reply->message), json_object_get(error, "message"));
    reply->result = json_incref(json_object_get(object, "result"));
    json_decref(object);
    return reply->ok && !reply->result;
}

void nvtxt_ctl_reply_deinit(struct nvtxt_ctl_reply *reply) {
    json_decref(reply->result);
    reply->result = NULL;
}
