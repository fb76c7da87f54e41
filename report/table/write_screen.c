// SPDX-License-Identifier: Apache-2.0
//
// Titles have their units below them; rows of several days have the day above them. Bars are made
// of eighths of a column.
#include <math.h>
#include <stdio.h>

#include "protocol/base/origin.h"
#include "report/table/drawing.h"
#include "report/table/plain.h"

static bool is_bare(const struct report_drawing *drawing) {
    return drawing->view->place == REPORT_TABLE_BARE;
}

// ---- Writing ------------------------------------------------------------------------------------

// The longest text of a terminal, in bytes: a character may have marks on it.
#define SHOWN_BYTES ((size_t)REPORT_SCREEN_MOST * 8)

static void put_text(struct report_drawing *drawing, struct nvtxt_slice text, size_t width) {
    char shown[SHOWN_BYTES];
    if (drawing->view->full_names) {
        report_plain_text(drawing->out, text);
    } else {
        nvtxt_out_bytes(drawing->out, shown,
                        nvtxt_shown_fit(shown, sizeof(shown), text, nvtxt_max(width, 1)));
    }
}

static void put_aligned(struct report_drawing *drawing, struct nvtxt_slice text, size_t width,
                        bool right, bool last) {
    size_t used = nvtxt_min(report_drawing_columns(drawing, text), width);
    report_plain_blanks(drawing->out, right ? width - used : 0);
    put_text(drawing, text, width);
    report_plain_blanks(drawing->out, right || last ? 0 : width - used);
}

static void put_eighths(struct report_drawing *drawing, double columns, size_t width, bool last) {
    static const char *const parts[] = {"",
                                        "\xE2\x96\x8F",
                                        "\xE2\x96\x8E",
                                        "\xE2\x96\x8D",
                                        "\xE2\x96\x8C",
                                        "\xE2\x96\x8B",
                                        "\xE2\x96\x8A",
                                        "\xE2\x96\x89"};
    size_t eighths = columns > 0 ? (size_t)(fmin(columns, (double)width) * 8 + 0.5) : 0;
    size_t used = (eighths + 7) / 8;
    report_screen_style(drawing->out, REPORT_STYLE_BLUE);
    for (size_t i = 0; i < eighths / 8; i++) {
        NVTXT_OUT_LITERAL(drawing->out, "\xE2\x96\x88");
    }
    nvtxt_out_slice(drawing->out, nvtxt_slice_of(parts[eighths % 8]));
    report_screen_style(drawing->out, REPORT_STYLE_NONE);
    report_plain_blanks(drawing->out, last ? 0 : width - used);
}

static void put_cell(struct report_drawing *drawing, size_t index, const struct report_cell *cell,
                     bool last) {
    const struct report_shown_column *column = &drawing->columns[index];
    int decimals;
    struct nvtxt_slice text = report_drawing_cell(drawing, index, cell, &decimals);
    bool right = report_cell_is_right(&drawing->table->columns[index], cell);
    bool aligned = column->look == REPORT_LOOK_DIGITS && text.len > 0;
    size_t after =
        aligned ? report_drawing_point(column->decimals) - report_drawing_point(decimals) : 0;
    if (column->look == REPORT_LOOK_BAR) {
        put_eighths(drawing, (double)column->width * (double)text.len / REPORT_BAR, column->width,
                    last);
        return;
    }
    put_aligned(drawing, text, column->width - after, right, last && !right);
    report_plain_blanks(drawing->out, last ? 0 : after);
    if (column->look == REPORT_LOOK_SHARE && drawing->share_bar > 0) {
        double share =
            cell->kind == REPORT_CELL_EMPTY ? 0 : report_cell_divided(cell, 1) / column->most;
        NVTXT_OUT_LITERAL(drawing->out, " ");
        put_eighths(drawing, share * (double)drawing->share_bar, drawing->share_bar, last);
    }
}

static size_t first_column(const struct report_drawing *drawing) {
    size_t i = 0;
    while (i + 1 < drawing->table->column_count && drawing->columns[i].left_out) {
        i++;
    }
    return i;
}

// The column after which nothing is shown in a row of `cells`; NULL: in a row of titles.
static size_t end_of_row(const struct report_drawing *drawing, const struct report_cell *cells) {
    size_t end = 0;
    for (size_t i = 0; i < drawing->table->column_count; i++) {
        bool shown = !cells || cells[i].kind != REPORT_CELL_EMPTY;
        end = shown && !drawing->columns[i].left_out ? i + 1 : end;
    }
    return end;
}

static void put_titles(struct report_drawing *drawing, const struct report_cell *first,
                       bool under) {
    const size_t end = end_of_row(drawing, NULL), begin = first_column(drawing);
    report_plain_blanks(drawing->out, drawing->view->indent);
    report_screen_style(drawing->out, under ? REPORT_STYLE_DIM : REPORT_STYLE_BOLD);
    size_t blanks = 0; // that are written when something comes after them
    for (size_t i = begin; i < end; i++) {
        const struct report_shown_column *column = &drawing->columns[i];
        bool share = column->look == REPORT_LOOK_SHARE && drawing->share_bar > 0;
        if (column->left_out) {
            continue;
        }
        struct nvtxt_slice text = nvtxt_slice_of(under ? column->under : column->title);
        size_t width = column->width,
               used = nvtxt_min(report_drawing_columns(drawing, text), width);
        bool right = report_cell_is_right(&drawing->table->columns[i], first ? &first[i] : NULL);
        blanks += (i > begin ? REPORT_DRAWING_GAP : 0) + (right ? width - used : 0);
        if (text.len > 0) {
            report_plain_blanks(drawing->out, blanks);
            put_text(drawing, text, width);
            blanks = 0;
        } else {
            blanks += used;
        }
        blanks += (right ? 0 : width - used) + (share ? 1 + drawing->share_bar : 0);
    }
    report_screen_style(drawing->out, REPORT_STYLE_NONE);
    NVTXT_OUT_LITERAL(drawing->out, "\n");
}

