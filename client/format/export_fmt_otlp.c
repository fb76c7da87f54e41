// SPDX-License-Identifier: Apache-2.0
//
// Traces of OpenTelemetry, as collectors and their file receiver read them: a line is an
// ExportTraceServiceRequest in OTLP's JSON (https://opentelemetry.io/docs/specs/otlp). A process is
// a resource, a domain a scope, a range a span. A trace is an outermost push/pop range with all
// that is in it, or a start/end range; and with all that has one of these as its parent in another
// process. Rows are looked at first, so that each knows what is around it (export_nest.h).
//
// A mark is an event of the span around it. A span stands in its request with its events, so these
// wait for it, but only as many as there is room for; any other mark is a span without length, in
// the span around it.
//
// Ids come from what the row is, so each export of it has the same, and that of a parent is known
// before its row comes.
#include <stdlib.h>

#include "client/format/export_fmt.h"
#include "client/format/export_nest.h"
#include "client/format/otlp_parts.h"
#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "protocol/table/hash.h"

#define EVENTS_BYTES ((size_t)64 * 1024) // of one span: its request stays short
#define HELD_BYTES ((size_t)16 << 20)    // of all spans that are still to come

// The events of a span that is still to come.
struct held {
    struct nvtxt_hash_node node;
    uint32_t span; // its index
    char *text;    // owned
    size_t len, room;
};

struct otlp {
    struct export_nest nest;
    struct otlp_parents parents;
    struct store_read_identity identity; // of the file
    uint64_t segment;                    // hash of it
    struct otlp_requests requests;
    struct nvtxt_out event; // owned; never written: the event that is made
    struct nvtxt_hash held;
    size_t held_bytes;
};

static void free_held(struct otlp *otlp, struct held *held) {
    otlp->held_bytes -= held->len;
    nvtxt_hash_remove(&otlp->held, &held->node);
    free(held->text);
    free(held);
}

static void free_otlp(struct export_writer *writer) {
    struct otlp *otlp = writer->state;
    if (!otlp) {
        return;
    }
    for (uint32_t i = 0; otlp->held.count > 0; i++) {
        struct nvtxt_hash_node *node;
        while ((node = otlp->held.buckets[i])) {
            free_held(otlp, NVTXT_CONTAINER_OF(node, struct held, node));
        }
    }
    nvtxt_hash_deinit(&otlp->held);
    nvtxt_out_deinit(&otlp->event);
    otlp_requests_deinit(&otlp->requests);
    export_nest_deinit(&otlp->nest);
    otlp_parents_deinit(&otlp->parents);
    free(otlp);
    writer->state = NULL;
}

// Before the rows are looked at, and before they are written.
static int begin_otlp(struct export_writer *writer) {
    if (writer->state) {
        return 0;
    }
    struct otlp *otlp = writer->state = calloc(1, sizeof(*otlp));
    int r = otlp ? otlp_requests_init(&otlp->requests) : nvtxt_origin(-ENOMEM);
    r = r ?: nvtxt_out_init(&otlp->event, -1);
    if (r < 0) {
        free_otlp(writer);
    }
    return r;
}

// ---- Ids ----------------------------------------------------------------------------------------

// A file without a STORE_ID is told from others by its first event.
static int segment_otlp(struct export_writer *writer, struct store_reader *reader) {
    struct otlp *otlp = writer->state;
    const struct store_read_identity *identity = &otlp->identity;
    int r = store_read_identity(reader, &otlp->identity);
    otlp->requests.host =
        nvtxt_slice_of(identity->is_store ? writer->host : identity->facts[STORE_FACT_HOST]);
    otlp->segment = nvtxt_hash_stored(0, nvtxt_slice_of(identity->store_id));
    otlp->segment = otlp_hash_number(otlp->segment, (uint64_t)identity->segment);
    if (!*identity->store_id) {
        uint64_t first_ns = (uint64_t)store_read_totals(reader)->first_ns;
        otlp->segment = otlp_hash_number(otlp->segment, first_ns);
    }
    return r ?: otlp_parents_add_segment(&otlp->parents, writer->file, otlp->segment);
}

static uint64_t span_id(const struct otlp *otlp, const struct store_read_event *event) {
    return otlp_span_id(otlp->segment, event->row);
}

