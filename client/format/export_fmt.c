// SPDX-License-Identifier: Apache-2.0
//
// The table of formats, and the two formats of columns: CSV and JSON lines. Both have the columns
// of the view NVTXT_TIMELINE, in its order and with its values, and endGlobalTid after them.
#include "client/format/export_fmt.h"

struct nvtxt_slice export_kind_name(enum nvtxt_event_type type) {
    return type == NVTXT_EVENT_MARK       ? NVTXT_SLICE("mark")
           : type == NVTXT_EVENT_PUSH_POP ? NVTXT_SLICE("push/pop")
                                          : NVTXT_SLICE("start/end");
}

// End minus start; when that does not fit, the nearest value that does.
static int64_t duration_of(const struct store_read_event *event) {
    int64_t result;
    if (__builtin_sub_overflow(event->end, event->start, &result)) {
        return event->end < event->start ? INT64_MIN : INT64_MAX;
    }
    return result;
}

bool export_number(struct nvtxt_out *out, const struct nvtxt_payload *payload) {
    switch (payload->kind) {
    case NVTXT_PAYLOAD_NONE:
        return false;
    case NVTXT_PAYLOAD_UINT64:
        nvtxt_out_uint(out, (uint64_t)payload->int64);
        return true;
    case NVTXT_PAYLOAD_DOUBLE:
    case NVTXT_PAYLOAD_FLOAT:
        return nvtxt_out_double(out, payload->real);
    default:
        nvtxt_out_int(out, payload->int64);
        return true;
    }
}

struct nvtxt_slice export_infinity(const struct nvtxt_payload *payload) {
    return payload->real < 0 ? NVTXT_SLICE("-Infinity") : NVTXT_SLICE("Infinity");
}

// The columns of NVTX_EVENTS that payloads stand in: their names as members, and their places.
#define COLUMNS 6 // before jsonText
#define COLUMN(name, place)                                                                        \
    { NVTXT_SLICE(",\"" name "\":"), place }

static const struct {
    struct nvtxt_slice member;
    unsigned place; // from 1 on
} columns[] = {
    [NVTXT_PAYLOAD_UINT64] = COLUMN("uint64Value", 1),
    [NVTXT_PAYLOAD_INT64] = COLUMN("int64Value", 2),
    [NVTXT_PAYLOAD_DOUBLE] = COLUMN("doubleValue", 3),
    [NVTXT_PAYLOAD_UINT32] = COLUMN("uint32Value", 4),
    [NVTXT_PAYLOAD_INT32] = COLUMN("int32Value", 5),
    [NVTXT_PAYLOAD_FLOAT] = COLUMN("floatValue", 6),
};

// ---- CSV (RFC 4180) -----------------------------------------------------------------------------

static int begin_csv(struct export_writer *writer) {
    NVTXT_OUT_LITERAL(
        &writer->out,
        "utcTime,duration,kind,message,category,color,process,thread,source,domain,"
        "payload,pid,tid,start,end,globalTid,domainId,categoryId,sourceId,eventRow,"
        "level,endGlobalTid,uint64Value,int64Value,doubleValue,uint32Value,int32Value,"
        "floatValue,jsonText\r\n");
    return 0;
}

static void put_csv_number(struct nvtxt_out *out, const struct nvtxt_payload *payload) {
    if (payload->kind != NVTXT_PAYLOAD_NONE && !export_number(out, payload)) {
        nvtxt_out_slice(out, export_infinity(payload));
    }
}

static void put_csv_payload(struct nvtxt_out *out, const struct store_read_event *event) {
    if (event->payload.kind != NVTXT_PAYLOAD_NONE) {
        put_csv_number(out, &event->payload);
    } else if (event->json.len > 0) {
        nvtxt_out_csv(out, event->json);
    }
}

