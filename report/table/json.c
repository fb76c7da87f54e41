// SPDX-License-Identifier: Apache-2.0
//
// One bit is all the state: whether a value stands before the next one in the same object or array.
// It is set by every value and every end, and cleared by every beginning.
#include "report/table/json.h"

#include <inttypes.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/table/links.h"
#include "report/table/number.h"

void report_json_before(struct report_json *json, const char *name) {
    if (json->after_value) {
        NVTXT_OUT_LITERAL(json->out, ",");
    }
    json->after_value = true;
    if (name) {
        nvtxt_out_json(json->out, nvtxt_slice_of(name));
        NVTXT_OUT_LITERAL(json->out, ":");
    }
}

static void open_with(struct report_json *json, const char *name, const char *bracket) {
    report_json_before(json, name);
    nvtxt_out_bytes(json->out, bracket, 1);
    json->after_value = false;
}

static void close_with(struct report_json *json, const char *bracket) {
    nvtxt_out_bytes(json->out, bracket, 1);
    json->after_value = true;
}

void report_json_object(struct report_json *json, const char *name) {
    open_with(json, name, "{");
}

void report_json_end_object(struct report_json *json) {
    close_with(json, "}");
}

void report_json_array(struct report_json *json, const char *name) {
    open_with(json, name, "[");
}

void report_json_end_array(struct report_json *json) {
    close_with(json, "]");
}

void report_json_begin(struct report_json *json, struct nvtxt_out *out, const char *command) {
    report_json_init(json, out);
    report_json_object(json, NULL);
    report_json_text(json, "schema", "nvtxt-report/1");
    report_json_text(json, "command", command);
}

void report_json_end(struct report_json *json) {
    report_json_end_object(json);
    NVTXT_OUT_LITERAL(json->out, "\n");
}

void report_json_null(struct report_json *json, const char *name) {
    report_json_before(json, name);
    NVTXT_OUT_LITERAL(json->out, "null");
}

void report_json_bool(struct report_json *json, const char *name, bool value) {
    report_json_before(json, name);
    nvtxt_out_slice(json->out, value ? NVTXT_SLICE("true") : NVTXT_SLICE("false"));
}

void report_json_int(struct report_json *json, const char *name, int64_t value) {
    report_json_before(json, name);
    nvtxt_out_int(json->out, value);
}

void report_json_optional(struct report_json *json, const char *name, bool has, int64_t value) {
    if (has) {
        report_json_int(json, name, value);
    } else {
        report_json_null(json, name);
    }
}

void report_json_uint(struct report_json *json, const char *name, uint64_t value) {
    const char *quote = value > INT64_MAX ? "\"" : "";
    report_json_before(json, name);
    nvtxt_out_bytes(json->out, quote, strlen(quote));
    nvtxt_out_uint(json->out, value);
    nvtxt_out_bytes(json->out, quote, strlen(quote));
}

void report_json_slice(struct report_json *json, const char *name, struct nvtxt_slice value) {
    if (!value.data) {
        report_json_null(json, name);
        return;
    }
    report_json_before(json, name);
    nvtxt_out_json(json->out, value);
}

void report_json_linked(struct report_json *json, const char *name, struct nvtxt_slice value) {
    struct nvtxt_out text;
    if (!value.data || !memchr(value.data, REPORT_LINK_AT, value.len)) {
        report_json_slice(json, name, value);
        return;
    }
    if (nvtxt_out_init(&text, -1) != 0) {
        json->out->error = json->out->error ?: nvtxt_origin(-ENOMEM);
        return;
    }
    report_link_put(&text, value, nvtxt_out_slice);
    report_json_slice(json, name, (struct nvtxt_slice){text.data, text.len});
    json->out->error = json->out->error ?: text.error;
    nvtxt_out_deinit(&text);
}

void report_json_text(struct report_json *json, const char *name, const char *value) {
    report_json_slice(json, name, nvtxt_slice_of(value));
}

void report_json_slices(struct report_json *json, const char *name,
                        const struct nvtxt_slice *values, size_t count) {
    report_json_array(json, name);
    for (size_t i = 0; i < count; i++) {
        report_json_slice(json, NULL, values[i]);
    }
    report_json_end_array(json);
}

void report_json_color(struct report_json *json, const char *name, uint32_t argb) {
    report_json_before(json, name);
    NVTXT_OUT_LITERAL(json->out, "\"");
    nvtxt_out_color(json->out, argb);
    NVTXT_OUT_LITERAL(json->out, "\"");
}

void report_json_digits(struct report_json *json, const char *name, int64_t value) {
    report_json_before(json, name);
    nvtxt_out_format(json->out, "\"%" PRId64 "\"", value);
}

void report_json_double(struct report_json *json, const char *name, double value) {
    report_json_before(json, name);
    if (!nvtxt_out_double(json->out, value)) {
        NVTXT_OUT_LITERAL(json->out, "null");
    }
}

void report_json_double_na(struct report_json *json, const char *name, double value) {
    const char *na = report_number_word(value);
    report_json_double(json, name, value);
    if (na) {
        report_json_text(json, "na", na);
    }
}
