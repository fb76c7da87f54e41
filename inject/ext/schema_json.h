// SPDX-License-Identifier: Apache-2.0
//
// Payloads of an event as one JSON value: bytes that a program laid out, by the schemas that it
// registered. A schema is an object of its members; several payloads are an array. What is read
// lies inside of the payloads' sizes, with two exceptions, where a program vouches for it: a `char
// *` of a text, and a pointer that the program asks to have copied.
//
//   number not registered, size not known   {"schema":ID}
//   payload or pointer NULL                 null
//   payload shorter than its schema         the members, elements and characters that are there
//   union, raw payload                      {"raw":"<hex>"}
//   over SCHEMA_JSON_MOST, too deep         {"truncated":BYTES}, the bytes of the payload
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/ext/code_units.h"
#include "inject/ext/json_out.h"
#include "inject/ext/schema.h"

#define SCHEMA_JSON_MOST (24u << 10) // bytes of JSON
#define SCHEMA_LEVELS 64u            // of arrays and objects, that of several payloads included

// What payloads refer to. `string` and `scope` return NULL for what they do not know; a handle of a
// string stands at `at`.
struct schema_world {
    const struct schema *(*schema)(const struct schema_world *world, uint64_t id);
    const char *(*string)(const struct schema_world *world, uint64_t handle, const char *at);
    const char *(*scope)(const struct schema_world *world, uint64_t id);
    // Bytes that may be read at an address outside of the payloads. NULL: as many as there are.
    size_t (*readable)(const struct schema_world *world, const void *address);
};

// What payloads say of their event besides; the last one of each counts.
struct schema_event {
    bool has_message, has_category, has_color;
    struct code_units message; // a view of the program's memory
    uint32_t category, color;
};

// Adds the JSON of all payloads to `out`, which has 64 bytes of room or more and does not become
// full. Payloads that others only point into are left out; when no other is there, nothing is
// added. Returns whether all of it is there: with more room less may be truncated.
bool schema_json(struct json_out *out, const struct schema_world *world,
                 const struct abi_payload *payloads, size_t count, struct schema_event *event);

// Bytes of a value of a type or schema; SIZE_MAX: its values differ, or nobody knows it.
size_t schema_json_size(const struct schema_world *world, uint64_t id);
