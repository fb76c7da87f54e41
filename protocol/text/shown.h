// SPDX-License-Identifier: Apache-2.0
//
// What a terminal shows to people: names on one line, shortened in the middle, in columns; times of
// day, local or UTC; lengths of time with three digits and a unit. nvtxt-ctl tail and nvtxt-report
// show the same. What a pipe gets is exact, and is not made here.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"

// ---- Texts --------------------------------------------------------------------------------------

// The columns that a text takes on one line, or `most` when it takes more. A line end with the
// blanks around it is one blank.
size_t nvtxt_shown_columns(struct nvtxt_slice text, size_t most);

// Writes a text on one line: whole if it takes at most `columns` (1 or more), else its beginning,
// U+2026 and its end. What does not fit into `size` with a NUL is left out. `out` is no part of
// the text. Returns the length.
size_t nvtxt_shown_fit(char *out, size_t size, struct nvtxt_slice text, size_t columns);

// ---- Times --------------------------------------------------------------------------------------

#define NVTXT_SHOWN_TIME 48

// All return `out`. `ns` counts from 1970; `utc`: else in the local zone (TZ).
const char *nvtxt_shown_moment(char out[NVTXT_SHOWN_TIME], int64_t ns,
                               bool utc); // 2026-11-21 12:00:00
const char *nvtxt_shown_day(char out[NVTXT_SHOWN_TIME], int64_t ns,
                            bool utc); // 2026-11-21, or 2026-11-21 UTC
// 12:00:00.123, with 0 to 9 decimals.
const char *nvtxt_shown_clock(char out[NVTXT_SHOWN_TIME], int64_t ns, bool utc, int decimals);

const char *nvtxt_shown_length(char out[NVTXT_SHOWN_TIME], int64_t ns); // 1.20ms, 8 columns at most

// ---- Times of a column --------------------------------------------------------------------------

struct nvtxt_shown_unit {
    double ns;
    const char *name;
};

// The smallest unit in which `most` has at most three digits before the point.
struct nvtxt_shown_unit nvtxt_shown_unit(double most_ns);

// Three digits, with at most three decimals and no commas: 123, 12.3, 1.23, 0.123; "<0.001" for
// less than that. Returns the number of decimals.
int nvtxt_shown_digits(char out[NVTXT_SHOWN_TIME], double value);
