// SPDX-License-Identifier: Apache-2.0
//
// Trace events as JSON, which Perfetto, chrome://tracing and speedscope read. Ranges are complete
// events (X), marks instant events (i) of their thread, samples of counters counter events (C),
// names metadata (M).
//
// Viewers count in doubles, so times are written as microseconds since the first event and the
// exact nanoseconds are in the arguments, as strings. For a viewer each further lane of a thread is
// a thread too: it gets a tid that no real thread can have and is sorted after its thread.
//
// A parent in another process is a flow: it begins (s) in the parent's range and ends (f) in each
// event that has this parent. Viewers take what they find open on the track, so both stand after
// their range and within it, and the end is after the beginning.
//
// A batch holds events back until their lanes are known; then they are written in the order of
// rows.
#include <stdio.h>
#include <stdlib.h>

#include "client/format/export_fmt.h"
#include "client/format/export_names.h"
#include "client/lane/export_tracks.h"
#include "client/lane/lane_batch.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#define FIRST_FREE_TID 0x1000000u // real ones have 24 bits
#define EXACT_IN_DOUBLES (INT64_C(1) << 53)

struct chrome {
    struct export_lanes lanes;
    struct lane_batch batch;
    struct export_names counters; // of the store
    struct export_tracks tracks;
    struct export_track *last; // of the event that was written last
    uint64_t last_thread;      // of the event before; its names are known
    bool has_last_thread;
    uint32_t color; // of the event before, and the name that is nearest to it; 0 before the first
    const char *color_name;
    uint32_t next_tid; // of a lane: the tid in the output, which is the id of its track
    bool comma;        // an event was written
};

static int begin_chrome(struct export_writer *writer) {
    struct chrome *chrome = calloc(1, sizeof(*chrome));
    if (!chrome || lane_batch_init(&chrome->batch) < 0) {
        if (chrome) {
            lane_batch_deinit(&chrome->batch);
        }
        free(chrome);
        return nvtxt_origin(-ENOMEM);
    }
    chrome->next_tid = FIRST_FREE_TID;
    writer->state = chrome;
    NVTXT_OUT_LITERAL(&writer->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"baseTimeNs\":\"");
    nvtxt_out_int(&writer->out, writer->base_ns);
    NVTXT_OUT_LITERAL(&writer->out,
                      "\",\"version\":\"nvtxt-export " PACKAGE_VERSION "\"},\"traceEvents\":[\n");
    return 0;
}

static void free_chrome(struct export_writer *writer) {
    struct chrome *chrome = writer->state;
    if (!chrome) {
        return;
    }
    export_tracks_deinit(&chrome->tracks);
    lane_batch_deinit(&chrome->batch);
    export_lanes_deinit(&chrome->lanes);
    export_names_deinit(&chrome->counters);
    free(chrome);
}

static int segment_chrome(struct export_writer *writer, struct store_reader *reader) {
    struct chrome *chrome = writer->state;
    return export_names_add_counters(&chrome->counters, reader);
}

static void begin_event(struct export_writer *writer, struct chrome *chrome) {
    if (chrome->comma) {
        NVTXT_OUT_LITERAL(&writer->out, ",\n");
    }
    chrome->comma = true;
}

// ---- Tracks -------------------------------------------------------------------------------------

// An event's names are valid only during the call, so this keeps them until the event is written.
static int keep_names(struct chrome *chrome, const struct store_named_event *row) {
    uint64_t global_tid = row->event->global_tid;
    if (chrome->has_last_thread && chrome->last_thread == global_tid) {
        return 0;
    }
    struct export_tracks *tracks = &chrome->tracks;
    int r = export_track_keep_name(export_tracks_process(tracks, global_tid), row->process);
    r = r ?: export_track_keep_name(export_tracks_get(tracks, global_tid, 0), row->thread);
    chrome->last_thread = global_tid;
    chrome->has_last_thread = r == 0;
    return r;
}

static void put_ids(struct nvtxt_out *out, const struct export_track *track) {
    NVTXT_OUT_LITERAL(out, "\"pid\":");
    nvtxt_out_uint(out, store_event_pid(track->global_tid));
    NVTXT_OUT_LITERAL(out, ",\"tid\":");
    nvtxt_out_uint(out, track->lane > 0 ? track->id : store_event_tid(track->global_tid));
}

