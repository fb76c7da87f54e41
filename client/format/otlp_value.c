// SPDX-License-Identifier: Apache-2.0
//
// Attributes. JSON becomes an AnyValue member by member, after the text was checked.
#include "client/format/export_fmt.h"
#include "client/format/otlp_parts.h"
#include "protocol/lang/value.h"

void otlp_comma(struct nvtxt_out *out) {
    if (out->len > 0 && out->data[out->len - 1] != '[') {
        NVTXT_OUT_LITERAL(out, ",");
    }
}

static void begin_attribute(struct nvtxt_out *out, const char *key) {
    otlp_comma(out);
    NVTXT_OUT_LITERAL(out, "{\"key\":\"");
    nvtxt_out_bytes(out, key, strlen(key));
    NVTXT_OUT_LITERAL(out, "\",\"value\":");
}

void otlp_put_text(struct nvtxt_out *out, const char *key, struct nvtxt_slice text) {
    begin_attribute(out, key);
    NVTXT_OUT_LITERAL(out, "{\"stringValue\":");
    nvtxt_out_json(out, text);
    NVTXT_OUT_LITERAL(out, "}}");
}

void otlp_put_int(struct nvtxt_out *out, const char *key, int64_t value) {
    begin_attribute(out, key);
    NVTXT_OUT_LITERAL(out, "{\"intValue\":\"");
    nvtxt_out_int(out, value);
    NVTXT_OUT_LITERAL(out, "\"}}");
}

// ---- Numbers ------------------------------------------------------------------------------------

static void put_real(struct nvtxt_out *out, const struct nvtxt_payload *payload) {
    NVTXT_OUT_LITERAL(out, "{\"doubleValue\":");
    if (!store_event_number(out, payload)) {
        nvtxt_out_json(out, store_event_infinity(payload));
    }
    NVTXT_OUT_LITERAL(out, "}");
}

// An integer that no int64_t holds is the text of its digits.
static void put_payload(struct nvtxt_out *out, const struct nvtxt_payload *payload) {
    begin_attribute(out, "nvtx.payload");
    if (export_is_real(payload)) {
        put_real(out, payload);
    } else {
        if (payload->kind == NVTXT_PAYLOAD_UINT64 && payload->int64 < 0) {
            NVTXT_OUT_LITERAL(out, "{\"stringValue\":\"");
        } else {
            NVTXT_OUT_LITERAL(out, "{\"intValue\":\"");
        }
        (void)store_event_number(out, payload);
        NVTXT_OUT_LITERAL(out, "\"}");
    }
    NVTXT_OUT_LITERAL(out, "}");
}

static void put_number(struct nvtxt_out *out, struct nvtxt_slice text) {
    struct nvtxt_payload payload = {.kind = NVTXT_PAYLOAD_DOUBLE};
    struct nvtxt_number number = {0};
    int r = nvtxt_json_number(text, &number);
    out->error = out->error ?: r;
    if (number.type == NVTXT_I64) {
        NVTXT_OUT_LITERAL(out, "{\"intValue\":\"");
        nvtxt_out_slice(out, text);
        NVTXT_OUT_LITERAL(out, "\"}");
        return;
    }
    bool is_integer = number.type == NVTXT_U64;
    payload.real = is_integer ? (double)(uint64_t)number.integer : number.real;
    put_real(out, &payload);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void put_value(struct nvtxt_out *out, struct nvtxt_slice value);

static void put_members(struct nvtxt_out *out, struct nvtxt_slice value) {
    struct nvtxt_json_member member = {.next = 0};
    bool is_object = *value.data == '{';
    NVTXT_OUT_LITERAL(out, "{\"");
    nvtxt_out_slice(out, is_object ? NVTXT_SLICE("kvlist") : NVTXT_SLICE("array"));
    NVTXT_OUT_LITERAL(out, "Value\":{\"values\":[");
    while (nvtxt_json_next(value, &member)) {
        otlp_comma(out);
        if (is_object) {
            NVTXT_OUT_LITERAL(out, "{\"key\":");
            nvtxt_out_slice(out, member.name);
            NVTXT_OUT_LITERAL(out, ",\"value\":");
        }
        put_value(out, member.value);
        nvtxt_out_bytes(out, "}", is_object);
    }
    NVTXT_OUT_LITERAL(out, "]}}");
}

// Calls itself for what is nested, NVTXT_JSON_DEPTH deep and once more for two ends. null is a
// value without any member.
static void put_value(struct nvtxt_out *out, struct nvtxt_slice value) {
    switch (*value.data) {
    case '{':
    case '[':
        put_members(out, value);
        break;
    case '"':
        NVTXT_OUT_LITERAL(out, "{\"stringValue\":");
        nvtxt_out_slice(out, value);
        NVTXT_OUT_LITERAL(out, "}");
        break;
    case 't':
    case 'f':
        NVTXT_OUT_LITERAL(out, "{\"boolValue\":");
        nvtxt_out_slice(out, value);
        NVTXT_OUT_LITERAL(out, "}");
        break;
    case 'n':
        NVTXT_OUT_LITERAL(out, "{}");
        break;
    default:
        put_number(out, value);
    }
}

void otlp_put_json(struct nvtxt_out *out, struct nvtxt_slice text) {
    if (nvtxt_json_is_events(text)) {
        put_value(out, nvtxt_json_trimmed(text));
    } else {
        NVTXT_OUT_LITERAL(out, "{\"stringValue\":");
        nvtxt_out_json(out, text);
        NVTXT_OUT_LITERAL(out, "}");
    }
}

// ---- Events -------------------------------------------------------------------------------------

static void put_category(struct nvtxt_out *out, const struct store_named_event *row) {
    if (row->category.data) {
        otlp_put_text(out, "nvtx.category", row->category);
    }
    if (row->event->category) {
        otlp_put_int(out, "nvtx.category_id", row->event->category);
    }
}

static void put_color(struct nvtxt_out *out, uint32_t color) {
    begin_attribute(out, "nvtx.color");
    NVTXT_OUT_LITERAL(out, "{\"stringValue\":\"");
    nvtxt_out_color(out, color);
    NVTXT_OUT_LITERAL(out, "\"}}");
}

void otlp_put_event(struct nvtxt_out *out, const struct store_named_event *row) {
    const struct store_read_event *event = row->event;
    put_category(out, row);
    if (event->color) {
        put_color(out, event->color);
    }
    if (event->payload.kind != NVTXT_PAYLOAD_NONE) {
        put_payload(out, &event->payload);
    }
    if (event->json.len > 0) {
        begin_attribute(out, "nvtx.json");
        otlp_put_json(out, event->json);
        NVTXT_OUT_LITERAL(out, "}");
    }
    if (row->level) {
        otlp_put_text(out, "nvtx.level", nvtxt_slice_of(row->level));
    }
    if (event->ended_elsewhere) {
        otlp_put_int(out, "nvtx.end_pid", store_event_pid(event->end_global_tid));
        otlp_put_int(out, "nvtx.end_tid", store_event_tid(event->end_global_tid));
    }
}
