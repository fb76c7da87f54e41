// SPDX-License-Identifier: Apache-2.0
//
// What an event has beside its name and times, as debug annotations, which viewers show as
// arguments.
#include "client/format/perfetto.h"

#include "protocol/base/origin.h"

static size_t begin_argument(struct export_writer *writer, const char *name) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *out = &perfetto->batch.text;
    size_t begun = nvtxt_pb_begin(out, EVENT_ARGUMENT);
    nvtxt_pb_uint(out, ARGUMENT_NAME,
                  perfetto_intern(writer, ARGUMENT_NAMES, nvtxt_slice_of(name)));
    return begun;
}

// An argument that is a number, or the number of a text.
static void put_argument(struct export_writer *writer, const char *name, unsigned field,
                         uint64_t value) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *out = &perfetto->batch.text;
    size_t begun = begin_argument(writer, name);
    nvtxt_pb_uint(out, field, value);
    nvtxt_pb_end(out, begun);
}

// The number of a text that was put into the batch's text at this place, and is taken out again.
static uint64_t intern_since(struct export_writer *writer, enum perfetto_table table, size_t at) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *out = &perfetto->batch.text;
    const struct nvtxt_slice text = {out->data + at, out->len - at};
    out->len = at;
    return perfetto_intern(writer, table, text);
}

static void put_number(struct nvtxt_out *out, const struct nvtxt_payload *number) {
    if (export_is_real(number)) {
        nvtxt_pb_double(out, ARGUMENT_DOUBLE, number->real);
    } else {
        bool is_unsigned = number->kind == NVTXT_PAYLOAD_UINT64;
        nvtxt_pb_uint(out, is_unsigned ? ARGUMENT_UINT : ARGUMENT_INT, (uint64_t)number->int64);
    }
}

static void put_json_number(struct nvtxt_out *out, const struct nvtxt_number *number) {
    const struct nvtxt_payload payload = perfetto_payload(number);
    put_number(out, &payload);
}

static int put_json(struct export_writer *writer, struct nvtxt_slice value);

static int put_members(struct export_writer *writer, struct nvtxt_slice value) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *out = &perfetto->batch.text;
    struct nvtxt_json_member member = {.next = 0};
    int r = 0;
    while (r == 0 && nvtxt_json_next(value, &member)) {
        size_t begun = nvtxt_pb_begin(out, member.name.len ? ARGUMENT_MEMBER : ARGUMENT_ELEMENT);
        if (member.name.len > 0) {
            size_t at = out->len;
            nvtxt_json_decode(out, member.name);
            nvtxt_pb_uint(out, ARGUMENT_NAME, intern_since(writer, ARGUMENT_NAMES, at));
        }
        r = put_json(writer, member.value);
        nvtxt_pb_end(out, begun);
    }
    if (member.next == 0) {
        nvtxt_pb_string(out, ARGUMENT_JSON, nvtxt_slice_of(*value.data == '{' ? "{}" : "[]"));
    }
    return r;
}

// A value that is JSON, without blanks round it. What has no form of its own stands as JSON: null,
// an empty object, an empty array. It calls itself for what is nested, NVTXT_JSON_DEPTH deep and
// once more for two ends. Returns 0 or -ENOMEM.
static int put_json(struct export_writer *writer, struct nvtxt_slice value) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *out = &perfetto->batch.text;
    struct nvtxt_number number;
    size_t begun;
    int r;
    switch (*value.data) {
    case '{':
    case '[':
        return put_members(writer, value);
    case '"':
        begun = nvtxt_pb_begin(out, ARGUMENT_STRING);
        nvtxt_json_decode(out, value);
        nvtxt_pb_end(out, begun);
        return 0;
    case 't':
    case 'f':
        nvtxt_pb_uint(out, ARGUMENT_BOOL, *value.data == 't');
        return 0;
    case 'n':
        nvtxt_pb_string(out, ARGUMENT_JSON, value);
        return 0;
    default:
        r = nvtxt_json_number(value, &number);
        if (r == 0) {
            put_json_number(out, &number);
        }
        return r;
    }
}

static int put_json_argument(struct export_writer *writer, struct nvtxt_slice text) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *out = &perfetto->batch.text;
    size_t begun = begin_argument(writer, "json");
    int r = 0;
    if (nvtxt_json_is_events(text)) {
        r = put_json(writer, nvtxt_json_trimmed(text));
    } else {
        nvtxt_pb_string(out, ARGUMENT_STRING, text);
    }
    nvtxt_pb_end(out, begun);
    return r;
}

static void put_color(struct export_writer *writer, uint32_t argb) {
    struct perfetto *perfetto = writer->state;
    size_t at = perfetto->batch.text.len;
    nvtxt_out_color(&perfetto->batch.text, argb);
    put_argument(writer, "color", ARGUMENT_TEXT, intern_since(writer, ARGUMENT_TEXTS, at));
}

// ---- Times --------------------------------------------------------------------------------------

int64_t perfetto_time(const struct perfetto *perfetto, int64_t ns) {
    uint64_t since = (uint64_t)ns - (uint64_t)perfetto->origin_ns;
    return ns <= perfetto->origin_ns ? 0 : since <= INT64_MAX ? (int64_t)since : INT64_MAX;
}

// Only those that the trace has not: of a range that ends before it starts, or before 1970.
static void put_times(struct export_writer *writer, const struct store_read_event *event) {
    const struct perfetto *perfetto = writer->state;
    if (perfetto_time(perfetto, event->start) != event->start) {
        put_argument(writer, "startNs", ARGUMENT_INT, (uint64_t)event->start);
    }
    if (event->end < event->start ||
        (event->type != NVTXT_EVENT_MARK && perfetto_time(perfetto, event->end) != event->end)) {
        put_argument(writer, "endNs", ARGUMENT_INT, (uint64_t)event->end);
    }
}

int perfetto_put_arguments(struct export_writer *writer, const struct store_named_event *row) {
    struct perfetto *perfetto = writer->state;
    const struct store_read_event *event = row->event;
    put_times(writer, event);
    if (event->category) {
        put_argument(writer, "category", ARGUMENT_UINT, event->category);
    }
    if (event->color) {
        put_color(writer, event->color);
    }
    if (row->domain.data) {
        put_argument(writer, "domain", ARGUMENT_TEXT,
                     perfetto_intern(writer, ARGUMENT_TEXTS, row->domain));
    }
    if (event->ended_elsewhere) {
        put_argument(writer, "endPid", ARGUMENT_UINT, store_event_pid(event->end_global_tid));
        put_argument(writer, "endTid", ARGUMENT_UINT, store_event_tid(event->end_global_tid));
    }
    if (event->payload.kind != NVTXT_PAYLOAD_NONE) {
        size_t begun = begin_argument(writer, "payload");
        put_number(&perfetto->batch.text, &event->payload);
        nvtxt_pb_end(&perfetto->batch.text, begun);
    }
    if (row->parent) {
        put_argument(
            writer, row->parent->is_known ? "parent" : "unknownParent", ARGUMENT_TEXT,
            perfetto_intern(writer, ARGUMENT_TEXTS,
                            row->parent->is_known ? row->parent->text : row->parent->token));
    }
    return event->json.len > 0 ? put_json_argument(writer, event->json) : 0;
}
