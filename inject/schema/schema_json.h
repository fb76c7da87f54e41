// SPDX-License-Identifier: Apache-2.0
//
// inject/schema: payloads of an event as one JSON value: bytes that a program laid out, by the
// schemas that it registered. All of it is pure: who calls says what payloads refer to, and gives
// the memory. A schema is an object of its members; several payloads are an array. What is read
// lies inside of the payloads' sizes, with two exceptions, where a program vouches for it: a `char
// *` of a text, and a pointer that the program asks to have copied.
//
//   number not registered, size not known   {"schema":ID}
//   payload or pointer NULL                 null
//   payload shorter than its schema         the members, elements and characters that are there
//   union, raw payload                      {"raw":"<hex>"}
//   over SCHEMA_JSON_MOST, too deep         {"truncated":BYTES}, the bytes of the payload
#pragma once

#include "inject/schema/schema_place.h"

#define SCHEMA_JSON_MOST (24u << 10) // bytes of JSON

// Adds the JSON of all payloads to `out`, which has 64 bytes of room or more and does not become
// full. Payloads that others only point into are left out; when no other is there, nothing is
// added. Returns whether all of it is there: with more room less may be truncated.
bool schema_json(struct json_out *out, const struct schema_world *world,
                 const struct abi_payload *payloads, size_t count, struct schema_event *event);

// Bytes of a value of a type or schema; SIZE_MAX: its values differ, or nobody knows it.
size_t schema_json_size(const struct schema_world *world, uint64_t id);

// For schema_json.c: adds the JSON of one payload. A walk fails when its meter does, when it nests
// too deep, or when the JSON has no more room; what it has written then is of no use.
void schema_walk(struct walk *walk, const struct abi_payload *payload);
