// SPDX-License-Identifier: Apache-2.0
//
// How room is counted. `limit` is the end of what may be touched, within the ring. On the lap of
// the reader there are two stretches: from the writer to the limit, and from the start to the
// reader. One lap ahead of the reader there is one, from the writer to the reader. The reader's
// bytes are never reached.
#include "lib/ring/ring.h"

#include "protocol/base/origin.h"

#define LOOK_BYTES (4u << 10)

void ring_writer_init(struct ring_writer *writer, const struct region *region, uint32_t number) {
    struct ring_head *head = &region->rings[number];
    *writer = (struct ring_writer){
        .head = head, .data = region_ring(region, number), .size = region->head->ring_bytes};
    writer->at = atomic_load_explicit(&head->at, memory_order_relaxed);
    writer->lap_from = atomic_load_explicit(&head->lap_from, memory_order_relaxed);
    writer->freed = atomic_load_explicit(&head->freed, memory_order_acquire);
    writer->granted = atomic_load_explicit(&head->granted, memory_order_acquire);
}

// The end of what may be written on the lap of the writer. A record may end where the ring ends:
// what is known of the room ends there as well (`easy`), so the next lap begins with a look.
static uint64_t limit_of(const struct ring_writer *writer, bool same_lap) {
    return same_lap ? writer->granted : writer->freed & (writer->size - 1);
}

static uint64_t pops_in(uint64_t stretch) {
    return stretch / RECORD_POP_BYTES;
}

static bool is_same_lap(const struct ring_writer *writer, uint64_t at) {
    return (at ^ writer->freed) < writer->size;
}

// Whether a record of `bytes` bytes fits at `at`, and after it the pops.
static bool has_room(const struct ring_writer *writer, uint64_t at, uint32_t bytes, uint32_t pops) {
    uint64_t mask = writer->size - 1;
    uint64_t offset = at & mask, reader = writer->freed & mask;
    bool same_lap = is_same_lap(writer, at);
    uint64_t limit = limit_of(writer, same_lap);
    if (offset + bytes > limit) {
        return false;
    }
    return pops_in(limit - offset - bytes) + (same_lap ? pops_in(reader) : 0) >= pops;
}

// The writer is at the start of the next lap.
static uint64_t next_lap(const struct ring_writer *writer) {
    return (writer->at | (writer->size - 1)) + 1;
}

static void begin_lap(struct ring_writer *writer) {
    writer->lap_from = writer->at;
    atomic_store_explicit(&writer->head->lap_from, writer->at, memory_order_relaxed);
    writer->at = next_lap(writer);
}

// What is free of an empty ring from the next lap on.
static void begin_empty_lap(struct ring_writer *writer) {
    begin_lap(writer);
    writer->lap = writer->freed = writer->at;
}

// Tries here, then at the start of the next lap, with what is known of the reader.
static char *place(struct ring_writer *writer, uint32_t bytes, uint32_t pops) {
    uint64_t offset = writer->at & (writer->size - 1);
    if (writer->at == writer->freed && offset >= RING_LAP_BYTES) {
        begin_empty_lap(writer);
        offset = 0;
    }
    if (has_room(writer, writer->at, bytes, pops)) {
        return writer->data + offset;
    }
    if (offset != 0 && is_same_lap(writer, writer->at) &&
        has_room(writer, next_lap(writer), bytes, pops)) {
        begin_lap(writer);
        return writer->data;
    }
    return NULL;
}

// After the mark the writer looks every few KiB whether the ring is empty, and from half full on
// each time, since it says so to the reader.
static uint64_t easy_end(const struct ring_writer *writer) {
    uint64_t offset = writer->at & (writer->size - 1);
    uint64_t limit = limit_of(writer, is_same_lap(writer, writer->at));
    uint64_t look = offset < RING_LAP_BYTES ? RING_LAP_BYTES : (offset | (LOOK_BYTES - 1)) + 1;
    uint64_t end = writer->at - offset + (limit < look ? limit : look);
    uint64_t half = writer->at + writer->granted / 2 - ring_writer_used(writer);
    return ring_is_half_full(writer) ? 0 : half < end ? half : end;
}

char *ring_look(struct ring_writer *writer, uint32_t bytes, uint32_t pops) {
    uint64_t freed = atomic_load_explicit(&writer->head->freed, memory_order_acquire);
    writer->freed = freed > writer->lap ? freed : writer->lap;
    writer->granted = atomic_load_explicit(&writer->head->granted, memory_order_acquire);
    char *room = place(writer, bytes, pops);
    writer->easy = easy_end(writer);
    return room;
}

void ring_reader_init(struct ring_reader *reader, const struct region *region, uint32_t number,
                      uint64_t tail) {
    const struct ring_head *head = &region->rings[number];
    *reader = (struct ring_reader){
        .data = region_ring(region, number), .size = region->head->ring_bytes, .at = tail};
    reader->end = atomic_load_explicit(&head->at, memory_order_acquire);
    reader->lap_from = atomic_load_explicit(&head->lap_from, memory_order_relaxed);
    reader->granted = atomic_load_explicit(&head->granted, memory_order_relaxed);
}

int ring_next(struct ring_reader *reader, struct record_view *view) {
    while (reader->at < reader->end) {
        uint64_t offset = reader->at & (reader->size - 1);
        bool is_lap = reader->lap_from && reader->at == reader->lap_from;
        if (is_lap || offset >= reader->granted) {
            reader->at = (reader->at | (reader->size - 1)) + 1;
            continue;
        }
        uint64_t most = reader->granted - offset;
        most = most < reader->end - reader->at ? most : reader->end - reader->at;
        uint32_t bytes = record_read(reader->data + offset, most, view);
        if (bytes == 0) {
            return nvtxt_origin(-EIO);
        }
        reader->at += bytes;
        return 1;
    }
    return reader->at == reader->end ? 0 : nvtxt_origin(-EIO);
}
