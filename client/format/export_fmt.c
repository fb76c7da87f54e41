// SPDX-License-Identifier: Apache-2.0
//
// The table of formats, and the two formats of columns: CSV and JSON lines. Both have the columns
// of the view NVTXT_TIMELINE, in its order and with its values, and endGlobalTid after them.
#include "client/format/export_fmt.h"

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
    if (payload->kind != NVTXT_PAYLOAD_NONE && !store_event_number(out, payload)) {
        nvtxt_out_slice(out, store_event_infinity(payload));
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
        nvtxt_out_bytes(out, commas, store_event_payload_column(kind));
        put_csv_number(out, &event->payload);
        nvtxt_out_bytes(out, commas,
                        STORE_EVENT_PAYLOAD_COLUMNS - store_event_payload_column(kind) + 1);
    }
    if (event->json.len > 0) {
        nvtxt_out_csv(out, event->json);
    }
}

static void put_csv_texts(struct nvtxt_out *out, const struct store_named_event *row) {
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

static char *add_uint(char *at, uint64_t value) {
    *at++ = ',';
    return nvtxt_put_digits(at, value);
}

static char *add_int(char *at, int64_t value) {
    if (value >= 0) {
        return add_uint(at, (uint64_t)value);
    }
    *at++ = ',';
    *at++ = '-';
    return nvtxt_put_digits(at, 0 - (uint64_t)value);
}

#define NUMBERS 9 // in put_csv_numbers()

static void put_csv_numbers(struct nvtxt_out *out, const struct store_named_event *row) {
    const struct store_read_event *event = row->event;
    char *room = nvtxt_out_room(out, NUMBERS * (NVTXT_DIGITS + 1)), *at = room;
    if (!room) {
        return;
    }
    at = add_uint(at, store_event_pid(event->global_tid));
    at = add_uint(at, store_event_tid(event->global_tid));
    at = add_int(at, event->start);
    at = add_int(at, event->end);
    at = add_uint(at, event->global_tid);
    at = add_int(at, event->domain_id);
    at = add_uint(at, event->category);
    if (row->source_id) {
        at = add_int(at, row->source_id);
    } else {
        *at++ = ',';
    }
    at = add_int(at, event->row);
    out->len += (size_t)(at - room);
}

static int row_csv(struct export_writer *writer, const struct store_named_event *row) {
    struct nvtxt_out *out = &writer->out;
    const struct store_read_event *event = row->event;
    nvtxt_out_utc(out, event->start);
    NVTXT_OUT_LITERAL(out, ",");
    nvtxt_out_int(out, store_event_duration(event));
    NVTXT_OUT_LITERAL(out, ",");
    nvtxt_out_slice(out, store_event_kind(event->type));
    NVTXT_OUT_LITERAL(out, ",");
    put_csv_texts(out, row);
    NVTXT_OUT_LITERAL(out, ",");
    put_csv_payload(out, event);
    put_csv_numbers(out, row);
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

static int row_lines(struct export_writer *writer, const struct store_named_event *row) {
    NVTXT_OUT_LITERAL(&writer->out, "{");
    store_event_members(&writer->out, row);
    NVTXT_OUT_LITERAL(&writer->out, "}\n");
    return 0;
}

static const struct export_format lines = {
    .name = "jsonl", .wants_sources = true, .wants_parents = true, .row = row_lines};

// ---- The formats --------------------------------------------------------------------------------

// In the order in which people are told of them.
static const struct export_format *const formats[] = {
    &export_chrome, &export_perfetto, &export_speedscope, &export_folded, &comma,
    &lines,         &export_nvtxt,    &export_otlp,       &export_nsys};

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
