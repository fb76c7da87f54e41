// SPDX-License-Identifier: Apache-2.0
//
// Packets, texts and tracks. Each is written at once, so it stands before the events of its batch.
#include "client/format/perfetto.h"

#include "protocol/base/origin.h"

#define NAMES_MOST ((size_t)16 << 20)    // bytes of texts, after which they are forgotten
#define NAME_BYTES ((size_t)64)          // that a text takes beside itself
#define LAST_LANE (EXPORT_LANES_MAX - 1) // has ranges that may cross: each gets a track

// Of InternedData.
static const unsigned interned_fields[TABLES] = {
    [CATEGORIES] = 1, [EVENT_NAMES] = 2, [ARGUMENT_NAMES] = 3, [ARGUMENT_TEXTS] = 29};

// ---- Packets ------------------------------------------------------------------------------------

size_t perfetto_begin(struct perfetto *perfetto, unsigned flags) {
    struct nvtxt_out *out = &perfetto->packet;
    out->len = 0;
    size_t begun = nvtxt_pb_begin(out, TRACE_PACKET);
    nvtxt_pb_uint(out, PACKET_SEQUENCE, 1);
    nvtxt_pb_uint(out, PACKET_FLAGS, flags);
    return begun;
}

void perfetto_end(struct export_writer *writer, size_t begun) {
    struct perfetto *perfetto = writer->state;
    nvtxt_pb_end(&perfetto->packet, begun);
    nvtxt_out_bytes(&writer->out, perfetto->packet.data, perfetto->packet.len);
}

uint64_t perfetto_intern(struct export_writer *writer, enum perfetto_table table,
                         struct nvtxt_slice text) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *out = &perfetto->packet;
    uint32_t number;
    int r = nvtxt_texts_number(&perfetto->names[table], text, &number);
    uint64_t id = perfetto->forgotten[table] + number + 1;
    if (r == NVTXT_TEXTS_NEW) {
        size_t packet = perfetto_begin(perfetto, FLAG_NEEDS_STATE);
        size_t interned = nvtxt_pb_begin(out, PACKET_INTERNED);
        size_t entry = nvtxt_pb_begin(out, interned_fields[table]);
        nvtxt_pb_uint(out, INTERNED_ID, id);
        nvtxt_pb_string(out, INTERNED_TEXT, text);
        nvtxt_pb_end(out, entry);
        nvtxt_pb_end(out, interned);
        perfetto_end(writer, packet);
    }
    out->error = out->error ?: r < 0 ? r : 0;
    return id;
}

void perfetto_forget(struct export_writer *writer) {
    struct perfetto *perfetto = writer->state;
    size_t bytes = 0;
    for (size_t i = 0; i < TABLES; i++) {
        bytes += perfetto->names[i].bytes + perfetto->names[i].count * NAME_BYTES;
    }
    if (bytes < NAMES_MOST) {
        return;
    }
    for (size_t i = 0; i < TABLES; i++) {
        perfetto->forgotten[i] += perfetto->names[i].count;
        nvtxt_texts_deinit(&perfetto->names[i]);
    }
    perfetto_end(writer, perfetto_begin(perfetto, FLAG_CLEARED));
}

// ---- Tracks -------------------------------------------------------------------------------------

// A packet that describes a track; the caller goes on with its fields, and ends both.
struct description {
    size_t packet, track;
};

static struct description begin_track(struct perfetto *perfetto, uint64_t uuid, uint64_t parent) {
    struct nvtxt_out *out = &perfetto->packet;
    struct description begun;
    begun.packet = perfetto_begin(perfetto, FLAG_NEEDS_STATE);
    begun.track = nvtxt_pb_begin(out, PACKET_TRACK);
    nvtxt_pb_uint(out, TRACK_UUID, uuid);
    if (parent > 0) {
        nvtxt_pb_uint(out, TRACK_PARENT, parent);
    }
    return begun;
}

static void end_track(struct export_writer *writer, struct description begun) {
    struct perfetto *perfetto = writer->state;
    nvtxt_pb_end(&perfetto->packet, begun.track);
    perfetto_end(writer, begun.packet);
}

static void put_optional(struct nvtxt_out *out, unsigned field, struct nvtxt_slice text) {
    if (text.data) {
        nvtxt_pb_string(out, field, text);
    }
}

// pid and tid are signed in this format.
static uint64_t as_int32(uint32_t number) {
    return (uint64_t)(int64_t)(int32_t)number;
}

static void describe_process(struct export_writer *writer, struct export_track *process,
                             struct nvtxt_slice name) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *out = &perfetto->packet;
    process->id = perfetto->uuid += 2;
    process->is_named = true;
    struct description begun = begin_track(perfetto, process->id, 0);
    size_t message = nvtxt_pb_begin(out, TRACK_PROCESS);
    nvtxt_pb_uint(out, PROCESS_PID, as_int32(store_event_pid(process->global_tid)));
    put_optional(out, PROCESS_NAME, name);
    nvtxt_pb_end(out, message);
    end_track(writer, begun);
}

static void describe_thread(struct export_writer *writer, struct export_track *thread,
                            uint64_t process, struct nvtxt_slice name) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *out = &perfetto->packet;
    thread->id = perfetto->uuid += 2;
    thread->is_named = true;
    struct description begun = begin_track(perfetto, thread->id, process);
    size_t message = nvtxt_pb_begin(out, TRACK_THREAD);
    nvtxt_pb_uint(out, THREAD_PID, as_int32(store_event_pid(thread->global_tid)));
    nvtxt_pb_uint(out, THREAD_TID, store_event_tid(thread->global_tid));
    put_optional(out, THREAD_NAME, name);
    nvtxt_pb_end(out, message);
    end_track(writer, begun);
}

