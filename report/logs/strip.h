// SPDX-License-Identifier: Apache-2.0
//
// Counts over time, for many things at once, while nobody knows when the last one comes: each has
// REPORT_STRIP counts, all have one scale. When a time does not fit, steps become as wide as it
// takes, and counts of several old steps are added up. So the counts are exact.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPORT_STRIP 60 // steps

struct report_strip_scale { // zeroed: nothing came
    bool any;
    int64_t first, last; // of all that came, ns
    unsigned step;       // its width is report_strip_width()
    int64_t begin;       // the first step, counted in widths from the Unix epoch
};

// Nanoseconds of a step: 1 us, 2 us, 10 us, ... 1 s, 2 s, 10 s, 30 s, 1 min, ... 1 d, 2 d, 4 d, ...
// Each is a multiple of the one before.
int64_t report_strip_width(const struct report_strip_scale *scale);

// Makes the scale fit a time. True when steps changed: the caller has every strip moved, from the
// scale before to this one.
bool report_strip_fit(struct report_strip_scale *scale, int64_t time);
void report_strip_move(uint32_t strip[REPORT_STRIP], const struct report_strip_scale *from,
                       const struct report_strip_scale *to);

// The step of a time that fits; and how many there are, up to the last time.
size_t report_strip_step(const struct report_strip_scale *scale, int64_t time);
size_t report_strip_steps(const struct report_strip_scale *scale);

// Makes one count of `by` counts, beginning with the first.
void report_strip_thin(const uint32_t *strip, size_t steps, size_t by, uint64_t *to);

// The counts as blocks, U+2581 to U+2588 by the largest one, U+00B7 for none; returns the bytes.
#define REPORT_STRIP_SHOWN 30 // blocks at most: of more steps several are one block
#define REPORT_STRIP_TEXT (REPORT_STRIP_SHOWN * 3 + 1)
size_t report_strip_blocks(char text[REPORT_STRIP_TEXT], const uint32_t *strip, size_t steps);
