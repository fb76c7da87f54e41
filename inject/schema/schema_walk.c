// SPDX-License-Identifier: Apache-2.0
//
// One walk over a payload, entry by entry, with a cursor that goes on by natural alignment. Each
// place is looked at before it is read: `area` is what may be read.
#include "inject/schema/schema_json.h"

#include <string.h>

static bool open_level(struct walk *walk, const char *bracket) {
    if (walk->levels == SCHEMA_LEVELS) {
        walk->meter.has_failed = true;
        return false;
    }
    walk->levels++;
    json_out_string(walk->out, bracket);
    return true;
}

static void close_level(struct walk *walk, const char *bracket) {
    walk->levels--;
    json_out_string(walk->out, bracket);
}

// ---- Single values ------------------------------------------------------------------------------

static size_t add_object(struct walk *walk, const struct schema *schema, struct area area);

static void add_unknown(struct walk *walk, uint64_t id) {
    if (open_level(walk, "{\"schema\":")) {
        json_out_u64(walk->out, id);
        close_level(walk, "}");
    }
}

static void add_raw(struct walk *walk, struct area area) {
    if (open_level(walk, "{\"raw\":")) {
        json_out_hex(walk->out, area.at, area.size);
        close_level(walk, "}");
    }
}

static void add_enum(struct walk *walk, const struct schema *schema, const char *at) {
    uint64_t bits = scalar_bits(at, schema->size);
    uint64_t mask = UINT64_MAX >> (64 - 8 * schema->size);
    for (size_t i = 0; i < schema->count; i++) {
        if ((schema->values[i].value & mask) == bits && schema->values[i].name) {
            json_out_text(walk->out, schema->values[i].name);
            return;
        }
    }
    static const uint64_t types[2][9] = {
        {[1] = ABI_TYPE_UINT8, [2] = ABI_TYPE_UINT16, [4] = ABI_TYPE_UINT32, [8] = ABI_TYPE_UINT64},
        {[1] = ABI_TYPE_INT8, [2] = ABI_TYPE_INT16, [4] = ABI_TYPE_INT32, [8] = ABI_TYPE_INT64}};
    scalar_json(walk->out, types[schema->is_signed][schema->size], at);
}

static void set_message(struct walk *walk, struct code_units text) {
    walk->event->has_message = true;
    walk->event->message = text;
}

static void add_registered(struct walk *walk, uint64_t handle, const char *at, bool is_message) {
    const char *text = handle ? walk->meter.world->string(walk->meter.world, handle, at) : NULL;
    if (!text) {
        json_out_address(walk->out, handle);
        return;
    }
    json_out_text(walk->out, text);
    if (is_message) {
        set_message(walk, (struct code_units){text, SIZE_MAX, 1});
    }
}

static void add_scope(struct walk *walk, uint64_t id) {
    const char *path = walk->meter.world->scope(walk->meter.world, id);
    if (path) {
        json_out_text(walk->out, path);
    } else {
        json_out_u64(walk->out, id);
    }
}

static void add_scalar(struct walk *walk, const struct run *run, const char *at) {
    uint64_t bits = run->shape.size <= 8 ? scalar_bits(at, run->shape.size) : 0;
    if (run->type == ABI_TYPE_REGISTERED_STRING) {
        add_registered(walk, bits, at, run->is_message);
    } else if (run->type == ABI_TYPE_SCOPE) {
        add_scope(walk, bits);
    } else {
        scalar_json(walk->out, run->type, at);
    }
    if (run->type == ABI_TYPE_CATEGORY) {
        walk->event->has_category = true;
        walk->event->category = (uint32_t)bits;
    } else if (run->type == ABI_TYPE_COLOR) {
        walk->event->has_color = true;
        walk->event->color = (uint32_t)bits;
    }
}

// Adds the value that is there, and goes on after it.
static void add_item(struct walk *walk, struct run *run) {
    struct area own = area_part(run->area, run->at, run->shape.size);
    size_t used = run->shape.size;
    bool is_union = run->schema && run->schema->kind == SCHEMA_UNION;
    if (used == SCHEMA_UNKNOWN && (!run->schema || is_union)) {
        add_unknown(walk, run->type);
    } else if (!run->schema) {
        add_scalar(walk, run, own.at);
    } else if (run->schema->kind == SCHEMA_ENUM) {
        add_enum(walk, run->schema, own.at);
    } else if (is_union) {
        add_raw(walk, own);
    } else {
        size_t length = add_object(walk, run->schema, own);
        used = used == SCHEMA_UNKNOWN ? length : used;
    }
    run->at = schema_plus(run->at, used);
}

// ---- Arrays and texts ---------------------------------------------------------------------------

