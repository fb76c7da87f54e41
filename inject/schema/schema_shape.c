// SPDX-License-Identifier: Apache-2.0
//
// Entries stand one after the other by natural alignment, as a compiler lays them out, unless they
// say where. Shapes are found anew each time: a schema may be registered after one that names it.
#include "inject/schema/schema_shape.h"

#define STEPS_MOST (1u << 16)

bool schema_meter_step(struct schema_meter *meter) {
    if (meter->steps++ >= STEPS_MOST) {
        meter->has_failed = true;
    }
    return !meter->has_failed;
}

const struct schema *schema_find(const struct schema_world *world, uint64_t type) {
    return type >= ABI_TYPE_OWN ? world->schema(world, type) : NULL;
}

static struct schema_shape shape_of(struct schema_meter *meter, uint64_t type, unsigned depth);

bool schema_is_pointer(const struct schema_entry *entry) {
    enum abi_array array = schema_array_of(entry->flags);
    return (entry->flags & ABI_ENTRY_POINTER) ||
           (schema_is_string(entry->type) && entry->detail == 0 &&
            (array == ABI_ARRAY_NONE || array == ABI_ARRAY_FIXED));
}
bool schema_is_offset(const struct schema_entry *entry) {
    return entry->flags & (ABI_ENTRY_OFFSET_FROM_BASE | ABI_ENTRY_OFFSET_FROM_HERE);
}

static struct schema_shape entry_shape(struct schema_meter *meter, const struct schema *schema,
                                       const struct schema_entry *entry, unsigned depth) {
    struct schema_shape shape = {sizeof(void *), _Alignof(void *)};
    if (!schema_is_offset(entry) && !schema_is_pointer(entry)) {
        shape = shape_of(meter, entry->type, depth);
        enum abi_array array = schema_array_of(entry->flags);
        if (array == ABI_ARRAY_FIXED ||
            (array == ABI_ARRAY_NONE && schema_is_string(entry->type))) {
            shape.size = schema_times(shape.size, entry->detail);
        } else if (array != ABI_ARRAY_NONE) {
            shape.size = SCHEMA_UNKNOWN;
        }
    }
    if (schema->align && schema->align < shape.align) {
        shape.align = schema->align;
    }
    return shape;
}

static struct schema_shape nested_shape(struct schema_meter *meter, const struct schema *schema,
                                        unsigned depth) {
    size_t cursor = 0, end = 0, align = 1;
    for (size_t i = 0; i < schema->count && schema_meter_step(meter); i++) {
        const struct schema_entry *entry = &schema->entries[i];
        struct schema_shape shape = entry_shape(meter, schema, entry, depth);
        bool is_first = i == 0 || schema->kind == SCHEMA_UNION;
        size_t at = entry->offset ?: is_first ? 0 : schema_aligned(cursor, shape.align);
        cursor = schema_plus(at, shape.size);
        end = cursor > end ? cursor : end;
        align = shape.align > align ? shape.align : align;
    }
    size_t size = schema->size ?: schema_aligned(end, align);
    return (struct schema_shape){schema->kind == SCHEMA_DYNAMIC ? SCHEMA_UNKNOWN : size, align};
}

static struct schema_shape shape_of(struct schema_meter *meter, uint64_t type, unsigned depth) {
    struct schema_shape shape = {SCHEMA_UNKNOWN, 1};
    if (type < ABI_TYPE_OWN) {
        struct schema_shape known = schema_type_shape(type);
        return known.size ? known : shape;
    }
    const struct schema *schema = schema_find(meter->world, type);
    if (depth >= SCHEMA_LEVELS) {
        meter->has_failed = true;
    } else if (schema && schema->kind == SCHEMA_ENUM) {
        shape = (struct schema_shape){schema->size, schema->size};
    } else if (schema && schema_meter_step(meter)) {
        shape = nested_shape(meter, schema, depth + 1);
    }
    return shape;
}

struct schema_shape schema_shape_of(struct schema_meter *meter, uint64_t type) {
    return shape_of(meter, type, 0);
}

struct schema_shape schema_entry_shape(struct schema_meter *meter, const struct schema *schema,
                                       const struct schema_entry *entry) {
    return entry_shape(meter, schema, entry, 0);
}
