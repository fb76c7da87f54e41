// SPDX-License-Identifier: Apache-2.0
//
// A table is read twice here: for what its columns have (the largest time, the first and the last
// day), and for how wide they are. Columns are left out until the others fit; then texts and bars
// share what is left of the line.
#include "report/table/drawing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/base/utf8.h"

#define LEAST_NAME 20 // columns of the last text, if it has so many
#define LEAST_TEXT 10 // ... of other texts
#define LARGE 999.5   // has four digits before the point

static bool is_bare(const struct report_drawing *drawing) {
    return drawing->view->place == REPORT_TABLE_BARE;
}

// ---- What columns have --------------------------------------------------------------------------

static double number_of(const struct report_cell *cell) {
    return report_cell_divided(cell, 1);
}

int64_t report_drawing_time(const struct report_drawing *drawing, const struct report_cell *cell) {
    int64_t time = cell->kind == REPORT_CELL_INT    ? cell->int64
                   : cell->kind == REPORT_CELL_UINT ? (int64_t)nvtxt_min(cell->uint64, INT64_MAX)
                                                    : 0;
    bool clock = drawing->screen->has_clock;
    return clock ? nvtxt_time_plus(time, drawing->screen->utc_base_ns) : time;
}

static void look_at_cell(struct report_drawing *drawing, size_t index,
                         const struct report_cell *cell) {
    struct report_shown_column *column = &drawing->columns[index];
    if (cell->kind == REPORT_CELL_EMPTY) {
        return;
    }
    double size = fabs(number_of(cell));
    int64_t time = report_drawing_time(drawing, cell);
    column->ascending = !column->any || (column->ascending && time >= column->last);
    column->most = column->any && column->most > size ? column->most : size;
    column->first = column->any ? nvtxt_earlier(column->first, time) : time;
    column->last = column->any && column->last > time ? column->last : time;
    if (drawing->table->columns[index].kind == REPORT_COLUMN_NUMBER &&
        cell->kind == REPORT_CELL_REAL) {
        column->look = REPORT_LOOK_DIGITS;
    }
    column->any = true;
}

// A title ends with its unit, in parentheses.
static void split_title(struct report_drawing *drawing, size_t index) {
    struct report_shown_column *column = &drawing->columns[index];
    struct nvtxt_slice title =
        report_table_title(drawing->table, index, drawing->view, column->title);
    nvtxt_utf8_show(column->under, sizeof(column->under), title);
    memcpy(column->title, column->under, sizeof(column->title));
    char *unit = strrchr(column->title, '('), *end = strrchr(column->title, ')');
    *column->under = '\0';
    if (unit > column->title && unit[-1] == ' ' && end && !end[1]) {
        snprintf(column->under, sizeof(column->under), "%.*s", (int)(end - unit - 1), unit + 1);
        unit[-1] = '\0';
    }
}

static bool is_one_day(const struct report_drawing *drawing,
                       const struct report_shown_column *column) {
    char first[NVTXT_SHOWN_TIME], last[NVTXT_SHOWN_TIME];
    nvtxt_shown_day(first, column->first, drawing->screen->utc);
    nvtxt_shown_day(last, column->last, drawing->screen->utc);
    return strcmp(first, last) == 0;
}

// Times of the calendar have the day below their title, above the rows of each day, or in each
// cell.
static void look_at_moments(struct report_drawing *drawing, size_t index) {
    struct report_shown_column *column = &drawing->columns[index];
    double span = (double)column->last - (double)column->first;
    column->decimals = span >= 1e9 ? 3 : span >= 1e6 ? 6 : 9;
    if (!drawing->screen->has_clock || column->first < REPORT_SCREEN_YEAR_1980_NS) {
        column->look = REPORT_LOOK_SECONDS;
        column->unit = column->most < 1e6 ? nvtxt_shown_unit(0) : nvtxt_shown_unit(1e9);
        column->decimals = column->most < 1e6 ? 0 : column->decimals;
        snprintf(column->under, sizeof(column->under), "%s", column->most < 1e6 ? "ns" : "s");
        return;
    }
    column->decimals = span > 0 ? column->decimals : 3;
    column->look = REPORT_LOOK_CLOCK;
    *column->under = '\0';
    if (is_one_day(drawing, column)) {
        char day[NVTXT_SHOWN_TIME];
        nvtxt_shown_day(day, column->first, drawing->screen->utc);
        snprintf(column->under, sizeof(column->under), "%s", day);
    } else if (index == 0 && column->ascending) {
        drawing->day_lines = true;
    } else {
        column->look = REPORT_LOOK_MOMENT;
        snprintf(column->under, sizeof(column->under), "%s", drawing->screen->utc ? "UTC" : "");
    }
}

