// SPDX-License-Identifier: Apache-2.0
//
// Ends have no names in this format: an end closes the range of its track that began last. A viewer
// sorts the packets by time, and leaves those of the same time in the order of the file. So a batch
// is written in the order of time, each thread has further tracks for ranges that cross, and a
// range of a later batch gets one too where that order would be wrong (`batch` of export_lanes.h).
// Start/end ranges have tracks of their own from the beginning.
//
// A parent in another process is a flow from its range to the event: the range begins the flow of
// its number (`flow_ids`), and each of its children says where it comes from in the older way
// (`bind_id`), because a flow of the newer kind goes from one child on to the next.
//
// Times have to be from 0 on. If the first event is before 1970, they count from that event.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/format/perfetto.h"
#include "protocol/base/origin.h"

static void put_clock(struct nvtxt_out *out, unsigned id, int64_t at) {
    size_t clock = nvtxt_pb_begin(out, CLOCKS_CLOCK);
    nvtxt_pb_uint(out, CLOCK_ID, id);
    nvtxt_pb_uint(out, CLOCK_TIMESTAMP, (uint64_t)at);
    nvtxt_pb_end(out, clock);
}

// The first packet says that times are those of UTC, so that a viewer can show these.
static int begin_perfetto(struct export_writer *writer) {
    struct perfetto *perfetto = calloc(1, sizeof(*perfetto));
    writer->state = perfetto;
    if (!perfetto || nvtxt_out_init(&perfetto->packet, -1) < 0 ||
        lane_batch_init(&perfetto->batch) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    perfetto->lanes.batch = 1;
    perfetto->origin_ns = writer->base_ns < 0 ? writer->base_ns : 0;
    struct nvtxt_out *out = &perfetto->packet;
    size_t packet = perfetto_begin(perfetto, FLAG_CLEARED);
    nvtxt_pb_uint(out, PACKET_IS_FIRST, true);
    if (writer->base_ns > 0) {
        size_t clocks = nvtxt_pb_begin(out, PACKET_CLOCKS);
        put_clock(out, CLOCK_TRACE, writer->base_ns);
        put_clock(out, CLOCK_REALTIME, writer->base_ns);
        nvtxt_pb_end(out, clocks);
    }
    perfetto_end(writer, packet);
    return 0;
}

static void free_perfetto(struct export_writer *writer) {
    struct perfetto *perfetto = writer->state;
    if (!perfetto) {
        return;
    }
    for (size_t i = 0; i < TABLES; i++) {
        nvtxt_texts_deinit(&perfetto->names[i]);
    }
    nvtxt_texts_deinit(&perfetto->series);
    nvtxt_out_deinit(&perfetto->packet);
    export_tracks_deinit(&perfetto->tracks);
    export_names_deinit(&perfetto->counters);
    export_lanes_deinit(&perfetto->lanes);
    lane_batch_deinit(&perfetto->batch);
    free(perfetto);
}

static int segment_perfetto(struct export_writer *writer, struct store_reader *reader) {
    struct perfetto *perfetto = writer->state;
    return export_names_add_counters(&perfetto->counters, reader);
}

// ---- Batches ------------------------------------------------------------------------------------

static void put_edge(struct export_writer *writer, const struct lane_item *item, int64_t at,
                     unsigned type, struct nvtxt_slice body) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *out = &perfetto->packet;
    size_t packet = perfetto_begin(perfetto, FLAG_NEEDS_STATE);
    nvtxt_pb_uint(out, PACKET_TIMESTAMP, (uint64_t)at);
    size_t event = nvtxt_pb_begin(out, PACKET_EVENT);
    nvtxt_pb_uint(out, EVENT_TYPE, type);
    nvtxt_pb_uint(out, EVENT_TRACK, item->track);
    nvtxt_out_slice(out, body);
    nvtxt_pb_end(out, event);
    perfetto_end(writer, packet);
}

static int write_edge(struct export_writer *writer, const struct lane_edge *edge) {
    struct perfetto *perfetto = writer->state;
    struct lane_batch *batch = &perfetto->batch;
    struct lane_item *item = &batch->items[edge->item];
    const struct nvtxt_slice nothing = {NULL, 0};
    if (edge->kind == LANE_END) {
        put_edge(writer, item, edge->at, TYPE_END, nothing);
        return 0;
    }
    size_t from = edge->item > 0 ? batch->items[edge->item - 1].stop : 0;
    const struct nvtxt_slice body = {batch->text.data + from, item->stop - from};
    unsigned type = item->track > 0 ? TYPE_COUNTER : item->is_range ? TYPE_BEGIN : TYPE_INSTANT;
    item->track = item->track ?: perfetto_track_of(writer, item);
    if (item->track == 0) {
        return nvtxt_origin(-ENOMEM);
    }
    put_edge(writer, item, edge->at, type, body);
    if (item->is_range && edge->kind == LANE_POINT) {
        put_edge(writer, item, edge->at, TYPE_END, nothing);
    }
    return 0;
}

static int settle_perfetto(struct export_writer *writer) {
    struct perfetto *perfetto = writer->state;
    struct lane_batch *batch = &perfetto->batch;
    uint32_t count = 0;
    int r = batch->text.error ?: lane_batch_place(batch, &perfetto->lanes);
    const struct lane_edge *edges = r == 0 ? lane_batch_edges(batch, &count) : NULL;
    r = r ?: edges ? 0 : nvtxt_origin(-ENOMEM);
    for (uint32_t i = 0; i < count && r == 0; i++) {
        r = write_edge(writer, &edges[i]);
    }
    lane_batch_clear(batch);
    perfetto->lanes.batch++;
    perfetto_forget(writer);
    return r ?: perfetto->packet.error;
}

