// SPDX-License-Identifier: Apache-2.0
//
// Single values of NVTX's types as JSON. Integers and floats of all widths are numbers, characters
// and bytes are strings; enums are in schema_json.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "inject/schema/json_out.h"
#include "lib/nvtxt.h"

// Adds the value of a type at `at`, where as many bytes are as schema_type_shape() says.
void scalar_json(struct json_out *out, uint64_t type, const char *at);

// The value of an integer type as a length; below 0 it is 0. False: the type is no integer.
bool scalar_length(uint64_t type, const char *at, uint64_t *length);

// The value of a number as one of an event. Integers are signed ones where they can be, floats are
// widened. False: the type is no number that an event may have.
bool scalar_value(uint64_t type, const char *at, struct nvtxt_attr *attr);

// The bytes of an integer of 1, 2, 4 or 8 bytes.
uint64_t scalar_bits(const char *at, size_t size);

// Whether an array of it is a text.
bool scalar_is_char(uint64_t type);