static enum report_look look_of(const struct report_column *column) {
    switch (column->kind) {
    case REPORT_COLUMN_TEXT:
    case REPORT_COLUMN_LABEL:
        return REPORT_LOOK_TEXT;
    case REPORT_COLUMN_BAR:
        return REPORT_LOOK_BAR;
    case REPORT_COLUMN_SHARE:
        return REPORT_LOOK_SHARE;
    case REPORT_COLUMN_LENGTH:
        return REPORT_LOOK_LENGTH;
    case REPORT_COLUMN_NUMBER:
    case REPORT_COLUMN_ID:
    case REPORT_COLUMN_VALUE:
    case REPORT_COLUMN_MIXED:
    case REPORT_COLUMN_MOMENT:
        break;
    }
    return REPORT_LOOK_NUMBER;
}

// How a column looks follows from its kind and from what it has. With --timeunit times are numbers.
static void look_at_column(struct report_drawing *drawing, size_t index) {
    const struct report_column *kind = &drawing->table->columns[index];
    struct report_shown_column *column = &drawing->columns[index];
    bool given = drawing->view->unit_ns > 0;
    split_title(drawing, index);
    if (kind->kind == REPORT_COLUMN_MOMENT && !given) {
        look_at_moments(drawing, index);
    } else if (kind->kind == REPORT_COLUMN_LENGTH && !given) {
        *column->under = '\0'; // each has its own
    } else if (kind->kind == REPORT_COLUMN_LENGTH) {
        column->look = REPORT_LOOK_NUMBER;
    } else if (report_column_is_time(kind) && given) {
        column->look = REPORT_LOOK_NUMBER;
    } else if (report_column_is_time(kind)) {
        column->look = REPORT_LOOK_DIGITS;
        column->unit = nvtxt_shown_unit(column->most);
        snprintf(column->under, sizeof(column->under), "%s", column->unit.name);
    }
}

// Without the word that says of which side it is.
static const char *stem_of(const char *title) {
    return strncmp(title, "Base ", 5) == 0  ? title + 5
           : strncmp(title, "New ", 4) == 0 ? title + 4
                                            : title;
}

// The same figure of two sides has one unit.
static void join_pairs(struct report_drawing *drawing) {
    const struct report_column *columns = drawing->table->columns;
    for (size_t i = 1; i < drawing->table->column_count; i++) {
        struct report_shown_column *left = &drawing->columns[i - 1], *right = &drawing->columns[i];
        if (strcmp(stem_of(columns[i - 1].title), stem_of(columns[i].title)) == 0) {
            left->most = right->most = fmax(left->most, right->most);
        }
    }
}

static int look_at_columns(struct report_drawing *drawing) {
    const struct report_table *table = drawing->table;
    struct report_cell room[REPORT_TABLE_MADE];
    drawing->columns = calloc(table->column_count + 1, sizeof(*drawing->columns));
    if (!drawing->columns) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < table->column_count; i++) {
        drawing->columns[i].look = look_of(&table->columns[i]);
        drawing->columns[i].unit = (struct nvtxt_shown_unit){1, NULL};
        drawing->columns[i].whole_text =
            is_bare(drawing) && table->columns[i].kind == REPORT_COLUMN_LABEL;
    }
    for (size_t row = 0; row < report_table_rows(table, drawing->view); row++) {
        const struct report_cell *cells = report_table_cells(table, row, room);
        for (size_t i = 0; i < table->column_count; i++) {
            look_at_cell(drawing, i, &cells[i]);
        }
    }
    join_pairs(drawing);
    for (size_t i = 0; i < table->column_count; i++) {
        look_at_column(drawing, i);
    }
    return 0;
}

// ---- Cells --------------------------------------------------------------------------------------

static bool is_integer(const struct report_cell *cell) {
    return cell->kind == REPORT_CELL_INT || cell->kind == REPORT_CELL_UINT;
}

