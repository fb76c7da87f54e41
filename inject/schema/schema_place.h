// SPDX-License-Identifier: Apache-2.0
//
// Where the values of a payload are: which part of it may be read, whether a value is there, how
// many an array has. Nothing is written here, and nothing is read that does not lie in an area.
#pragma once

#include "inject/schema/json_out.h"
#include "inject/schema/schema_shape.h"

#define DIMENSIONS_MOST 8

// What payloads say of their event besides; the last one of each counts.
struct schema_event {
    bool has_message, has_category, has_color;
    struct code_units message; // a view of the program's memory
    uint32_t category, color;
};

struct area {
    const char *at;
    size_t size;
};

struct walk {
    struct json_out *out;
    struct schema_meter meter;
    const struct abi_payload *payloads; // of the event
    size_t payload_count;
    struct schema_event *event;
    struct area payload; // that is walked over; offsets count from it
    unsigned levels;     // that are open
};

// An object that is being written.
struct frame {
    const struct schema *schema;
    struct area area;
    size_t position[SCHEMA_SLOTS]; // of entries that hold lengths
    bool has_comma;
};

struct dimensions {
    size_t count;
    uint64_t length[DIMENSIONS_MOST];
};

// Values of one type, one after the other.
struct run {
    uint64_t type;
    const struct schema *schema; // NULL: one of NVTX's types, or nobody's
    struct schema_shape shape;
    struct area area;
    size_t at;
    bool is_message;
};

// Whether the walk may do one more step.
bool walk_go_on(struct walk *walk);

// ---- Areas --------------------------------------------------------------------------------------

static inline size_t area_least(size_t a, size_t b) {
    return a < b ? a : b;
}
static inline size_t area_rest(struct area area, size_t at) {
    return at < area.size ? area.size - at : 0;
}
static inline struct area area_part(struct area area, size_t at, size_t size) {
    return (struct area){area.at + at, area_least(size, area_rest(area, at))};
}

// What may be read where a pointer of an entry points to; false: nothing.
bool area_at(struct walk *walk, const struct schema_entry *entry, uint64_t address,
             struct area *area);

// ---- Runs ---------------------------------------------------------------------------------------

struct run run_of(struct walk *walk, uint64_t type, struct area area, size_t at);

// Whether its next value is there. Objects may be there in part.
bool run_is_there(const struct run *run);

// How many elements there are before one whose bytes are all zero, or before the end.
uint64_t run_length_to_zero(struct walk *walk, const struct run *run, bool *has_end);

// The lengths of an array of an entry. False: they cannot be said.
bool run_lengths_of(struct walk *walk, const struct frame *frame, const struct schema_entry *entry,
                    struct dimensions *to);
size_t run_product(const struct dimensions *dimensions);

// ---- Payloads -----------------------------------------------------------------------------------

// A payload of a string type.
struct code_units payload_text(const struct abi_payload *payload);

// Bytes of a payload, or those that its schema says; SCHEMA_UNKNOWN when neither says them.
size_t payload_size(struct walk *walk, const struct abi_payload *payload);