// ---- Rows ---------------------------------------------------------------------------------------

// Begins the next event of the batch: its caller puts the rest into the batch's text.
static struct lane_item *begin_item(struct perfetto *perfetto,
                                    const struct store_read_event *event) {
    struct lane_item *item = &perfetto->batch.items[perfetto->batch.count++];
    int64_t end = event->end > event->start ? event->end : event->start;
    *item =
        (struct lane_item){.global_tid = event->global_tid,
                           .start = perfetto_time(perfetto, event->start),
                           .end = perfetto_time(perfetto, end), // of a backward range: its start
                           .is_range = event->type != NVTXT_EVENT_MARK};
    return item;
}

static int end_item(struct export_writer *writer, struct lane_item *item) {
    struct perfetto *perfetto = writer->state;
    item->stop = perfetto->batch.text.len;
    return lane_batch_is_full(&perfetto->batch) ? settle_perfetto(writer) : 0;
}

static void put_category(struct export_writer *writer, const struct store_named_event *row) {
    struct perfetto *perfetto = writer->state;
    char number[16];
    struct nvtxt_slice name = row->category;
    if (!name.data && row->event->category) {
        snprintf(number, sizeof(number), "%u", row->event->category);
        name = nvtxt_slice_of(number);
    }
    if (name.data) {
        uint64_t id = perfetto_intern(writer, CATEGORIES, name);
        nvtxt_pb_uint(&perfetto->batch.text, EVENT_CATEGORY, id);
    }
}

static void put_flows(struct nvtxt_out *out, const struct store_named_event *row) {
    if (row->as_parent) {
        nvtxt_pb_fixed(out, EVENT_FLOW, row->as_parent->number);
    }
    if (row->parent && row->parent->is_known) {
        size_t begun = nvtxt_pb_begin(out, EVENT_LEGACY);
        nvtxt_pb_uint(out, LEGACY_BIND, row->parent->number);
        nvtxt_pb_uint(out, LEGACY_DIRECTION, FLOW_IN);
        nvtxt_pb_end(out, begun);
    }
}

static int put_event(struct export_writer *writer, const struct store_named_event *row) {
    struct perfetto *perfetto = writer->state;
    struct lane_item *item = begin_item(perfetto, row->event);
    if (row->event->type == NVTXT_EVENT_START_END) {
        item->global_tid |= PERFETTO_START_END;
    }
    put_category(writer, row);
    nvtxt_pb_uint(&perfetto->batch.text, EVENT_NAME,
                  perfetto_intern(writer, EVENT_NAMES, row->event->text));
    put_flows(&perfetto->batch.text, row);
    int r = perfetto_put_arguments(writer, row);
    return r ?: end_item(writer, item);
}

// A number of a counter is an Int64 or a double.
static void put_value(struct nvtxt_out *out, const struct nvtxt_payload *number) {
    if (export_is_real(number)) {
        nvtxt_pb_double(out, EVENT_DOUBLE, number->real);
    } else if (number->kind == NVTXT_PAYLOAD_UINT64 && number->int64 < 0) {
        nvtxt_pb_double(out, EVENT_DOUBLE, (double)(uint64_t)number->int64);
    } else {
        nvtxt_pb_uint(out, EVENT_INTEGER, (uint64_t)number->int64);
    }
}

// A sample is an event whose track is known before its batch is written.
static int put_sample(struct export_writer *writer, const struct store_named_event *row,
                      uint64_t series, const struct nvtxt_payload *number) {
    struct perfetto *perfetto = writer->state;
    struct lane_item *item = begin_item(perfetto, row->event);
    item->track = series;
    put_category(writer, row);
    put_value(&perfetto->batch.text, number);
    return end_item(writer, item);
}

// As for `chrome`, what has no finite number is no sample, and each member of an object that is a
// number is a counter. Returns whether there was one, or -ENOMEM.
static int put_samples(struct export_writer *writer, const struct store_named_event *row,
                       const struct export_name *counter) {
    const struct nvtxt_payload *payload = &row->event->payload;
    struct nvtxt_json_member member = {.next = 0};
    struct nvtxt_number number = {0};
    int r = 0, samples = 0;
    if (payload->kind != NVTXT_PAYLOAD_NONE) {
        if (export_is_real(payload) && !isfinite(payload->real)) {
            return 0;
        }
        uint64_t series = perfetto_series_of(writer, counter, (struct nvtxt_slice){NULL, 0});
        return put_sample(writer, row, series, payload) ?: 1;
    }
    while (r == 0 && nvtxt_json_next_number(row->event->json, &member)) {
        uint64_t series = perfetto_series_of(writer, counter, member.name);
        r = nvtxt_json_number(member.value, &number);
        const struct nvtxt_payload value = perfetto_payload(&number);
        r = r ?: put_sample(writer, row, series, &value);
        samples = 1;
    }
    return r ?: samples;
}

static int row_perfetto(struct export_writer *writer, const struct store_named_event *row) {
    struct perfetto *perfetto = writer->state;
    int r = perfetto_describe(writer, row);
    const struct export_name *counter = export_names_counter(&perfetto->counters, row);
    int samples = r == 0 && counter ? put_samples(writer, row, counter) : r;
    return samples == 0 ? put_event(writer, row) : samples < 0 ? samples : 0;
}

const struct export_format export_perfetto = {.name = "perfetto",
                                              .wants_parents = true,
                                              .begin = begin_perfetto,
                                              .segment = segment_perfetto,
                                              .row = row_perfetto,
                                              .settle = settle_perfetto,
                                              .end = settle_perfetto,
                                              .free = free_perfetto};
