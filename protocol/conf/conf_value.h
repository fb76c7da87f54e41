// SPDX-License-Identifier: Apache-2.0
//
// Kinds of values in a configuration. A function that sets a field returns 0, 1 for a bad value
// (`why` says what is expected, in `size` bytes), or -ENOMEM; the field changes only with 0.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nvtxt_unit {
    const char *name;
    int64_t factor;
};

extern const struct nvtxt_unit nvtxt_conf_sizes[];     // bytes; K, M, G: powers of 1024
extern const struct nvtxt_unit nvtxt_conf_durations[]; // milliseconds; a bare number is seconds
extern const struct nvtxt_unit nvtxt_conf_plain[];     // no unit

// Reads digits, blanks or none, and one of the units, which a row without a name ends. Returns
// false for anything else and for a number that does not fit.
bool nvtxt_conf_number(const char *text, const struct nvtxt_unit *units, int64_t *number);

// Says in `why` which times are expected.
void nvtxt_conf_expect_duration(int64_t least_ms, int64_t most_ms, char *why, size_t size);

// The place of a word among `choices`: "full|normal".
int nvtxt_conf_set_choice(int64_t *field, const char *choices, const char *value, char *why,
                          size_t size);

// Replaces an owned text, or adds a line to it: `adds`, and neither of them is "". A field may be
// NULL.
int nvtxt_conf_set_text(char **field, const char *value, bool adds);
