// SPDX-License-Identifier: Apache-2.0
//
// Each place is looked at before it is read. Lengths are integers that stand elsewhere: in an entry
// before, or in another payload of the event.
#include "inject/schema/schema_place.h"

#include <string.h>

bool walk_go_on(struct walk *walk) {
    if (walk->out->is_full) {
        walk->meter.has_failed = true;
    }
    return schema_meter_step(&walk->meter);
}

// ---- Payloads -----------------------------------------------------------------------------------

struct code_units payload_text(const struct abi_payload *payload) {
    size_t width = schema_type_shape(payload->schema).size;
    size_t units = payload->size == SCHEMA_UNKNOWN ? SIZE_MAX : payload->size / width;
    return (struct code_units){payload->data, units, (unsigned)width};
}

size_t payload_size(struct walk *walk, const struct abi_payload *payload) {
    if (payload->size != SCHEMA_UNKNOWN || !payload->data) {
        return payload->size;
    }
    if (schema_is_string(payload->schema)) {
        struct code_units text = payload_text(payload);
        return schema_times(text.width, code_units_len(text));
    }
    return schema_shape_of(&walk->meter, payload->schema).size;
}

// ---- Areas --------------------------------------------------------------------------------------

static bool holds(struct area area, uint64_t address) {
    return area.size != SCHEMA_UNKNOWN && address - (uintptr_t)area.at < area.size;
}

bool area_at(struct walk *walk, const struct schema_entry *entry, uint64_t address,
             struct area *area) {
    if (!address) {
        return false;
    }
    for (size_t i = 0; i < walk->payload_count; i++) {
        const struct abi_payload *payload = &walk->payloads[i];
        struct area whole = {payload->data, payload_size(walk, payload)};
        if (payload->data && holds(whole, address)) {
            *area = area_part(whole, (size_t)(address - (uintptr_t)whole.at), SCHEMA_UNKNOWN);
            return true;
        }
        if (!walk_go_on(walk)) {
            return false;
        }
    }
    if (!schema_is_string(entry->type) && !(entry->flags & ABI_ENTRY_DEEP_COPY)) {
        return false;
    }
    const struct schema_world *world = walk->meter.world;
    area->at = (const char *)(uintptr_t)address;
    area->size = world->readable ? world->readable(world, area->at) : SCHEMA_UNKNOWN;
    return area->size > 0;
}

// ---- Runs ---------------------------------------------------------------------------------------

struct run run_of(struct walk *walk, uint64_t type, struct area area, size_t at) {
    return (struct run){.type = type,
                        .schema = schema_find(walk->meter.world, type),
                        .shape = schema_shape_of(&walk->meter, type),
                        .area = area,
                        .at = at};
}

// Objects may be there in part; other values are there or not.
bool run_is_there(const struct run *run) {
    if (run->at == SCHEMA_UNKNOWN || run->at > run->area.size) {
        return false;
    }
    size_t left = area_rest(run->area, run->at);
    bool is_part =
        run->shape.size == SCHEMA_UNKNOWN || (run->schema && run->schema->kind != SCHEMA_ENUM);
    return is_part ? left > 0 || run->shape.size == 0 : left >= run->shape.size;
}

uint64_t run_length_to_zero(struct walk *walk, const struct run *run, bool *has_end) {
    size_t size = run->shape.size;
    *has_end = false;
    if (size == 0 || size == SCHEMA_UNKNOWN) {
        return 0;
    }
    uint64_t length = 0;
    for (size_t at = run->at; area_rest(run->area, at) >= size && !*has_end && walk_go_on(walk);
         at += size) {
        const char *bytes = run->area.at + at;
        *has_end = bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
        length += !*has_end;
    }
    return length;
}

// Takes integers as lengths. Returns false when they are none, or too many.
static bool read_lengths(struct walk *walk, struct run run, enum abi_array array, uint64_t detail,
                         struct dimensions *to) {
    bool has_end;
    uint64_t count = array == ABI_ARRAY_NONE              ? 1
                     : array == ABI_ARRAY_FIXED           ? detail
                     : array == ABI_ARRAY_ZERO_TERMINATED ? run_length_to_zero(walk, &run, &has_end)
                                                          : 0;
    to->count = 0;
    for (; count <= DIMENSIONS_MOST && to->count < count && !run.schema && run_is_there(&run);
         run.at += run.shape.size) {
        if (!scalar_length(run.type, run.area.at + run.at, &to->length[to->count])) {
            return false;
        }
        to->count++;
    }
    return count > 0 && to->count == count;
}

// The lengths that another payload of the event holds, alone or in its first entry.
static bool lengths_of_payload(struct walk *walk, uint64_t number, struct dimensions *to) {
    if (number >= walk->payload_count || !walk->payloads[number].data) {
        return false;
    }
    const struct abi_payload *payload = &walk->payloads[number];
    size_t size = payload_size(walk, payload);
    struct area area = {payload->data, size == SCHEMA_UNKNOWN ? 0 : size};
    const struct schema *schema = schema_find(walk->meter.world, payload->schema);
    if (schema && schema->kind != SCHEMA_ENUM && schema->count > 0) {
        const struct schema_entry *entry = &schema->entries[0];
        return !schema_is_pointer(entry) && !schema_is_offset(entry) &&
               read_lengths(walk, run_of(walk, entry->type, area, entry->offset),
                            schema_array_of(entry->flags), entry->detail, to);
    }
    struct run run = run_of(walk, payload->schema, area, 0);
    return !schema && run.shape.size != SCHEMA_UNKNOWN &&
           read_lengths(walk, run, ABI_ARRAY_FIXED, area.size / run.shape.size, to);
}

bool run_lengths_of(struct walk *walk, const struct frame *frame, const struct schema_entry *entry,
                    struct dimensions *to) {
    const struct schema *schema = frame->schema;
    enum abi_array array = schema_array_of(entry->flags);
    if (array == ABI_ARRAY_LENGTH_PAYLOAD) {
        return lengths_of_payload(walk, entry->detail, to);
    }
    if (array != ABI_ARRAY_LENGTH_INDEX) {
        *to = (struct dimensions){1, {entry->detail}};
        return true;
    }
    const struct schema_entry *from =
        entry->detail < schema->count ? &schema->entries[entry->detail] : NULL;
    if (!from || from >= entry || from->slot < 0 || schema_is_pointer(from) ||
        schema_is_offset(from)) {
        return false;
    }
    return read_lengths(walk, run_of(walk, from->type, frame->area, frame->position[from->slot]),
                        schema_array_of(from->flags), from->detail, to);
}

size_t run_product(const struct dimensions *dimensions) {
    size_t all = 1;
    for (size_t i = 0; i < dimensions->count; i++) {
        all = schema_times(all, dimensions->length[i]);
    }
    for (size_t i = 0; i < dimensions->count; i++) {
        all = dimensions->length[i] ? all : 0;
    }
    return all;
}
