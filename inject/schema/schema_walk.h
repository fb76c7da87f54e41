// SPDX-License-Identifier: Apache-2.0
//
// One payload as JSON. A walk fails when its meter does, when it nests too deep, or when the JSON
// has no more room; what it has written then is of no use.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/schema/code_units.h"
#include "inject/schema/json_out.h"
#include "inject/schema/schema_shape.h"

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

void schema_walk(struct walk *walk, const struct abi_payload *payload);

// Bytes of a payload, or those that its schema says; SCHEMA_UNKNOWN when neither says them.
size_t schema_walk_size(struct walk *walk, const struct abi_payload *payload);
