// SPDX-License-Identifier: Apache-2.0
//
// A world of schemas for tests: what is registered with it is found by its number, and only what
// lies in areas that were named may be read besides the payloads.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "inject/schema/schema_json.h"
#include "protocol/base/slice.h"

// Of protocol/lang/value.h, which names its types as nvtxt.h does.
const char *nvtxt_json_fault(struct nvtxt_slice text, size_t *at);

#define KIT_MOST 80

struct kit {
    struct schema_world world; // first
    struct schema *schemas[KIT_MOST];
    uint64_t ids[KIT_MOST];
    size_t count;
    const void *areas[8];
    size_t area_sizes[8];
    size_t area_count;
};

static inline const struct schema *kit_schema(const struct schema_world *world, uint64_t id) {
    const struct kit *kit = (const struct kit *)world;
    for (size_t i = kit->count; i-- > 0;) {
        if (kit->ids[i] == id) {
            return kit->schemas[i];
        }
    }
    return NULL;
}

static inline const char *kit_string(const struct schema_world *world, uint64_t handle,
                                     const char *at) {
    (void)world, (void)at;
    return handle == 7 ? "regis\"tered" : NULL;
}

static inline const char *kit_scope(const struct schema_world *world, uint64_t id) {
    (void)world;
    return id == 99 ? "node/gpu" : NULL;
}

static inline size_t kit_readable(const struct schema_world *world, const void *address) {
    const struct kit *kit = (const struct kit *)world;
    for (size_t i = 0; i < kit->area_count; i++) {
        size_t at = (uintptr_t)address - (uintptr_t)kit->areas[i];
        if (at < kit->area_sizes[i]) {
            return kit->area_sizes[i] - at;
        }
    }
    return 0;
}

static inline void kit_init(struct kit *kit) {
    memset(kit, 0, sizeof(*kit));
    kit->world = (struct schema_world){kit_schema, kit_string, kit_scope, kit_readable};
}

static inline void kit_may_read(struct kit *kit, const void *at, size_t size) {
    kit->areas[kit->area_count] = at;
    kit->area_sizes[kit->area_count++] = size;
}

static inline void kit_add(struct kit *kit, const struct abi_schema *attr) {
    kit->schemas[kit->count] = schema_copy(attr, calloc(1, schema_bytes(attr)));
    kit->ids[kit->count++] = attr->id;
}

static inline void kit_add_enum(struct kit *kit, const struct abi_enum *attr) {
    kit->schemas[kit->count] = schema_enum_copy(attr, calloc(1, schema_enum_bytes(attr)));
    kit->ids[kit->count++] = attr->id;
}

static inline void kit_free(struct kit *kit) {
    while (kit->count > 0) {
        free(kit->schemas[--kit->count]);
    }
}
