// SPDX-License-Identifier: Apache-2.0
//
// Text for people on a terminal: how wide it is, and how times are shown. The output of a job that
// goes to one has such a screen; every writer asks for it, and writes as before when there is none.
// Lines that are too wide are folded between words, in one place, on their way out; so are styles
// made, which writers mark with a byte each. A control character of a stranger reaches no terminal.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/clock.h"
#include "protocol/base/slice.h"
#include "protocol/text/out.h"

#define REPORT_SCREEN_LEAST 8   // a terminal that is narrower counts as this
#define REPORT_SCREEN_MOST 1000 // and one that is wider as this
#define REPORT_SCREEN_YEAR_1980_NS INT64_C(315532800000000000)
#define REPORT_SCREEN_LIMIT 20 // rows of a table without --limit

struct report_screen {
    size_t width;
    bool colour;     // else styles are left out
    bool full_names; // nothing is shortened, left out or folded
    bool utc;        // times of day, else local
    bool has_clock;  // times are of the calendar: with `utc_base_ns` since 1970
    int64_t utc_base_ns;
};

// Whether a time is of the calendar: not one that counts from a beginning of its own.
static inline bool report_screen_is_calendar(const struct report_screen *screen, int64_t ns) {
    return screen->has_clock &&
           nvtxt_time_plus(ns, screen->utc_base_ns) >= REPORT_SCREEN_YEAR_1980_NS;
}

enum report_style {
    REPORT_STYLE_NONE = 1, // ends the others; so does the end of a line
    REPORT_STYLE_BOLD,
    REPORT_STYLE_DIM,
    REPORT_STYLE_RED,
    REPORT_STYLE_YELLOW,
    REPORT_STYLE_GREEN,
    REPORT_STYLE_BLUE,
};

// Text that `out` gets from now on is for that terminal. `screen` is borrowed.
void report_screen_attach(struct nvtxt_out *out, struct report_screen *screen);

// NULL: it is no text for a terminal.
static inline const struct report_screen *report_screen_of(const struct nvtxt_out *out) {
    return out->show ? out->screen : NULL;
}

// The lines of the screen that lines of text take, folded.
size_t report_screen_lines(const struct report_screen *screen, struct nvtxt_slice text);

// Marks the beginning of a style. Does nothing without a screen.
void report_screen_style(struct nvtxt_out *out, enum report_style style);

// A text in a style, to its end.
void report_screen_styled(struct nvtxt_out *out, enum report_style style, const char *text);

// A time as text has it: in a pipe UTC with all digits; on a screen the day and the time of day, or
// the latter alone if `before` (NULL: none) is on that day.
void report_screen_moment(struct nvtxt_out *out, int64_t ns, const int64_t *before);
