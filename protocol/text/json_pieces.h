// SPDX-License-Identifier: Apache-2.0
//
// JSON texts of events as formats need them: on one line, split at the two ends of a range, and the
// numbers in an object. Only texts of other programs can be anything but one JSON value.
#pragma once

#include <stdbool.h>

#include "protocol/text/out.h"

// Whether a text is one JSON value, as the argument Json of NVTXT takes it.
bool nvtxt_json_is_value(struct nvtxt_slice text);

// Writes the value as it is, but on one line. Writes a text that is no value as a JSON string.
void nvtxt_json_put(struct nvtxt_out *out, struct nvtxt_slice text);

// Splits {"begin":X,"end":Y}, which the interpreter makes when the end of a range has JSON. X and Y
// are views of values; X is empty when it is null. False for any other text.
bool nvtxt_json_split(struct nvtxt_slice text, struct nvtxt_slice *begin, struct nvtxt_slice *end);

// Writes the members of an object that are numbers, with commas between them: "a":1,"b":2. Numbers
// in its arrays and objects are left out. Returns how many there are.
unsigned nvtxt_json_numbers(struct nvtxt_out *out, struct nvtxt_slice text);