struct nvtxt_slice report_drawing_cell(struct report_drawing *drawing, size_t index,
                                       const struct report_cell *cell, int *decimals) {
    const struct report_shown_column *column = &drawing->columns[index];
    char *text = drawing->room.number;
    bool utc = drawing->screen->utc;
    *decimals = 0;
    if (cell->kind == REPORT_CELL_EMPTY) {
        return (struct nvtxt_slice){"", 0};
    }
    switch (column->look) {
    case REPORT_LOOK_TEXT:
    case REPORT_LOOK_BAR:
    case REPORT_LOOK_NUMBER:
        return report_cell_show(&drawing->room, drawing->table, index, cell, drawing->view);
    case REPORT_LOOK_SHARE:
        *decimals = 1;
        snprintf(text, REPORT_NUMBER, "%.1f", number_of(cell));
        break;
    case REPORT_LOOK_DIGITS:
        if (column->most / column->unit.ns >= LARGE || (column->unit.ns == 1 && is_integer(cell))) {
            report_number_real(text, round(number_of(cell) / column->unit.ns));
            text[strcspn(text, ".")] = '\0'; // "inf" has none
        } else {
            *decimals = nvtxt_shown_digits(text, number_of(cell) / column->unit.ns);
        }
        break;
    case REPORT_LOOK_LENGTH:
        snprintf(text, REPORT_NUMBER, "-");
        if (number_of(cell) > 0) {
            nvtxt_shown_length(text, (int64_t)fmin(number_of(cell), 9.2e18));
        }
        break;
    case REPORT_LOOK_CLOCK:
        nvtxt_shown_clock(text, report_drawing_time(drawing, cell), utc, column->decimals);
        break;
    case REPORT_LOOK_MOMENT:
        nvtxt_shown_moment(text, report_drawing_time(drawing, cell), utc);
        break;
    case REPORT_LOOK_SECONDS:
        if (column->decimals == 0) {
            report_number_int(text, report_drawing_time(drawing, cell));
        } else {
            snprintf(text, REPORT_NUMBER, "%.*f", column->decimals, number_of(cell) / 1e9);
        }
        break;
    }
    return nvtxt_slice_of(text);
}

// ---- Widths -------------------------------------------------------------------------------------

size_t report_drawing_columns(const struct report_drawing *drawing, struct nvtxt_slice text) {
    bool full = drawing->view->full_names || drawing->screen->full_names;
    return nvtxt_shown_columns(text, full ? SIZE_MAX : drawing->screen->width);
}

static void measure(struct report_drawing *drawing, size_t index, const struct report_cell *cell) {
    struct report_shown_column *column = &drawing->columns[index];
    int decimals;
    size_t width =
        report_drawing_columns(drawing, report_drawing_cell(drawing, index, cell, &decimals));
    size_t whole = width - nvtxt_min(width, report_drawing_point(decimals));
    column->whole = nvtxt_max(column->whole, whole);
    column->decimals = column->look == REPORT_LOOK_DIGITS && decimals > column->decimals
                           ? decimals
                           : column->decimals;
    width = column->look == REPORT_LOOK_DIGITS
                ? column->whole + report_drawing_point(column->decimals)
                : width;
    column->width = nvtxt_max(column->width, width);
}

static void measure_all(struct report_drawing *drawing) {
    const struct report_table *table = drawing->table;
    struct report_cell room[REPORT_TABLE_MADE];
    for (size_t i = 0; i < table->column_count && !is_bare(drawing); i++) {
        struct report_shown_column *column = &drawing->columns[i];
        size_t under = column->look == REPORT_LOOK_TEXT ? 0 : strlen(column->under);
        column->width =
            nvtxt_max(report_drawing_columns(drawing, nvtxt_slice_of(column->title)), under);
    }
    for (size_t row = 0; row < report_table_rows(table, drawing->view); row++) {
        const struct report_cell *cells = report_table_cells(table, row, room);
        for (size_t i = 0; i < table->column_count; i++) {
            measure(drawing, i, &cells[i]);
        }
    }
}

static bool can_shrink(const struct report_shown_column *column) {
    return (column->look == REPORT_LOOK_TEXT && !column->whole_text) ||
           column->look == REPORT_LOOK_BAR;
}

// The last column of texts is the name of a row.
static size_t name_column(const struct report_drawing *drawing) {
    size_t found = 0;
    for (size_t i = 0; i < drawing->table->column_count; i++) {
        found = drawing->columns[i].look == REPORT_LOOK_TEXT ? i : found;
    }
    return found;
}

static size_t least_width(const struct report_drawing *drawing, size_t index, size_t name) {
    const struct report_shown_column *column = &drawing->columns[index];
    size_t least = index == name ? nvtxt_min(LEAST_NAME, drawing->screen->width / 3) : LEAST_TEXT;
    return can_shrink(column) ? nvtxt_min(column->width, least) : column->width;
}