// The payload once more, in the column of its type.
static void put_csv_columns(struct nvtxt_out *out, const struct store_read_event *event) {
    static const char commas[] = ",,,,,,,";
    const enum nvtxt_payload_kind kind = event->payload.kind;
    if (kind == NVTXT_PAYLOAD_NONE) {
        NVTXT_OUT_LITERAL(out, ",,,,,,,");
    } else {
        nvtxt_out_bytes(out, commas, columns[kind].place);
        put_csv_number(out, &event->payload);
        nvtxt_out_bytes(out, commas, COLUMNS - columns[kind].place + 1);
    }
    if (event->json.len > 0) {
        nvtxt_out_csv(out, event->json);
    }
}

static void put_csv_texts(struct nvtxt_out *out, const struct export_row *row) {
    nvtxt_out_csv(out, row->event->text);
    NVTXT_OUT_LITERAL(out, ",");
    if (row->category.data) {
        nvtxt_out_csv(out, row->category);
    } else if (row->event->category) {
        nvtxt_out_uint(out, row->event->category);
    }
    NVTXT_OUT_LITERAL(out, ",");
    if (row->event->color) {
        nvtxt_out_color(out, row->event->color);
    }
    NVTXT_OUT_LITERAL(out, ",");
    nvtxt_out_csv(out, row->process);
    NVTXT_OUT_LITERAL(out, ",");
    nvtxt_out_csv(out, row->thread);
    NVTXT_OUT_LITERAL(out, ",");
    nvtxt_out_csv(out, row->source);
    NVTXT_OUT_LITERAL(out, ",");
    nvtxt_out_csv(out, row->domain);
}

static void put_csv_uint(struct nvtxt_out *out, uint64_t value) {
    NVTXT_OUT_LITERAL(out, ",");
    nvtxt_out_uint(out, value);
}

static void put_csv_int(struct nvtxt_out *out, int64_t value) {
    NVTXT_OUT_LITERAL(out, ",");
    nvtxt_out_int(out, value);
}

static int row_csv(struct export_writer *writer, const struct export_row *row) {
    struct nvtxt_out *out = &writer->out;
    const struct store_read_event *event = row->event;
    nvtxt_out_utc(out, event->start);
    put_csv_int(out, duration_of(event));
    NVTXT_OUT_LITERAL(out, ",");
    nvtxt_out_slice(out, export_kind_name(event->type));
    NVTXT_OUT_LITERAL(out, ",");
    put_csv_texts(out, row);
    NVTXT_OUT_LITERAL(out, ",");
    put_csv_payload(out, event);
    put_csv_uint(out, export_pid(event->global_tid));
    put_csv_uint(out, export_tid(event->global_tid));
    put_csv_int(out, event->start);
    put_csv_int(out, event->end);
    put_csv_uint(out, event->global_tid);
    put_csv_int(out, event->domain_id);
    put_csv_uint(out, event->category);
    NVTXT_OUT_LITERAL(out, ",");
    if (row->source_id) {
        nvtxt_out_int(out, row->source_id);
    }
    put_csv_int(out, event->row);
    NVTXT_OUT_LITERAL(out, ",");
    if (row->level) {
        nvtxt_out_slice(out, nvtxt_slice_of(row->level));
    }
    NVTXT_OUT_LITERAL(out, ",");
    if (event->ended_elsewhere) {
        nvtxt_out_uint(out, event->end_global_tid);
    }
    put_csv_columns(out, event);
    NVTXT_OUT_LITERAL(out, "\r\n");
    return 0;
}

static const struct export_format comma = {
    .name = "csv", .wants_sources = true, .begin = begin_csv, .row = row_csv};

// ---- JSON lines ---------------------------------------------------------------------------------

static void put_json_number(struct nvtxt_out *out, const struct nvtxt_payload *payload) {
    if (!export_number(out, payload)) {
        nvtxt_out_json(out, export_infinity(payload));
    }
}

static void put_json_payload(struct nvtxt_out *out, const struct store_read_event *event) {
    if (event->payload.kind != NVTXT_PAYLOAD_NONE) {
        NVTXT_OUT_LITERAL(out, ",\"payload\":");
        put_json_number(out, &event->payload);
    } else if (event->json.len > 0) {
        NVTXT_OUT_LITERAL(out, ",\"payload\":");
        nvtxt_out_json(out, event->json);
    }
}

