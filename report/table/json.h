// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON value by value: commas and quotes come by themselves. `name` is the member's name in
// an object and NULL in an array. Numbers are those of nvtxt-report(1), "JSON": an integer outside
// [-2^63, 2^63) is a string of digits, a double the shortest text that reads back as the same.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "protocol/text/out.h"

struct report_json {
    struct nvtxt_out *out; // borrowed; it remembers a failure
    bool after_value;      // the next value needs a comma before it
};

// The object that every command writes: {"schema":"nvtxt-report/1","command":C and its end with a
// line feed. A document of another shape starts with report_json_init().
static inline void report_json_init(struct report_json *json, struct nvtxt_out *out) {
    *json = (struct report_json){.out = out};
}
void report_json_begin(struct report_json *json, struct nvtxt_out *out, const char *command);
void report_json_end(struct report_json *json);

void report_json_object(struct report_json *json, const char *name);
void report_json_end_object(struct report_json *json);
void report_json_array(struct report_json *json, const char *name);
void report_json_end_array(struct report_json *json);

void report_json_null(struct report_json *json, const char *name);
void report_json_bool(struct report_json *json, const char *name, bool value);
void report_json_int(struct report_json *json, const char *name, int64_t value);
void report_json_uint(struct report_json *json, const char *name, uint64_t value);
// Null, if there is none.
void report_json_optional(struct report_json *json, const char *name, bool has, int64_t value);

// What is not UTF-8 becomes U+FFFD. A slice without data and a NULL are null.
void report_json_slice(struct report_json *json, const char *name, struct nvtxt_slice value);
void report_json_text(struct report_json *json, const char *name, const char *value);
// A text that may have links (links.h), with them as they stand there.
void report_json_linked(struct report_json *json, const char *name, struct nvtxt_slice value);
void report_json_slices(struct report_json *json, const char *name,
                        const struct nvtxt_slice *values, size_t count); // an array
void report_json_color(struct report_json *json, const char *name, uint32_t argb);
void report_json_digits(struct report_json *json, const char *name, int64_t value); // as a text

// Infinity and what is not a number are null; report_json_double_na() writes the member "na" after
// it then: "inf", "-inf" or "nan".
void report_json_double(struct report_json *json, const char *name, double value);
void report_json_double_na(struct report_json *json, const char *name, double value);

// The comma and the name that stand before a value, for a caller that writes the value itself.
void report_json_before(struct report_json *json, const char *name);
