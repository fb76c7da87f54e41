// SPDX-License-Identifier: Apache-2.0
//
// A line is read by jansson. What is wrong is put into the request as a text, cut at its room, and
// written when the caller asks for it.
#include "report/serve/request.h"

#include <stdarg.h>
#include <stdio.h>

#include "protocol/base/json.h"

int report_request_refuse(struct report_request *request, enum report_request_code code,
                          const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(request->text, sizeof(request->text), format, args);
    va_end(args);
    request->code = code;
    return NVTXT_WRONG;
}

static int take_members(struct report_request *request) {
    const json_t *id = json_object_get(request->root, "id");
    const json_t *method = json_object_get(request->root, "method");
    const json_t *params = json_object_get(request->root, "params");
    if (!json_is_integer(id)) {
        return report_request_refuse(request, REPORT_BAD_REQUEST, "'id' is not an integer");
    }
    request->has_id = true;
    request->id = json_integer_value(id);
    if (!json_is_string(method)) {
        return report_request_refuse(request, REPORT_BAD_REQUEST, "'method' is not a text");
    }
    request->method = json_string_value(method);
    if (params && !json_is_null(params) && !json_is_object(params)) {
        return report_request_refuse(request, REPORT_BAD_PARAMS, "'params' is not an object");
    }
    request->params = params;
    return 0;
}

int report_request_read(struct report_request *request, struct nvtxt_slice line) {
    json_error_t error = {.text = ""};
    *request = (struct report_request){.root = NULL};
    int r = nvtxt_json_read(line, 0, &request->root, &error);
    if (r < 0) {
        return r;
    }
    if (r == NVTXT_JSON_BAD) {
        return report_request_refuse(request, REPORT_BAD_REQUEST, "not JSON%s%s",
                                     error.text[0] ? ": " : "", error.text);
    }
    if (!json_is_object(request->root)) {
        return report_request_refuse(request, REPORT_BAD_REQUEST, "not an object");
    }
    return take_members(request);
}

void report_request_deinit(struct report_request *request) {
    json_decref(request->root);
    request->root = NULL;
}

// ---- The frame of the reply ---------------------------------------------------------------------

static void begin_reply(const struct report_request *request, struct report_json *json,
                        struct nvtxt_out *out, const char *member) {
    report_json_init(json, out);
    report_json_object(json, NULL);
    report_json_optional(json, "id", request->has_id, request->id);
    report_json_object(json, member);
}

static void end(struct report_json *json) {
    report_json_end_object(json);
    report_json_end_object(json);
    NVTXT_OUT_LITERAL(json->out, "\n");
}

void report_request_write_refusal(const struct report_request *request, struct nvtxt_out *out) {
    static const char *const codes[] = {"bad-request", "unknown-method", "bad-params", "not-found"};
    struct report_json json;
    begin_reply(request, &json, out, "error");
    report_json_text(&json, "code", codes[request->code]);
    report_json_text(&json, "message", request->text);
    end(&json);
}

void report_request_begin(struct report_request *request, struct nvtxt_out *out) {
    begin_reply(request, &request->out, out, "result");
}

void report_request_end(struct report_request *request) {
    end(&request->out);
}

// ---- Parameters ---------------------------------------------------------------------------------

const json_t *report_request_param(const struct report_request *request, const char *name) {
    const json_t *value = json_object_get(request->params, name);
    return value && !json_is_null(value) ? value : NULL;
}

int report_request_index(struct report_request *request, const char *name, size_t limit,
                         size_t *index) {
    const json_t *value = report_request_param(request, name);
    if (!json_is_integer(value)) {
        return report_request_refuse(request, REPORT_BAD_PARAMS, "'%s' is not an integer", name);
    }
    json_int_t number = json_integer_value(value);
    if (number < 0 || (uint64_t)number >= limit) {
        return report_request_refuse(request, REPORT_NOT_FOUND,
                                     "there is no %s %lld; there are %zu", name, (long long)number,
                                     limit);
    }
    *index = (size_t)number;
    return 0;
}

int report_request_number(struct report_request *request, const char *name, size_t absent,
                          size_t *number) {
    const json_t *value = report_request_param(request, name);
    *number = absent;
    if (!value) {
        return 0;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return report_request_refuse(request, REPORT_BAD_PARAMS, "'%s' is not an integer from 0 on",
                                     name);
    }
    *number = (size_t)json_integer_value(value);
    return 0;
}

int report_request_texts(struct report_request *request, const char *name, const json_t **texts) {
    const json_t *value = report_request_param(request, name), *text;
    size_t i;
    if (value && !json_is_array(value)) {
        return report_request_refuse(request, REPORT_BAD_PARAMS, "'%s' is not a list", name);
    }
    json_array_foreach(value, i, text) {
        if (!json_is_string(text)) {
            return report_request_refuse(request, REPORT_BAD_PARAMS, "'%s' is not a list of texts",
                                         name);
        }
    }
    *texts = value;
    return 0;
}