// Characters as a text and bytes as one string of digits.
static bool add_string_of(struct walk *walk, struct run *run, uint64_t length) {
    bool is_char = scalar_is_char(run->type);
    if (!is_char && run->type != ABI_TYPE_BYTE) {
        return false;
    }
    struct area own = area_part(run->area, run->at, schema_times(run->shape.size, length));
    if (is_char) {
        json_out_units(walk->out, (struct code_units){own.at, own.size / run->shape.size,
                                                      (unsigned)run->shape.size});
    } else {
        json_out_hex(walk->out, own.at, own.size);
    }
    run->at = schema_plus(run->at, schema_times(run->shape.size, length));
    return true;
}

static void add_array(struct walk *walk, struct run *run, const struct dimensions *dimensions,
                      size_t level) {
    uint64_t length = dimensions->length[level];
    bool is_innermost = level + 1 == dimensions->count;
    if ((is_innermost && add_string_of(walk, run, length)) || !open_level(walk, "[")) {
        return;
    }
    for (uint64_t i = 0; i < length && run_is_there(run) && walk_go_on(walk); i++) {
        json_out_string(walk->out, i ? "," : "");
        if (is_innermost) {
            add_item(walk, run);
        } else {
            add_array(walk, run, dimensions, level + 1);
        }
    }
    close_level(walk, "]");
}

// ---- Entries ------------------------------------------------------------------------------------

static void add_key(struct walk *walk, struct frame *frame, const struct schema_entry *entry) {
    char number[24];
    struct json_out digits = {number, sizeof(number) - 1, 0, false};
    if (!entry->name) {
        json_out_u64(&digits, (uint64_t)(entry - frame->schema->entries));
        number[digits.len] = '\0';
    }
    json_out_key(walk->out, entry->name ?: number, &frame->has_comma);
}

// Texts of a fixed length, one after the other, until one is empty.
static size_t add_texts(struct walk *walk, struct frame *frame, const struct schema_entry *entry,
                        struct run *run) {
    unsigned width = (unsigned)run->shape.size;
    run->shape.size = schema_times(width, entry->detail);
    if (!run_is_there(run)) {
        return SCHEMA_UNKNOWN;
    }
    bool has_end;
    uint64_t length = run_length_to_zero(walk, run, &has_end);
    add_key(walk, frame, entry);
    if (!open_level(walk, "[")) {
        return SCHEMA_UNKNOWN;
    }
    for (uint64_t i = 0; i < length; i++, run->at += run->shape.size) {
        json_out_string(walk->out, i ? "," : "");
        json_out_units(walk->out,
                       (struct code_units){run->area.at + run->at, (size_t)entry->detail, width});
    }
    close_level(walk, "]");
    return schema_times(run->shape.size, length + has_end);
}

static size_t add_text(struct walk *walk, struct frame *frame, const struct schema_entry *entry,
                       struct run *run) {
    enum abi_array array = schema_array_of(entry->flags);
    bool is_terminated =
        array == ABI_ARRAY_ZERO_TERMINATED || (array <= ABI_ARRAY_FIXED && entry->detail == 0);
    if (is_terminated && entry->detail) {
        return add_texts(walk, frame, entry, run);
    }
    size_t width = run->shape.size, there = area_rest(run->area, run->at) / width;
    struct dimensions dimensions;
    if (run->at > run->area.size || !run_lengths_of(walk, frame, entry, &dimensions)) {
        return SCHEMA_UNKNOWN;
    }
    size_t units = is_terminated ? there : run_product(&dimensions);
    if (there == 0 && (is_terminated || units > 0)) {
        return SCHEMA_UNKNOWN;
    }
    struct code_units text = {run->area.at + run->at, area_least(units, there), (unsigned)width};
    add_key(walk, frame, entry);
    json_out_units(walk->out, text);
    if (entry->flags & ABI_ENTRY_MESSAGE) {
        set_message(walk, text);
    }
    if (!is_terminated) {
        return schema_times(width, units);
    }
    return schema_is_pointer(entry)
               ? 0
               : schema_times(width, area_least(schema_plus(code_units_len(text), 1), there));
}

// Adds the value of an entry that stands at `at` of `area`, if it is there. Returns what it takes.
static size_t add_value(struct walk *walk, struct frame *frame, const struct schema_entry *entry,
                        struct area area, size_t at) {
    struct run run = run_of(walk, entry->type, area, at);
    run.is_message = entry->flags & ABI_ENTRY_MESSAGE;
    if (schema_is_string(entry->type)) {
        return add_text(walk, frame, entry, &run);
    }
    enum abi_array array = schema_array_of(entry->flags);
    if (array == ABI_ARRAY_NONE) {
        if (run_is_there(&run)) {
            add_key(walk, frame, entry);
            add_item(walk, &run);
            return run.at == SCHEMA_UNKNOWN ? SCHEMA_UNKNOWN : run.at - at;
        }
        return SCHEMA_UNKNOWN;
    }
    struct dimensions dimensions = {1, {0}};
    bool has_end = false;
    if (array == ABI_ARRAY_ZERO_TERMINATED) {
        dimensions.length[0] = run_length_to_zero(walk, &run, &has_end);
    } else if (!run_lengths_of(walk, frame, entry, &dimensions)) {
        return SCHEMA_UNKNOWN;
    }
    size_t count = run_product(&dimensions);
    bool is_empty = count == 0 && at <= area.size && array != ABI_ARRAY_ZERO_TERMINATED;
    if (is_empty || run_is_there(&run)) {
        add_key(walk, frame, entry);
        add_array(walk, &run, &dimensions, 0);
    }
    if (run.shape.size == SCHEMA_UNKNOWN) {
        return is_empty ? 0 : run.at == SCHEMA_UNKNOWN ? SCHEMA_UNKNOWN : run.at - at;
    }
    return schema_times(run.shape.size, schema_plus(count, has_end));
}