static void put_hex(struct nvtxt_out *out, uint64_t id) {
    char digits[16];
    for (size_t i = sizeof(digits); i > 0; i--, id >>= 4) {
        digits[i - 1] = "0123456789abcdef"[id & 15];
    }
    nvtxt_out_bytes(out, digits, sizeof(digits));
}

// The second half of a trace's id is the id of its outermost span.
static void put_ids(struct nvtxt_out *out, uint64_t outermost, uint64_t id, uint64_t around) {
    NVTXT_OUT_LITERAL(out, "{\"traceId\":\"");
    put_hex(out, nvtxt_hash_stored(outermost, NVTXT_SLICE("trace")));
    put_hex(out, outermost);
    NVTXT_OUT_LITERAL(out, "\",\"spanId\":\"");
    put_hex(out, id);
    if (around != 0) {
        NVTXT_OUT_LITERAL(out, "\",\"parentSpanId\":\"");
        put_hex(out, around);
    }
    NVTXT_OUT_LITERAL(out, "\",");
}

// ---- Times --------------------------------------------------------------------------------------

// OTLP has no time before 1970, and no span ends before it starts.
static int64_t start_of(const struct store_read_event *event) {
    return event->start > 0 ? event->start : 0;
}

static int64_t end_of(const struct store_read_event *event) {
    return event->end > start_of(event) ? event->end : start_of(event);
}

static void put_time(struct nvtxt_out *out, const char *name, int64_t time) {
    NVTXT_OUT_LITERAL(out, ",\"");
    nvtxt_out_bytes(out, name, strlen(name));
    NVTXT_OUT_LITERAL(out, "\":\"");
    nvtxt_out_int(out, time);
    NVTXT_OUT_LITERAL(out, "\"");
}

// The times as they are, where OTLP could not hold them.
static void put_odd_times(struct nvtxt_out *out, const struct store_read_event *event) {
    if (event->start != start_of(event)) {
        otlp_put_int(out, "nvtx.start", event->start);
    }
    if (event->type != NVTXT_EVENT_MARK && event->end != end_of(event)) {
        otlp_put_int(out, "nvtx.end", event->end);
    }
}

// ---- Events of spans ----------------------------------------------------------------------------

static struct held *find_held(const struct otlp *otlp, uint32_t span) {
    struct held *held;
    NVTXT_HASH_FIND(held, node, &otlp->held, nvtxt_hash_number(span), held->span == span);
    return held;
}

static struct held *make_held(struct otlp *otlp, uint32_t span) {
    struct held *held = calloc(1, sizeof(*held));
    if (!held || nvtxt_hash_add(&otlp->held, &held->node, nvtxt_hash_number(span)) < 0) {
        free(held);
        return NULL;
    }
    held->span = span;
    return held;
}

// Its domain need not be the scope, which is that of the span.
static void make_event(struct nvtxt_out *out, const struct store_named_event *row) {
    out->len = 0;
    NVTXT_OUT_LITERAL(out, ",{\"name\":");
    nvtxt_out_json(out, row->event->text);
    put_time(out, "timeUnixNano", start_of(row->event));
    NVTXT_OUT_LITERAL(out, ",\"attributes\":[");
    if (row->domain.len > 0) {
        otlp_put_text(out, "nvtx.domain", row->domain);
    }
    otlp_put_event(out, row);
    put_odd_times(out, row->event);
    NVTXT_OUT_LITERAL(out, "]}");
}