static void put_name(struct nvtxt_out *out, const struct export_track *track,
                     const struct export_track *named) {
    char number[24];
    NVTXT_OUT_LITERAL(out, "\"args\":{\"name\":");
    nvtxt_out_json(out, (struct nvtxt_slice){named->name, named->name_len});
    if (track->lane > 0) {
        int len = snprintf(number, sizeof(number), " (%d)\"", track->lane + 1);
        out->len -= out->len > 0; // removes the quote that ends the name
        nvtxt_out_bytes(out, number, (size_t)len);
    }
    NVTXT_OUT_LITERAL(out, "}}");
}

static void name_process(struct export_writer *writer, struct export_track *process) {
    if (!process->is_named && process->name) {
        begin_event(writer, writer->state);
        NVTXT_OUT_LITERAL(&writer->out, "{\"ph\":\"M\",\"name\":\"process_name\",");
        put_ids(&writer->out, process);
        NVTXT_OUT_LITERAL(&writer->out, ",");
        put_name(&writer->out, process, process);
    }
    process->is_named = true;
}

// A viewer sorts by the index, then by tid, so lanes come after their thread.
static void name_thread(struct export_writer *writer, const struct export_track *track,
                        const struct export_track *thread) {
    struct nvtxt_out *out = &writer->out;
    begin_event(writer, writer->state);
    NVTXT_OUT_LITERAL(out, "{\"ph\":\"M\",\"name\":\"thread_sort_index\",");
    put_ids(out, track);
    NVTXT_OUT_LITERAL(out, ",\"args\":{\"sort_index\":");
    nvtxt_out_uint(out, store_event_tid(track->global_tid));
    NVTXT_OUT_LITERAL(out, "}}");
    if (thread->name) {
        begin_event(writer, writer->state);
        NVTXT_OUT_LITERAL(out, "{\"ph\":\"M\",\"name\":\"thread_name\",");
        put_ids(out, track);
        NVTXT_OUT_LITERAL(out, ",");
        put_name(out, track, thread);
    }
}

// Finds the track of an event; a new one is named first.
static struct export_track *track_for(struct export_writer *writer, const struct lane_item *item) {
    struct chrome *chrome = writer->state;
    struct export_track *last = chrome->last;
    if (last && last->global_tid == item->global_tid && last->lane == (int)item->lane) {
        return last;
    }
    struct export_track *track =
        export_tracks_get(&chrome->tracks, item->global_tid, (int)item->lane);
    if (track && !track->is_named) {
        struct export_track *process = export_tracks_process(&chrome->tracks, item->global_tid);
        const struct export_track *thread = export_tracks_get(&chrome->tracks, item->global_tid, 0);
        if (!process || !thread) {
            return NULL;
        }
        track->id = chrome->next_tid;
        chrome->next_tid += track->lane > 0;
        name_process(writer, process);
        name_thread(writer, track, thread);
        track->is_named = true;
    }
    return chrome->last = track;
}

// ---- Colours ------------------------------------------------------------------------------------

// A viewer takes only colours that it has a name for (https://github.com/catapult-project/catapult,
// tracing/tracing/base/color_scheme.html). The event gets the nearest of them; the exact colour is
// an argument.
static const struct {
    const char *name;
    uint8_t red, green, blue;
} reserved[] = {
    {"thread_state_uninterruptible", 182, 125, 143},
    {"thread_state_iowait", 255, 140, 0},
    {"thread_state_running", 126, 200, 148},
    {"thread_state_runnable", 133, 160, 210},
    {"thread_state_unknown", 199, 155, 125},
    {"light_memory_dump", 0, 0, 180},
    {"background_memory_dump", 0, 180, 180},
    {"detailed_memory_dump", 180, 0, 180},
    {"vsync_highlight_color", 0, 0, 255},
    {"generic_work", 125, 125, 125},
    {"good", 0, 125, 0},
    {"bad", 180, 125, 0},
    {"terrible", 180, 0, 0},
    {"black", 0, 0, 0},
    {"grey", 221, 221, 221},
    {"white", 255, 255, 255},
    {"yellow", 255, 255, 0},
    {"olive", 100, 100, 0},
    {"rail_response", 67, 135, 253},
    {"rail_animation", 244, 74, 63},
    {"rail_load", 13, 168, 97},
};