static void add_pointed(struct walk *walk, struct frame *frame, const struct schema_entry *entry,
                        struct area area) {
    struct area payload = walk->payload;
    walk->payload = area;
    add_value(walk, frame, entry, area, 0);
    walk->payload = payload;
}

static void add_pointer(struct walk *walk, struct frame *frame, const struct schema_entry *entry,
                        size_t at) {
    uint64_t address = scalar_bits(frame->area.at + at, sizeof(void *));
    struct area area;
    if (area_at(walk, entry, address, &area)) {
        add_pointed(walk, frame, entry, area);
    } else if (!walk->meter.has_failed) {
        add_key(walk, frame, entry);
        json_out_address(walk->out, address);
    }
}

static void add_offset(struct walk *walk, struct frame *frame, const struct schema_entry *entry,
                       size_t at) {
    uint64_t offset = scalar_bits(frame->area.at + at, sizeof(void *));
    bool is_null = offset == 0;
    if (entry->flags & ABI_ENTRY_OFFSET_FROM_HERE) {
        is_null = false;
        size_t here = (size_t)(frame->area.at - walk->payload.at) + at + sizeof(void *);
        offset = offset > SIZE_MAX - here ? SIZE_MAX : offset + here;
    }
    if (is_null || offset >= walk->payload.size) {
        add_key(walk, frame, entry);
        json_out_string(walk->out, "null");
    } else {
        add_value(walk, frame, entry, walk->payload, (size_t)offset);
    }
}

// Adds an entry; the one before ended at `cursor`. Returns where this one ends.
static size_t add_entry(struct walk *walk, struct frame *frame, const struct schema_entry *entry,
                        size_t cursor) {
    struct schema_shape shape = schema_entry_shape(&walk->meter, frame->schema, entry);
    size_t at = entry->offset ?: schema_aligned(cursor, shape.align);
    if (at == SCHEMA_UNKNOWN) {
        return SCHEMA_UNKNOWN;
    }
    if (entry->slot >= 0) {
        frame->position[entry->slot] = at;
    }
    size_t used = shape.size;
    if (!schema_is_offset(entry) && !schema_is_pointer(entry)) {
        size_t length = add_value(walk, frame, entry, frame->area, at);
        used = used == SCHEMA_UNKNOWN ? length : used;
    } else if (area_rest(frame->area, at) >= sizeof(void *)) {
        (schema_is_offset(entry) ? add_offset : add_pointer)(walk, frame, entry, at);
    }
    return schema_plus(at, used);
}

// Returns where the last entry ends.
static size_t add_object(struct walk *walk, const struct schema *schema, struct area area) {
    struct frame frame = {.schema = schema, .area = area};
    memset(frame.position, 0xFF, sizeof(frame.position)); // SCHEMA_UNKNOWN
    if (!open_level(walk, "{")) {
        return SCHEMA_UNKNOWN;
    }
    size_t cursor = 0;
    for (size_t i = 0; i < schema->count && walk_go_on(walk); i++) {
        cursor = add_entry(walk, &frame, &schema->entries[i], cursor);
    }
    close_level(walk, "}");
    return cursor;
}

// ---- Payloads -----------------------------------------------------------------------------------

void schema_walk(struct walk *walk, const struct abi_payload *payload) {
    if (!payload->data) {
        json_out_string(walk->out, "null");
        return;
    }
    if (schema_is_string(payload->schema)) {
        json_out_units(walk->out, payload_text(payload));
        return;
    }
    walk->payload = (struct area){payload->data, payload_size(walk, payload)};
    struct run run = run_of(walk, payload->schema, walk->payload, 0);
    size_t size = walk->payload.size;
    if (size == SCHEMA_UNKNOWN) {
        add_unknown(walk, payload->schema);
    } else if (payload->schema == ABI_TYPE_RAW) {
        add_raw(walk, walk->payload);
    } else if (run.schema) {
        run.shape.size = run.schema->kind == SCHEMA_ENUM ? run.shape.size : size;
        run_is_there(&run) ? add_item(walk, &run) : json_out_string(walk->out, "null");
    } else if (run.shape.size != SCHEMA_UNKNOWN && size / run.shape.size > 1) {
        struct dimensions dimensions = {1, {size / run.shape.size}};
        add_array(walk, &run, &dimensions, 0);
    } else {
        run_is_there(&run) ? add_item(walk, &run) : json_out_string(walk->out, "null");
    }
}