// Keeps the mark as an event of a span that is still to come. `*kept` is false when there is no
// room for it. Returns 0 or -ENOMEM.
static int keep_event(struct otlp *otlp, const struct store_named_event *row, uint32_t span,
                      bool *kept) {
    const struct store_read_event *event = row->event;
    struct held *held = find_held(otlp, span);
    size_t before = held ? held->len : 0;
    *kept = false;
    if (event->text.len + event->json.len > EVENTS_BYTES) {
        return 0;
    }
    make_event(&otlp->event, row);
    size_t len = otlp->event.len;
    if (otlp->event.error < 0) {
        return otlp->event.error;
    }
    if (before + len > EVENTS_BYTES || otlp->held_bytes + len > HELD_BYTES) {
        return 0;
    }
    held = held ?: make_held(otlp, span);
    if (!held || nvtxt_grow(&held->text, &held->room, held->len + len, 1) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    memcpy(held->text + held->len, otlp->event.data, len);
    held->len += len;
    otlp->held_bytes += len;
    *kept = true;
    return 0;
}

static void put_events(struct otlp *otlp, struct nvtxt_out *out, uint32_t span) {
    struct held *held = find_held(otlp, span);
    if (held) {
        NVTXT_OUT_LITERAL(out, ",\"events\":[");
        nvtxt_out_bytes(out, held->text + 1, held->len - 1); // without the first comma
        NVTXT_OUT_LITERAL(out, "]");
        free_held(otlp, held);
    }
}

// ---- Spans --------------------------------------------------------------------------------------

// `is_first`: nothing of its thread is around it.
static void put_attributes(struct nvtxt_out *out, const struct store_named_event *row,
                           bool is_first) {
    const struct store_read_event *event = row->event;
    NVTXT_OUT_LITERAL(out, ",\"attributes\":[");
    otlp_put_int(out, "thread.id", store_event_tid(event->global_tid));
    if (row->thread.data) {
        otlp_put_text(out, "thread.name", row->thread);
    }
    otlp_put_text(out, "nvtx.kind", store_event_kind(event->type));
    otlp_put_event(out, row);
    put_odd_times(out, event);
    if (is_first && row->parent && !row->parent->is_known) {
        otlp_put_text(out, "nvtxt.parent", row->parent->token);
    }
    NVTXT_OUT_LITERAL(out, "]");
}

static int put_span(struct export_writer *writer, const struct store_named_event *row,
                    const struct export_nested *nested) {
    struct otlp *otlp = writer->state;
    struct nvtxt_out *out = &otlp->requests.text;
    const struct export_nested *items = otlp->nest.items;
    uint64_t id = span_id(otlp, row->event);
    struct otlp_ancestry ancestry = otlp_parents_find(&otlp->parents, &otlp->nest, row, nested, id);
    put_ids(out, ancestry.outermost, id, ancestry.around);
    NVTXT_OUT_LITERAL(out, "\"name\":");
    nvtxt_out_json(out, row->event->text);
    NVTXT_OUT_LITERAL(out, ",\"kind\":1"); // internal
    put_time(out, "startTimeUnixNano", start_of(row->event));
    put_time(out, "endTimeUnixNano", end_of(row->event));
    put_attributes(out, row, !nested || items + nested->outermost == nested);
    if (nested) {
        put_events(otlp, out, (uint32_t)(nested - items));
    }
    NVTXT_OUT_LITERAL(out, "}");
    bool is_time = otlp_requests_add(&otlp->requests, row);
    return is_time ? otlp_requests_write(&otlp->requests, &writer->out) : 0;
}

// ---- Rows ---------------------------------------------------------------------------------------

static int look_otlp(struct export_writer *writer, const struct store_named_event *row) {
    struct otlp *otlp = writer->state;
    if (!row) {
        return export_nest_find(&otlp->nest);
    }
    int r = export_nest_add(&otlp->nest, row->event, span_id(otlp, row->event), writer->is_wanted);
    return r ?: otlp_parents_look(&otlp->parents, row, &otlp->nest, writer->is_wanted);
}

static int row_otlp(struct export_writer *writer, const struct store_named_event *row) {
    struct otlp *otlp = writer->state;
    const struct store_read_event *event = row->event;
    const struct export_nested *nested = NULL;
    bool kept = false;
    int r = 0;
    if (event->type != NVTXT_EVENT_START_END) {
        nested = export_nest_next(&otlp->nest, span_id(otlp, event));
    }
    writer->changed += event->start != start_of(event);
    if (event->type == NVTXT_EVENT_MARK && nested && nested->around != EXPORT_NEST_NONE &&
        nested->around > nested - otlp->nest.items) { // it is still to come
        r = keep_event(otlp, row, nested->around, &kept);
    }
    return r == 0 && !kept ? put_span(writer, row, nested) : r;
}

static int settle_otlp(struct export_writer *writer) {
    struct otlp *otlp = writer->state;
    return otlp_requests_write(&otlp->requests, &writer->out);
}

const struct export_format export_otlp = {.name = "otlp",
                                          .loss = "events are before 1970, which OTLP cannot hold: "
                                                  "they are at 0, nvtx.start is their time",
                                          .wants_sources = true,
                                          .wants_parents = true,
                                          .looks_at_all = true,
                                          .begin = begin_otlp,
                                          .look = look_otlp,
                                          .segment = segment_otlp,
                                          .row = row_otlp,
                                          .settle = settle_otlp,
                                          .free = free_otlp};