size_t report_drawing_width(const struct report_drawing *drawing, size_t name, size_t *fixed) {
    size_t width = drawing->view->indent, count = 0;
    *fixed = width;
    for (size_t i = 0; i < drawing->table->column_count; i++) {
        const struct report_shown_column *column = &drawing->columns[i];
        if (!column->left_out) {
            size_t gap = count++ > 0 ? REPORT_DRAWING_GAP : 0;
            width += gap + least_width(drawing, i, name);
            size_t bar = column->look == REPORT_LOOK_SHARE && drawing->share_bar > 0
                             ? 1 + drawing->share_bar
                             : 0;
            width += bar;
            *fixed += gap + bar + (can_shrink(column) ? 0 : column->width);
        }
    }
    return width;
}

// Columns that a narrow screen does without first, by their titles; of all others the last ones.
static size_t rank_of(const char *title) {
    static const char *const titles[] = {
        "RangeStack", "ParentId",   "RangeId",   "NumChild",  "Row",      "StdDev",   "Min",
        "Style",      "Levels",     "First",     "Base Self", "New Self", "Base Avg", "New Avg",
        "z",          "Base Count", "New Count", "End",       "Max",      "Med",
    };
    size_t i = 0, count = sizeof(titles) / sizeof(titles[0]);
    while (i < count && strcmp(titles[i], title) != 0) {
        i++;
    }
    return count - i;
}

// Leaves one column out, of at least that rank; false when there is none but the name.
static bool leave_out_one(struct report_drawing *drawing, size_t name, size_t least) {
    size_t found = SIZE_MAX, most = least;
    for (size_t i = 0; i < drawing->table->column_count; i++) {
        size_t rank = rank_of(drawing->columns[i].title);
        if (i != name && !drawing->columns[i].left_out && rank >= most) {
            found = i;
            most = rank;
        }
    }
    if (found != SIZE_MAX) {
        drawing->columns[found].left_out = true;
    }
    return found != SIZE_MAX;
}

// The widest that texts and bars may be, so that together they take at most `room`.
static size_t level_of(const struct report_drawing *drawing, size_t room) {
    size_t level = drawing->screen->width, sum = SIZE_MAX;
    while (level > 1 && sum > room) {
        sum = 0;
        level -= level > 1;
        for (size_t i = 0; i < drawing->table->column_count; i++) {
            const struct report_shown_column *column = &drawing->columns[i];
            sum += can_shrink(column) && !column->left_out ? nvtxt_min(column->width, level) : 0;
        }
    }
    return level;
}

static void share_out(struct report_drawing *drawing, size_t fixed) {
    size_t width = drawing->screen->width;
    size_t level = level_of(drawing, width > fixed ? width - fixed : 1);
    for (size_t i = 0; i < drawing->table->column_count; i++) {
        struct report_shown_column *column = &drawing->columns[i];
        column->width = can_shrink(column) ? nvtxt_min(column->width, level) : column->width;
    }
}

// Bars beside shares stand where there is room for them without columns that are better.
static void fit_shares(struct report_drawing *drawing, size_t name) {
    size_t fixed, width = drawing->screen->width;
    bool shares = false, more = true;
    for (size_t i = 0; i < drawing->table->column_count; i++) {
        shares |= drawing->columns[i].look == REPORT_LOOK_SHARE;
    }
    drawing->share_bar = shares ? REPORT_DRAWING_SHARE : 0;
    while (shares && report_drawing_width(drawing, name, &fixed) > width && more) {
        more = leave_out_one(drawing, name, rank_of("Style"));
    }
    for (size_t i = 0; i < drawing->table->column_count && !more; i++) {
        drawing->columns[i].left_out = false;
    }
    drawing->share_bar = more ? drawing->share_bar : 0;
}

void report_drawing_fit(struct report_drawing *drawing) {
    size_t fixed = 0, name = name_column(drawing), width = drawing->screen->width;
    bool more = !is_bare(drawing);
    fit_shares(drawing, name);
    while (report_drawing_width(drawing, name, &fixed) > width && more) {
        more = leave_out_one(drawing, name, 0);
    }
    share_out(drawing, fixed);
}

int report_drawing_init(struct report_drawing *drawing, struct nvtxt_out *out,
                        const struct report_table *table, const struct report_table_view *view) {
    *drawing = (struct report_drawing){
        .out = out, .table = table, .view = view, .screen = report_screen_of(out)};
    int r = look_at_columns(drawing);
    if (r == 0) {
        measure_all(drawing);
    }
    return r;
}

void report_drawing_deinit(struct report_drawing *drawing) {
    nvtxt_out_deinit(&drawing->room.scratch);
    free(drawing->columns);
}