static int square(int value) {
    return value * value;
}

static const char *nearest_name(struct chrome *chrome, uint32_t argb) {
    size_t best = 0;
    if (argb == chrome->color) {
        return chrome->color_name;
    }
    int best_distance = INT32_MAX;
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        int distance = square((int)(argb >> 16 & 255) - reserved[i].red) +
                       square((int)(argb >> 8 & 255) - reserved[i].green) +
                       square((int)(argb & 255) - reserved[i].blue);
        if (distance < best_distance) {
            best_distance = distance;
            best = i;
        }
    }
    chrome->color = argb;
    chrome->color_name = reserved[best].name;
    return chrome->color_name;
}

// ---- Events -------------------------------------------------------------------------------------

static void put_category(struct nvtxt_out *out, const struct store_named_event *row) {
    NVTXT_OUT_LITERAL(out, ",\"cat\":");
    if (row->category.data) {
        nvtxt_out_json(out, row->category);
        return;
    }
    NVTXT_OUT_LITERAL(out, "\"");
    if (row->event->category) {
        nvtxt_out_uint(out, row->event->category);
    }
    NVTXT_OUT_LITERAL(out, "\"");
}

static void put_quoted_int(struct nvtxt_out *out, int64_t value) {
    NVTXT_OUT_LITERAL(out, "\"");
    nvtxt_out_int(out, value);
    NVTXT_OUT_LITERAL(out, "\"");
}

static bool is_exact_in_doubles(const struct nvtxt_payload *payload) {
    if (payload->kind == NVTXT_PAYLOAD_UINT64) {
        return (uint64_t)payload->int64 <= (uint64_t)EXACT_IN_DOUBLES;
    }
    return export_is_real(payload) ||
           (payload->int64 <= EXACT_IN_DOUBLES && payload->int64 >= -EXACT_IN_DOUBLES);
}

// Integers that a double cannot hold are strings.
static void put_number(struct nvtxt_out *out, const struct nvtxt_payload *payload) {
    if (!is_exact_in_doubles(payload)) {
        NVTXT_OUT_LITERAL(out, "\"");
        (void)store_event_number(out, payload);
        NVTXT_OUT_LITERAL(out, "\"");
    } else if (!store_event_number(out, payload)) {
        nvtxt_out_json(out, store_event_infinity(payload));
    }
}

static void put_payload(struct nvtxt_out *out, const struct store_read_event *event) {
    if (event->payload.kind != NVTXT_PAYLOAD_NONE) {
        NVTXT_OUT_LITERAL(out, ",\"payload\":");
        put_number(out, &event->payload);
    }
    if (event->json.len > 0) {
        NVTXT_OUT_LITERAL(out, ",\"json\":");
        nvtxt_json_put(out, event->json);
    }
}

static void put_end_thread(struct nvtxt_out *out, const struct store_read_event *event) {
    if (event->ended_elsewhere) {
        NVTXT_OUT_LITERAL(out, ",\"endPid\":");
        nvtxt_out_uint(out, store_event_pid(event->end_global_tid));
        NVTXT_OUT_LITERAL(out, ",\"endTid\":");
        nvtxt_out_uint(out, store_event_tid(event->end_global_tid));
    }
}

static void put_args(struct nvtxt_out *out, const struct store_named_event *row) {
    const struct store_read_event *event = row->event;
    NVTXT_OUT_LITERAL(out, ",\"args\":{\"startNs\":");
    put_quoted_int(out, event->start);
    NVTXT_OUT_LITERAL(out, ",\"endNs\":");
    put_quoted_int(out, event->end);
    if (event->type != NVTXT_EVENT_MARK) {
        NVTXT_OUT_LITERAL(out, ",\"kind\":\"");
        nvtxt_out_slice(out, store_event_kind(event->type));
        NVTXT_OUT_LITERAL(out, "\"");
    }
    if (event->category) {
        NVTXT_OUT_LITERAL(out, ",\"category\":");
        nvtxt_out_uint(out, event->category);
    }
    if (event->color) {
        NVTXT_OUT_LITERAL(out, ",\"color\":\"");
        nvtxt_out_color(out, event->color);
        NVTXT_OUT_LITERAL(out, "\"");
    }
    if (row->domain.data) {
        NVTXT_OUT_LITERAL(out, ",\"domain\":");
        nvtxt_out_json(out, row->domain);
    }
    put_payload(out, event);
    if (row->parent && row->parent->is_known) {
        NVTXT_OUT_LITERAL(out, ",\"parent\":");
        nvtxt_out_json(out, row->parent->text);
    } else if (row->parent) {
        NVTXT_OUT_LITERAL(out, ",\"unknownParent\":");
        nvtxt_out_json(out, row->parent->token);
    }
}

