// SPDX-License-Identifier: Apache-2.0
//
// A table on its way to a screen: which columns are shown, how wide they are, and what each cell
// looks like. report_table_screen() writes it.
#pragma once

#include "protocol/text/shown.h"
#include "report/table/write.h"

#define REPORT_DRAWING_GAP 2   // blanks between columns
#define REPORT_DRAWING_SHARE 8 // columns of the bar beside a share

enum report_look {
    REPORT_LOOK_TEXT,
    REPORT_LOOK_NUMBER, // as it is in a pipe
    REPORT_LOOK_DIGITS, // three digits
    REPORT_LOOK_SHARE,
    REPORT_LOOK_LENGTH,
    REPORT_LOOK_CLOCK,   // the time of day
    REPORT_LOOK_MOMENT,  // with the day
    REPORT_LOOK_SECONDS, // times that are not of the calendar
    REPORT_LOOK_BAR,
};

struct report_shown_column {
    enum report_look look;
    bool any, left_out;
    bool whole_text;     // never shortened
    double most;         // the largest number, without its sign
    int64_t first, last; // of times
    bool ascending;
    struct nvtxt_shown_unit unit; // of times
    int decimals;                 // of the seconds of a time; the most of numbers
    size_t whole;                 // columns of numbers before their point
    size_t width;
    char title[REPORT_TITLE], under[REPORT_TITLE]; // the unit, or the day
};

struct report_drawing {
    struct nvtxt_out *out;
    const struct report_table *table;
    const struct report_table_view *view;
    const struct report_screen *screen;
    struct report_shown_column *columns; // owned
    struct report_cell_room room;
    char day[NVTXT_SHOWN_TIME]; // of the row before
    bool day_lines;             // above the rows of each day
    size_t share_bar;           // columns of it; 0: none
};

// Looks at a table and finds the widths; there must be a screen. Returns 0 or -ENOMEM; deinit it in
// any case.
int report_drawing_init(struct report_drawing *drawing, struct nvtxt_out *out,
                        const struct report_table *table, const struct report_table_view *view);
void report_drawing_deinit(struct report_drawing *drawing);

// Leaves out columns until the others fit, and shares out what is left of the line.
void report_drawing_fit(struct report_drawing *drawing);

// The columns that a row takes at least; `*fixed`: those of what cannot shrink, and of gaps. `name`
// is the column of the names.
size_t report_drawing_width(const struct report_drawing *drawing, size_t name, size_t *fixed);

// What a cell is shown as; `*decimals` are those of a number that is aligned at its point.
struct nvtxt_slice report_drawing_cell(struct report_drawing *drawing, size_t index,
                                       const struct report_cell *cell, int *decimals);

// The columns of a text, at most those of the screen.
size_t report_drawing_columns(const struct report_drawing *drawing, struct nvtxt_slice text);

// The time of a cell, since 1970 if times are of the calendar.
int64_t report_drawing_time(const struct report_drawing *drawing, const struct report_cell *cell);

// The columns of a point and its decimals.
static inline size_t report_drawing_point(int decimals) {
    return decimals > 0 ? 1 + (size_t)decimals : 0;
}