int perfetto_describe(struct export_writer *writer, const struct store_named_event *row) {
    struct perfetto *perfetto = writer->state;
    uint64_t global_tid = row->event->global_tid;
    if (perfetto->has_last_thread && perfetto->last_thread == global_tid) {
        return 0;
    }
    struct export_track *process = export_tracks_process(&perfetto->tracks, global_tid);
    struct export_track *thread = export_tracks_get(&perfetto->tracks, global_tid, 0);
    int r = process ? export_track_keep_name(thread, row->thread) : nvtxt_origin(-ENOMEM);
    if (r == 0 && !process->is_named) {
        describe_process(writer, process, row->process);
    }
    if (r == 0 && !thread->is_named) {
        describe_thread(writer, thread, process->id, row->thread);
    }
    perfetto->last_thread = global_tid;
    perfetto->has_last_thread = r == 0;
    return r;
}

// Viewers draw tracks of one name and one thread as one, with room for ranges that cross; so all
// start/end ranges of a thread have one name.
static uint64_t describe_lane(struct export_writer *writer, const struct lane_item *item,
                              const struct export_track *thread) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *out = &perfetto->packet;
    perfetto->uuid += 2;
    struct description begun = begin_track(perfetto, perfetto->uuid, thread->id);
    size_t message = nvtxt_pb_begin(out, TRACK_NAME);
    if (thread->name) {
        nvtxt_out_repaired(out, (struct nvtxt_slice){thread->name, thread->name_len});
    } else {
        nvtxt_out_format(out, "Thread %u", store_event_tid(thread->global_tid));
    }
    if (item->global_tid & PERFETTO_START_END) {
        NVTXT_OUT_LITERAL(out, " start/end");
    } else {
        nvtxt_out_format(out, " (%u)", item->lane + 1);
    }
    nvtxt_pb_end(out, message);
    end_track(writer, begun);
    return perfetto->uuid;
}

uint64_t perfetto_track_of(struct export_writer *writer, const struct lane_item *item) {
    struct perfetto *perfetto = writer->state;
    struct export_tracks *tracks = &perfetto->tracks;
    const struct export_track *thread =
        export_tracks_get(tracks, item->global_tid & ~PERFETTO_START_END, 0);
    if (thread && item->lane == LAST_LANE) {
        return describe_lane(writer, item, thread);
    }
    struct export_track *track = export_tracks_get(tracks, item->global_tid, (int)item->lane);
    if (!thread || !track) {
        return 0;
    }
    if (!track->is_named) {
        track->id = describe_lane(writer, item, thread);
        track->is_named = true;
    }
    return track->id;
}

// ---- Counters -----------------------------------------------------------------------------------

// The unit, where the description of the counter has one.
static void put_unit(struct nvtxt_out *out, struct nvtxt_slice json) {
    struct nvtxt_json_member member = {.next = 0};
    bool more = nvtxt_json_is_object(json) && nvtxt_json_next(json, &member);
    while (more && !nvtxt_slice_equal(member.name, NVTXT_SLICE("\"unit\""))) {
        more = nvtxt_json_next(json, &member);
    }
    if (more && *member.value.data == '"') {
        size_t begun = nvtxt_pb_begin(out, COUNTER_UNIT);
        nvtxt_json_decode(out, member.value);
        nvtxt_pb_end(out, begun);
    }
}

// Counters of one name and process may be of two domains: viewers shall not make one of them.
static void describe_series(struct export_writer *writer, uint64_t uuid,
                            const struct export_name *counter, struct nvtxt_slice member) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *out = &perfetto->packet;
    const struct export_track *process =
        export_tracks_process(&perfetto->tracks, counter->global_tid);
    struct description begun = begin_track(perfetto, uuid, process ? process->id : 0);
    size_t name = nvtxt_pb_begin(out, TRACK_NAME);
    nvtxt_out_repaired(out, nvtxt_refstr_slice(counter->what));
    if (member.len > 0) {
        NVTXT_OUT_LITERAL(out, " ");
        nvtxt_json_decode(out, member);
    }
    nvtxt_pb_end(out, name);
    if (counter->domain->len > 0) {
        nvtxt_pb_string(out, TRACK_DESCRIPTION, nvtxt_refstr_slice(counter->domain));
    }
    nvtxt_pb_uint(out, TRACK_MERGING, MERGING_NONE);
    size_t message = nvtxt_pb_begin(out, TRACK_COUNTER);
    put_unit(out, nvtxt_refstr_slice(counter->json));
    nvtxt_pb_end(out, message);
    end_track(writer, begun);
}

uint64_t perfetto_series_of(struct export_writer *writer, const struct export_name *counter,
                            struct nvtxt_slice member) {
    struct perfetto *perfetto = writer->state;
    struct nvtxt_out *key = &perfetto->packet;
    uint32_t number;
    key->len = 0;
    nvtxt_out_bytes(key, (const char *)&counter, sizeof(counter));
    nvtxt_out_slice(key, member);
    int r =
        nvtxt_texts_number(&perfetto->series, (struct nvtxt_slice){key->data, key->len}, &number);
    uint64_t uuid = 2 * (uint64_t)number + 1;
    if (r == NVTXT_TEXTS_NEW) {
        describe_series(writer, uuid, counter, member);
    }
    perfetto->packet.error = perfetto->packet.error ?: r < 0 ? r : 0;
    return uuid;
}