static void put_name_and_category(struct nvtxt_out *out, const struct store_named_event *row) {
    if (row->event->type == NVTXT_EVENT_MARK) {
        NVTXT_OUT_LITERAL(out, "{\"ph\":\"i\",\"s\":\"t\",\"name\":");
    } else {
        NVTXT_OUT_LITERAL(out, "{\"ph\":\"X\",\"name\":");
    }
    nvtxt_out_json(out, row->event->text);
    put_category(out, row);
    NVTXT_OUT_LITERAL(out, ",");
}

static void put_start(struct nvtxt_out *out, int64_t start, int64_t base_ns) {
    NVTXT_OUT_LITERAL(out, ",\"ts\":");
    if (start < base_ns) { // it came after the base was found
        NVTXT_OUT_LITERAL(out, "-");
        nvtxt_out_microseconds(out, (uint64_t)base_ns - (uint64_t)start);
    } else {
        nvtxt_out_microseconds(out, (uint64_t)start - (uint64_t)base_ns);
    }
}

static void put_times(struct nvtxt_out *out, const struct store_read_event *event,
                      int64_t base_ns) {
    put_start(out, event->start, base_ns);
    if (event->type != NVTXT_EVENT_MARK) {
        uint64_t length = (uint64_t)event->end - (uint64_t)event->start;
        NVTXT_OUT_LITERAL(out, ",\"dur\":");
        nvtxt_out_microseconds(out, event->end > event->start ? length : 0);
    }
}

// ---- Batches ------------------------------------------------------------------------------------

static void write_flow(struct export_writer *writer, const struct export_track *track,
                       struct nvtxt_slice phase, uint32_t number, int64_t at) {
    struct nvtxt_out *out = &writer->out;
    begin_event(writer, writer->state);
    NVTXT_OUT_LITERAL(out, "{\"ph\":");
    nvtxt_out_slice(out, phase);
    NVTXT_OUT_LITERAL(out, ",\"cat\":\"parent\",\"name\":\"parent\",\"id\":");
    nvtxt_out_uint(out, number);
    NVTXT_OUT_LITERAL(out, ",");
    put_ids(out, track);
    put_start(out, at, writer->base_ns);
    NVTXT_OUT_LITERAL(out, "}");
}

static int write_item(struct export_writer *writer, const struct lane_item *item, size_t from) {
    struct nvtxt_out *out = &writer->out;
    struct chrome *chrome = writer->state;
    const char *text = chrome->batch.text.data;
    const struct export_track *track = track_for(writer, item);
    if (!track) {
        return nvtxt_origin(-ENOMEM);
    }
    begin_event(writer, chrome);
    nvtxt_out_bytes(out, text + from, item->ids - from);
    put_ids(out, track);
    nvtxt_out_bytes(out, text + item->ids, item->late - item->ids);
    if (track->lane > 0) {
        NVTXT_OUT_LITERAL(out, ",\"tid\":");
        nvtxt_out_uint(out, store_event_tid(item->global_tid));
    }
    nvtxt_out_bytes(out, text + item->late, item->stop - item->late);
    if (item->flow_out) {
        write_flow(writer, track, NVTXT_SLICE("\"s\""), item->flow_out, item->start);
    }
    if (item->flow_in) {
        write_flow(writer, track, NVTXT_SLICE("\"f\",\"bp\":\"e\""), item->flow_in, item->flow_at);
    }
    return 0;
}

static int settle_chrome(struct export_writer *writer) {
    struct chrome *chrome = writer->state;
    struct lane_batch *batch = &chrome->batch;
    size_t from = 0;
    int r = batch->text.error ?: lane_batch_place(batch, &chrome->lanes);
    for (uint32_t i = 0; i < batch->count && r == 0; i++) {
        r = write_item(writer, &batch->items[i], from);
        from = batch->items[i].stop;
    }
    lane_batch_clear(batch);
    return r;
}

