// SPDX-License-Identifier: Apache-2.0
//
// The ring of one thread: it writes, the sender reads, nobody locks. Positions count bytes over all
// laps. A record that does not fit before the end of what the ring may touch begins the next lap;
// the head of the ring says where the one before it ended. At most one lap is unread.
//
// An empty ring begins a new lap when it has passed LAP_BYTES, so that a quiet thread goes on using
// its first pages. Nothing of the lap before is unread then, so the whole ring is free at once.
//
// A push that is recorded has room for its pop: the writer keeps RECORD_POP_BYTES free for each
// open one, whatever laps lie between.
#pragma once

#include "lib/ring/record.h"
#include "lib/ring/region.h"

#define RING_LAP_BYTES (16u << 10)

// The writer's side: what a thread knows of its ring. Not shared.
struct ring_writer {
    struct ring_head *head;
    char *data;
    uint64_t size;           // of the ring, a power of two
    uint64_t at;             // next byte
    uint64_t freed, granted; // as they were last looked at; freed: at least the start of a lap that
                             // an empty ring began
    uint64_t lap_from, lap;  // the end of the lap before, and the start of that lap
    uint64_t easy;           // position up to which there is room, without a look, and the ring
                             // is not half full; 0: neither is known
};

// `number` is a ring of which the caller is the only writer; its chunk is there.
void ring_writer_init(struct ring_writer *writer, const struct region *region, uint32_t number);

// As ring_reserve(), with a look at the reader.
char *ring_look(struct ring_writer *writer, uint32_t bytes, uint32_t pops);

// Room for a record of `bytes` bytes, after which `pops` pops still have theirs. NULL: none. The
// place is valid until the next call.
static inline char *ring_reserve(struct ring_writer *writer, uint32_t bytes, uint32_t pops) {
    return writer->at + bytes + (uint64_t)pops * RECORD_POP_BYTES <= writer->easy
               ? writer->data + (writer->at & (writer->size - 1))
               : ring_look(writer, bytes, pops);
}

// The record of `bytes` bytes that was reserved is whole.
static inline void ring_publish(struct ring_writer *writer, uint32_t bytes) {
    writer->at += bytes;
    atomic_store_explicit(&writer->head->at, writer->at, memory_order_release);
}

// Bytes between two positions without what a lap skips that ended at `lap_from`; 0: none did yet.
static inline uint64_t ring_used(uint64_t from, uint64_t to, uint64_t lap_from, uint64_t size) {
    bool skips = lap_from && from <= lap_from && lap_from < to;
    return to - from - (skips ? size - (lap_from & (size - 1)) : 0);
}

// As of the last time that the writer looked.
static inline uint64_t ring_writer_used(const struct ring_writer *writer) {
    return ring_used(writer->freed, writer->at, writer->lap_from, writer->size);
}

// Whether the reader should hurry: more than half of what the ring may touch is used.
static inline bool ring_is_half_full(const struct ring_writer *writer) {
    return ring_writer_used(writer) > writer->granted / 2;
}

// The reader's side.
struct ring_reader {
    const char *data;
    uint64_t size, granted, lap_from;
    uint64_t at, end; // from the tail to the writer's position
};

// From `tail` to the position that the writer has now.
void ring_reader_init(struct ring_reader *reader, const struct region *region, uint32_t number,
                      uint64_t tail);

// The next record. Returns 1 with `view` filled and `reader->at` behind it, 0 at the end, or -EIO
// for bytes that are no record, which only a program that damaged its own memory leaves.
int ring_next(struct ring_reader *reader, struct record_view *view);
