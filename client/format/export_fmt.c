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

void export_payload(struct export_out *out, const struct store_read_event *event,
                    void (*put_text)(struct export_out *out, struct nvtxt_slice text)) {
    switch (event->payload_kind) {
    case STORE_READ_INT64:
        export_int(out, event->int64);
        break;
    case STORE_READ_UINT64:
        export_uint(out, event->uint64);
        break;
    case STORE_READ_DOUBLE:
        if (!export_double(out, event->real)) {
            put_text(out, event->real < 0 ? NVTXT_SLICE("-Infinity") : NVTXT_SLICE("Infinity"));
        }
        break;
    case STORE_READ_JSON:
        put_text(out, event->json);
        break;
    case STORE_READ_NONE:
        break;
    }
}

// ---- Columns ------------------------------------------------------------------------------------

#define COLUMN(name)                                                                               \
    { name, sizeof(name) - 1 }
static const struct nvtxt_slice columns[] = {
    COLUMN("utcTime"),  COLUMN("duration"),     COLUMN("kind"),     COLUMN("message"),
    COLUMN("category"), COLUMN("color"),        COLUMN("process"),  COLUMN("thread"),
    COLUMN("source"),   COLUMN("domain"),       COLUMN("payload"),  COLUMN("pid"),
    COLUMN("tid"),      COLUMN("start"),        COLUMN("end"),      COLUMN("globalTid"),
    COLUMN("domainId"), COLUMN("categoryId"),   COLUMN("sourceId"), COLUMN("eventRow"),
    COLUMN("level"),    COLUMN("endGlobalTid"),
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

struct value {
    enum { NOTHING, TEXT, INT, UINT, UTC, COLOR, PAYLOAD, STAND_IN } kind;
    union {
        struct nvtxt_slice text;
        int64_t integer;
        uint64_t number; // a STAND_IN is for a text in CSV, where no name says which it is
    };
};

static struct value text_of(struct nvtxt_slice text) {
    return (struct value){text.data ? TEXT : NOTHING, .text = text};
}

static struct value int_of(int64_t integer) {
    return (struct value){INT, .integer = integer};
}

static struct value uint_of(uint64_t number) {
    return (struct value){UINT, .number = number};
}

static void find_values(const struct export_row *row, struct value values[COLUMNS]) {
    const struct store_read_event *event = row->event;
    const struct value nothing = {NOTHING, .number = 0};
    const struct value found[] = {
        {UTC, .integer = event->start},
        int_of(duration_of(event)),
        {TEXT, .text = export_kind_name(event->type)},
        {TEXT, .text = event->text},
        row->category.data
            ? text_of(row->category)
            : (struct value){event->category ? STAND_IN : NOTHING, .number = event->category},
        {event->color ? COLOR : NOTHING, .number = event->color},
        text_of(row->process),
        text_of(row->thread),
        text_of(row->source),
        text_of(row->domain),
        {event->payload_kind == STORE_READ_NONE ? NOTHING : PAYLOAD, .number = 0},
        uint_of(export_pid(event->global_tid)),
        uint_of(export_tid(event->global_tid)),
        int_of(event->start),
        int_of(event->end),
        uint_of(event->global_tid),
        int_of(event->domain_id),
        uint_of(event->category),
        row->source_id ? int_of(row->source_id) : nothing,
        int_of(event->row),
        row->level ? text_of(nvtxt_slice_of(row->level)) : nothing,
        event->ended_elsewhere ? uint_of(event->end_global_tid) : nothing,
    };
    _Static_assert(sizeof(found) == COLUMNS * sizeof(found[0]), "a value for each column");
    memcpy(values, found, sizeof(found));
}

static void put_value(struct export_out *out, const struct value *value,
                      const struct export_row *row, bool json) {
    switch (value->kind) {
    case TEXT:
        json ? export_json(out, value->text) : export_csv(out, value->text);
        break;
    case INT:
        export_int(out, value->integer);
        break;
    case UTC:
        export_utc(out, value->integer);
        break;
    case COLOR:
        export_color(out, (uint32_t)value->number);
        break;
    case PAYLOAD:
        export_payload(out, row->event, json ? export_json : export_csv);
        break;
    case NOTHING:
        break;
    default:
        export_uint(out, value->number);
    }
}

// CSV (RFC 4180): all columns, empty where there is nothing.
static int begin_csv(struct export_writer *writer) {
    for (size_t i = 0; i < COLUMNS; i++) {
        export_bytes(&writer->out, ",", i > 0);
        export_slice(&writer->out, columns[i]);
    }
    EXPORT_LITERAL(&writer->out, "\r\n");
    return 0;
}

static int row_csv(struct export_writer *writer, const struct export_row *row) {
    struct value values[COLUMNS];
    find_values(row, values);
    for (size_t i = 0; i < COLUMNS; i++) {
        export_bytes(&writer->out, ",", i > 0);
        put_value(&writer->out, &values[i], row, false);
    }
    EXPORT_LITERAL(&writer->out, "\r\n");
    return 0;
}

// JSON: an object of the columns that have a value.
static int row_lines(struct export_writer *writer, const struct export_row *row) {
    struct export_out *out = &writer->out;
    struct value values[COLUMNS];
    find_values(row, values);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (values[i].kind == NOTHING || values[i].kind == STAND_IN) {
            continue;
        }
        bool quoted = values[i].kind == UTC || values[i].kind == COLOR;
        export_bytes(out, i > 0 ? ",\"" : "{\"", 2);
        export_slice(out, columns[i]);
        export_bytes(out, "\":\"", quoted ? 3 : 2);
        put_value(out, &values[i], row, true);
        export_bytes(out, "\"", quoted);
    }
    EXPORT_LITERAL(out, "}\n");
    return 0;
}

static const struct export_format comma = {
    .name = "csv", .wants_sources = true, .begin = begin_csv, .row = row_csv};
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