// ---- Rows ---------------------------------------------------------------------------------------

// For a viewer each argument of a counter is a series, so there are no others. False when a sample
// has no number.
static bool put_series(struct nvtxt_out *out, const struct store_read_event *event) {
    if (event->payload.kind == NVTXT_PAYLOAD_NONE) {
        return nvtxt_json_numbers(out, event->json) > 0;
    }
    NVTXT_OUT_LITERAL(out, "\"value\":");
    return store_event_number(out, &event->payload);
}

// A counter of another domain is another counter: viewers tell them apart by the id.
static bool put_sample(struct nvtxt_out *out, const struct store_named_event *row, int64_t base_ns,
                       struct lane_item *item) {
    size_t before = out->len;
    NVTXT_OUT_LITERAL(out, "{\"ph\":\"C\",\"name\":");
    nvtxt_out_json(out, row->event->text);
    put_category(out, row);
    NVTXT_OUT_LITERAL(out, ",");
    item->ids = out->len;
    put_times(out, row->event, base_ns);
    if (row->domain.data) {
        NVTXT_OUT_LITERAL(out, ",\"id\":");
        nvtxt_out_json(out, row->domain);
    }
    NVTXT_OUT_LITERAL(out, ",\"args\":{");
    if (!put_series(out, row->event)) {
        out->len = before;
        return false;
    }
    item->late = out->len;
    NVTXT_OUT_LITERAL(out, "}}");
    return true;
}

static void put_event(struct chrome *chrome, const struct store_named_event *row, int64_t base_ns,
                      struct lane_item *item) {
    struct nvtxt_out *out = &chrome->batch.text;
    const struct store_read_event *event = row->event;
    put_name_and_category(out, row);
    item->ids = out->len;
    put_times(out, event, base_ns);
    if (event->color) {
        const char *name = nearest_name(chrome, event->color);
        NVTXT_OUT_LITERAL(out, ",\"cname\":\"");
        nvtxt_out_bytes(out, name, strlen(name));
        NVTXT_OUT_LITERAL(out, "\"");
    }
    put_args(out, row);
    item->late = out->len;
    put_end_thread(out, event);
    NVTXT_OUT_LITERAL(out, "}}");
}

// A mark is never open, and a range without length neither.
static void set_flows(struct lane_item *item, const struct store_named_event *row) {
    const struct store_parent *parent = row->parent;
    if (row->as_parent && item->end > item->start) {
        item->flow_out = row->as_parent->number;
    }
    if (!parent || !parent->is_known || !item->is_range || parent->end <= parent->start) {
        return;
    }
    item->flow_at = item->start > parent->start ? item->start : nvtxt_time_plus(parent->start, 1);
    item->flow_in = item->flow_at < item->end ? parent->number : 0;
}

static int row_chrome(struct export_writer *writer, const struct store_named_event *row) {
    struct chrome *chrome = writer->state;
    struct lane_batch *batch = &chrome->batch;
    struct nvtxt_out *out = &batch->text;
    const struct store_read_event *event = row->event;
    struct lane_item *item = &batch->items[batch->count++];
    *item = (struct lane_item){.global_tid = event->global_tid,
                               .start = event->start,
                               .end = event->end,
                               .is_range = event->type != NVTXT_EVENT_MARK};
    if (!export_names_counter(&chrome->counters, row) ||
        !put_sample(out, row, writer->base_ns, item)) {
        put_event(chrome, row, writer->base_ns, item);
        set_flows(item, row);
    }
    item->stop = out->len;
    int r = keep_names(chrome, row);
    return r == 0 && lane_batch_is_full(batch) ? settle_chrome(writer) : r;
}

static int end_chrome(struct export_writer *writer) {
    const struct chrome *chrome = writer->state;
    int r = settle_chrome(writer);
    NVTXT_OUT_LITERAL(&writer->out, "\n]}\n");
    writer->changed = chrome->lanes.forced;
    return r;
}

const struct export_format export_chrome = {.name = "chrome",
                                            .loss = "ranges cross others of their thread, "
                                                    "viewers may not show them",
                                            .wants_parents = true,
                                            .begin = begin_chrome,
                                            .segment = segment_chrome,
                                            .row = row_chrome,
                                            .settle = settle_chrome,
                                            .end = end_chrome,
                                            .free = free_chrome};