// The payload once more, with the name of the column of its type.
static void put_json_columns(struct nvtxt_out *out, const struct store_read_event *event) {
    if (event->payload.kind != NVTXT_PAYLOAD_NONE) {
        nvtxt_out_slice(out, columns[event->payload.kind].member);
        put_json_number(out, &event->payload);
    }
    if (event->json.len > 0) {
        NVTXT_OUT_LITERAL(out, ",\"jsonText\":");
        nvtxt_out_json(out, event->json);
    }
}

static void put_json_color(struct nvtxt_out *out, uint32_t color) {
    if (color) {
        NVTXT_OUT_LITERAL(out, ",\"color\":\"");
        nvtxt_out_color(out, color);
        NVTXT_OUT_LITERAL(out, "\"");
    }
}

#define MEMBER_TEXT(out, name, text)                                                               \
    if ((text).data) {                                                                             \
        NVTXT_OUT_LITERAL(out, ",\"" name "\":");                                                  \
        nvtxt_out_json(out, text);                                                                 \
    }
#define MEMBER(out, name, put, value)                                                              \
    NVTXT_OUT_LITERAL(out, ",\"" name "\":");                                                      \
    put(out, value)

static int row_lines(struct export_writer *writer, const struct export_row *row) {
    struct nvtxt_out *out = &writer->out;
    const struct store_read_event *event = row->event;
    NVTXT_OUT_LITERAL(out, "{\"utcTime\":\"");
    nvtxt_out_utc(out, event->start);
    NVTXT_OUT_LITERAL(out, "\",\"duration\":");
    nvtxt_out_int(out, duration_of(event));
    NVTXT_OUT_LITERAL(out, ",\"kind\":\"");
    nvtxt_out_slice(out, export_kind_name(event->type));
    NVTXT_OUT_LITERAL(out, "\",\"message\":");
    nvtxt_out_json(out, event->text);
    MEMBER_TEXT(out, "category", row->category);
    put_json_color(out, event->color);
    MEMBER_TEXT(out, "process", row->process);
    MEMBER_TEXT(out, "thread", row->thread);
    MEMBER_TEXT(out, "source", row->source);
    MEMBER_TEXT(out, "domain", row->domain);
    put_json_payload(out, event);
    MEMBER(out, "pid", nvtxt_out_uint, export_pid(event->global_tid));
    MEMBER(out, "tid", nvtxt_out_uint, export_tid(event->global_tid));
    MEMBER(out, "start", nvtxt_out_int, event->start);
    MEMBER(out, "end", nvtxt_out_int, event->end);
    MEMBER(out, "globalTid", nvtxt_out_uint, event->global_tid);
    MEMBER(out, "domainId", nvtxt_out_int, event->domain_id);
    MEMBER(out, "categoryId", nvtxt_out_uint, event->category);
    if (row->source_id) {
        MEMBER(out, "sourceId", nvtxt_out_int, row->source_id);
    }
    MEMBER(out, "eventRow", nvtxt_out_int, event->row);
    if (row->level) {
        MEMBER(out, "level", nvtxt_out_json, nvtxt_slice_of(row->level));
    }
    if (event->ended_elsewhere) {
        MEMBER(out, "endGlobalTid", nvtxt_out_uint, event->end_global_tid);
    }
    put_json_columns(out, event);
    NVTXT_OUT_LITERAL(out, "}\n");
    return 0;
}

static const struct export_format lines = {
    .name = "jsonl", .wants_sources = true, .row = row_lines};

// ---- The formats --------------------------------------------------------------------------------

static const struct export_format *const formats[] = {
    &export_chrome, &comma, &lines, &export_nvtxt, &export_speedscope, &export_folded};

const char *export_format_name(size_t index) {
    return index < sizeof(formats) / sizeof(formats[0]) ? formats[index]->name : NULL;
}

const struct export_format *export_format_find(const char *name) {
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(name, formats[i]->name) == 0) {
            return formats[i];
        }
    }
    return NULL;
}