static void put_head(struct report_drawing *drawing) {
    const struct report_table *table = drawing->table;
    struct report_cell room[REPORT_TABLE_MADE];
    bool alone = drawing->view->place == REPORT_TABLE_ALONE, units = false;
    if (alone && table->name) {
        report_screen_style(drawing->out, REPORT_STYLE_BOLD);
        nvtxt_out_format(drawing->out, "** %s:\n\n", table->name);
    }
    if (alone && table->row_count == 0) {
        NVTXT_OUT_LITERAL(drawing->out, "no rows\n");
        return;
    }
    if (is_bare(drawing)) {
        return;
    }
    const struct report_cell *first =
        table->row_count > 0 ? report_table_cells(table, 0, room) : NULL;
    for (size_t i = 0; i < table->column_count; i++) {
        units |= *drawing->columns[i].under && !drawing->columns[i].left_out;
    }
    put_titles(drawing, first, false);
    if (units) {
        put_titles(drawing, first, true);
    }
}

static void put_day(struct report_drawing *drawing, const struct report_cell *cell) {
    char day[NVTXT_SHOWN_TIME];
    nvtxt_shown_day(day, report_drawing_time(drawing, cell), drawing->screen->utc);
    if (drawing->day_lines && cell->kind != REPORT_CELL_EMPTY && strcmp(day, drawing->day) != 0) {
        report_screen_style(drawing->out, REPORT_STYLE_DIM);
        nvtxt_out_format(drawing->out, "-- %s --\n", day);
        memcpy(drawing->day, day, sizeof(day));
    }
}

static void put_row(struct report_drawing *drawing, size_t row) {
    struct report_cell room[REPORT_TABLE_MADE];
    const struct report_cell *cells = report_table_cells(drawing->table, row, room);
    const size_t end = end_of_row(drawing, cells), begin = first_column(drawing);
    if (end == 0 && is_bare(drawing)) {
        return;
    }
    put_day(drawing, &cells[0]);
    report_plain_blanks(drawing->out, end > 0 ? drawing->view->indent : 0);
    for (size_t i = begin; i < end; i++) {
        if (!drawing->columns[i].left_out) {
            report_plain_blanks(drawing->out, i > begin ? REPORT_DRAWING_GAP : 0);
            put_cell(drawing, i, &cells[i], i + 1 == end);
        }
    }
    NVTXT_OUT_LITERAL(drawing->out, "\n");
}

size_t report_table_screen_width(struct nvtxt_out *out, const struct report_table *table,
                                 const struct report_table_view *view) {
    struct report_drawing drawing;
    size_t fixed = 0;
    int r = report_drawing_init(&drawing, out, table, view);
    size_t width = r == 0 ? report_drawing_width(&drawing, 0, &fixed) : 0;
    report_drawing_deinit(&drawing);
    return width;
}

static void put_notes(struct report_drawing *drawing) {
    const struct report_table *table = drawing->table;
    size_t count = 0;
    report_table_put_more(drawing->out, table, drawing->view);
    for (size_t i = 0; i < table->note_count; i++) {
        NVTXT_OUT_LITERAL(drawing->out, "note: ");
        report_plain_text(drawing->out, nvtxt_slice_of(table->notes[i]));
        NVTXT_OUT_LITERAL(drawing->out, "\n");
    }
    for (size_t i = 0; i < table->column_count && table->row_count > 0; i++) {
        if (drawing->columns[i].left_out) {
            report_plain_blanks(drawing->out, count == 0 ? drawing->view->indent : 0);
            report_screen_style(drawing->out, count == 0 ? REPORT_STYLE_DIM : REPORT_STYLE_NONE);
            nvtxt_out_slice(drawing->out, nvtxt_slice_of(count++ == 0 ? "no room for: " : ", "));
            report_plain_text(drawing->out, nvtxt_slice_of(drawing->columns[i].title));
        }
    }
    nvtxt_out_bytes(drawing->out, "\n", count > 0);
}

void report_table_screen(struct nvtxt_out *out, const struct report_table *table,
                         const struct report_table_view *view) {
    struct report_drawing drawing;
    int r = report_drawing_init(&drawing, out, table, view);
    out->error = out->error ?: table->failed ? nvtxt_origin(-ENOMEM) : r;
    if (!out->error) {
        if (!view->full_names) {
            report_drawing_fit(&drawing);
        }
        put_head(&drawing);
        for (size_t row = 0; row < report_table_rows(table, view) && !out->error; row++) {
            put_row(&drawing, row);
        }
        put_notes(&drawing);
    }
    out->error = out->error ?: drawing.room.scratch.error;
    report_drawing_deinit(&drawing);
}
