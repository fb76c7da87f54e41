// SPDX-License-Identifier: Apache-2.0
//
// The members are written one after the other; a table says which member and which column a payload
// of each kind has.
#include "store/read/event_members.h"

#include "protocol/base/clock.h"

struct nvtxt_slice store_event_kind(enum nvtxt_event_type type) {
    return type == NVTXT_EVENT_MARK       ? NVTXT_SLICE("mark")
           : type == NVTXT_EVENT_PUSH_POP ? NVTXT_SLICE("push/pop")
                                          : NVTXT_SLICE("start/end");
}

int64_t store_event_duration(const struct store_read_event *event) {
    return nvtxt_time_minus(event->end, event->start);
}

bool store_event_number(struct nvtxt_out *out, const struct nvtxt_payload *payload) {
    switch (payload->kind) {
    case NVTXT_PAYLOAD_NONE:
        return false;
    case NVTXT_PAYLOAD_UINT64:
        nvtxt_out_uint(out, (uint64_t)payload->int64);
        return true;
    case NVTXT_PAYLOAD_DOUBLE:
    case NVTXT_PAYLOAD_FLOAT:
        return nvtxt_out_double(out, payload->real);
    case NVTXT_PAYLOAD_INT64:
    case NVTXT_PAYLOAD_UINT32:
    case NVTXT_PAYLOAD_INT32:
        break;
    }
    nvtxt_out_int(out, payload->int64);
    return true;
}

struct nvtxt_slice store_event_infinity(const struct nvtxt_payload *payload) {
    return payload->real < 0 ? NVTXT_SLICE("-Infinity") : NVTXT_SLICE("Infinity");
}

// The columns of NVTX_EVENTS that payloads stand in: their names as members, and their places.
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

unsigned store_event_payload_column(enum nvtxt_payload_kind kind) {
    return columns[kind].place;
}

static void put_long(struct nvtxt_out *out, uint64_t value) {
    NVTXT_OUT_LITERAL(out, "\"");
    nvtxt_out_uint(out, value);
    NVTXT_OUT_LITERAL(out, "\"");
}

static void put_json_number(struct nvtxt_out *out, const struct store_named_event *row) {
    const struct nvtxt_payload *payload = &row->event->payload;
    if (row->long_as_text && payload->kind == NVTXT_PAYLOAD_UINT64 && payload->int64 < 0) {
        put_long(out, (uint64_t)payload->int64);
    } else if (!store_event_number(out, payload)) {
        nvtxt_out_json(out, store_event_infinity(payload));
    }
}

static void put_json_payload(struct nvtxt_out *out, const struct store_named_event *row) {
    const struct store_read_event *event = row->event;
    if (event->payload.kind != NVTXT_PAYLOAD_NONE) {
        NVTXT_OUT_LITERAL(out, ",\"payload\":");
        put_json_number(out, row);
    } else if (event->json.len > 0) {
        NVTXT_OUT_LITERAL(out, ",\"payload\":");
        nvtxt_out_json(out, event->json);
    }
}

// The payload once more, with the name of the column of its type.
static void put_json_columns(struct nvtxt_out *out, const struct store_named_event *row) {
    const struct store_read_event *event = row->event;
    if (event->payload.kind != NVTXT_PAYLOAD_NONE) {
        nvtxt_out_slice(out, columns[event->payload.kind].member);
        put_json_number(out, row);
    }
    if (event->json.len > 0) {
        NVTXT_OUT_LITERAL(out, ",\"jsonText\":");
        nvtxt_out_json(out, event->json);
    }
}

// The parent is named as its own line is: by its row and, if that is another one, its file.
static void put_json_parent(struct nvtxt_out *out, const struct store_named_event *row) {
    const struct store_parent *parent = row->parent;
    if (!parent->is_known) {
        NVTXT_OUT_LITERAL(out, ",\"parent\":{\"token\":");
        nvtxt_out_json(out, parent->token);
        NVTXT_OUT_LITERAL(out, "}");
        return;
    }
    NVTXT_OUT_LITERAL(out, ",\"parent\":{\"eventRow\":");
    nvtxt_out_int(out, parent->row);
    if (parent->file != row->file) {
        NVTXT_OUT_LITERAL(out, ",\"store\":");
        nvtxt_out_json(out, nvtxt_slice_of(parent->name));
    }
    NVTXT_OUT_LITERAL(out, ",\"message\":");
    nvtxt_out_json(out, parent->text);
    NVTXT_OUT_LITERAL(out, "}");
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

static void put_duration(struct nvtxt_out *out, const struct store_named_event *row) {
    const struct store_read_event *event = row->event;
    int64_t fits;
    if (row->never_negative && event->end < event->start) {
        nvtxt_out_int(out, 0);
    } else if (row->long_as_text && event->end > event->start &&
               __builtin_sub_overflow(event->end, event->start, &fits)) {
        put_long(out, (uint64_t)event->end - (uint64_t)event->start);
    } else {
        nvtxt_out_int(out, store_event_duration(event));
    }
}

void store_event_members(struct nvtxt_out *out, const struct store_named_event *row) {
    const struct store_read_event *event = row->event;
    NVTXT_OUT_LITERAL(out, "\"utcTime\":\"");
    nvtxt_out_utc(out, nvtxt_time_plus(event->start, row->utc_offset_ns));
    NVTXT_OUT_LITERAL(out, "\",\"duration\":");
    put_duration(out, row);
    NVTXT_OUT_LITERAL(out, ",\"kind\":\"");
    nvtxt_out_slice(out, store_event_kind(event->type));
    NVTXT_OUT_LITERAL(out, "\",\"message\":");
    nvtxt_out_json(out, event->text);
    MEMBER_TEXT(out, "category", row->category);
    put_json_color(out, event->color);
    MEMBER_TEXT(out, "process", row->process);
    MEMBER_TEXT(out, "thread", row->thread);
    MEMBER_TEXT(out, "source", row->source);
    MEMBER_TEXT(out, "domain", row->domain);
    put_json_payload(out, row);
    MEMBER(out, "pid", nvtxt_out_uint, store_event_pid(event->global_tid));
    MEMBER(out, "tid", nvtxt_out_uint, store_event_tid(event->global_tid));
    MEMBER(out, "start", nvtxt_out_int, event->start);
    MEMBER(out, "end", nvtxt_out_int, event->end);
    MEMBER(out, "globalTid", nvtxt_out_uint, event->global_tid);
    MEMBER(out, "domainId", nvtxt_out_int, event->domain_id);
    MEMBER(out, "categoryId", nvtxt_out_uint, event->category);
    if (row->source_id) {
        MEMBER(out, "sourceId", nvtxt_out_int, row->source_id);
    }
    if (!row->has_no_row) {
        MEMBER(out, "eventRow", nvtxt_out_int, event->row);
    }
    if (row->level) {
        MEMBER(out, "level", nvtxt_out_json, nvtxt_slice_of(row->level));
    }
    if (event->ended_elsewhere) {
        MEMBER(out, "endGlobalTid", nvtxt_out_uint, event->end_global_tid);
    }
    put_json_columns(out, row);
    if (row->parent) {
        put_json_parent(out, row);
    }
}
