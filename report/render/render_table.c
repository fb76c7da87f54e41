// SPDX-License-Identifier: Apache-2.0
//
// A cell becomes text once for its width and once to be written; no column is kept as text. Times
// are divided on the way: an integer into its exact decimals, for the formats that other programs
// read.
#include "report/render/render_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/render/kit/plain.h"

// ---- Times --------------------------------------------------------------------------------------

static const char time_suffix[] = " (ns)";

static bool is_time(const struct report_column *column) {
    size_t len = strlen(column->title), end = sizeof(time_suffix) - 1;
    return len > end && strcmp(column->title + len - end, time_suffix) == 0;
}

static bool is_divided(const struct report_table *table, size_t column,
                       const struct report_table_view *view) {
    return view->unit_ns > 1 && is_time(&table->columns[column]);
}

#define TITLE 128

// The title with the unit of the view.
static struct nvtxt_slice title_of(const struct report_table *table, size_t column,
                                   const struct report_table_view *view, char text[TITLE]) {
    const char *title = table->columns[column].title;
    if (!is_divided(table, column, view)) {
        return nvtxt_slice_of(title);
    }
    const char *unit = view->unit_ns == 1000 ? "us" : view->unit_ns == 1000000 ? "ms" : "s";
    int stem = (int)(strlen(title) - (sizeof(time_suffix) - 1));
    snprintf(text, TITLE, "%.*s (%s)", stem, title, unit);
    return nvtxt_slice_of(text);
}

static double divided(const struct report_cell *cell, uint64_t unit) {
    char digits[48] = "";
    switch ((enum report_cell_kind)cell->kind) {
    case REPORT_CELL_INT:
        return (double)((long double)cell->int64 / (long double)unit);
    case REPORT_CELL_UINT:
        return (double)((long double)cell->uint64 / (long double)unit);
    case REPORT_CELL_REAL:
        return cell->real / (double)unit;
    case REPORT_CELL_TEXT: // an integer of more than 64 bits
        snprintf(digits, sizeof(digits), "%.*s", (int)cell->text_len, cell->text);
        return strtod(digits, NULL) / (double)unit;
    default:
        return 0;
    }
}

// ---- For people ---------------------------------------------------------------------------------

// The cell as people read it. A text is borrowed, a number stands in `number`.
static struct nvtxt_slice shown(const struct report_table *table, size_t column,
                                const struct report_cell *cell,
                                const struct report_table_view *view,
                                char number[REPORT_PLAIN_NUMBER]) {
    bool id = table->columns[column].kind == REPORT_COLUMN_ID;
    size_t len = 0;
    if (cell->kind != REPORT_CELL_EMPTY && is_divided(table, column, view)) {
        len = report_plain_real(number, divided(cell, view->unit_ns));
    } else if (cell->kind == REPORT_CELL_TEXT) {
        return report_cell_slice(cell);
    } else if (cell->kind == REPORT_CELL_REAL) {
        len = report_plain_real(number, cell->real);
    } else if (cell->kind == REPORT_CELL_UINT) {
        len = id ? (size_t)snprintf(number, REPORT_PLAIN_NUMBER, "%llu",
                                    (unsigned long long)cell->uint64)
                 : report_plain_uint(number, cell->uint64);
    } else if (cell->kind == REPORT_CELL_INT) {
        len = id ? (size_t)snprintf(number, REPORT_PLAIN_NUMBER, "%lld", (long long)cell->int64)
                 : report_plain_int(number, cell->int64);
    }
    return (struct nvtxt_slice){number, len};
}

#define GAP 2         // blanks between columns
#define LEAST_TEXT 24 // characters of a text that are shown on a terminal, however narrow

static size_t wider(size_t a, size_t b) {
    return a > b ? a : b;
}

// The width of each column; nothing stands after the last one. Returns NULL when memory is short.
static size_t *widths_of(const struct report_table *table, const struct report_table_view *view) {
    size_t *widths = calloc(table->column_count + 1, sizeof(*widths));
    struct report_cell room[REPORT_TABLE_MADE];
    char title[TITLE], number[REPORT_PLAIN_NUMBER];
    for (size_t i = 0; widths && i < table->column_count; i++) {
        widths[i] = title_of(table, i, view, title).len;
    }
    for (size_t row = 0; widths && row < table->row_count; row++) {
        const struct report_cell *cells = report_table_cells(table, row, room);
        for (size_t i = 0; i < table->column_count; i++) {
            struct nvtxt_slice text = shown(table, i, &cells[i], view, number);
            widths[i] = i + 1 < table->column_count
                            ? report_plain_column(widths[i], text)
                            : wider(widths[i], report_plain_name_width(text));
        }
    }
    return widths;
}

static void fit(const struct report_table *table, size_t *widths, size_t terminal) {
    size_t numbers = 0, texts = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        bool text = table->columns[i].kind == REPORT_COLUMN_TEXT;
        texts += text;
        numbers += (text ? 0 : widths[i]) + (i > 0 ? GAP : 0);
    }
    size_t left = terminal > numbers && texts > 0 ? (terminal - numbers) / texts : 0;
    size_t most = left > LEAST_TEXT ? left : LEAST_TEXT;
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind == REPORT_COLUMN_TEXT && widths[i] > most) {
            widths[i] = most;
        }
    }
}

// Only a terminal cuts what is wider than its column.
static void put_aligned(struct nvtxt_out *out, struct nvtxt_slice text,
                        const struct report_table_view *view, size_t width, bool right, bool last) {
    size_t used = report_plain_name_width(text);
    size_t rest = width > used ? width - used : 0;
    report_plain_blanks(out, right ? rest : 0);
    if (view->width > 0 && used > width) {
        report_plain_cut(out, text, wider(width, 1));
    } else {
        report_plain_name(out, text);
    }
    report_plain_blanks(out, right || last ? 0 : rest);
}

static void put_gap(struct nvtxt_out *out, size_t column) {
    report_plain_blanks(out, column > 0 ? GAP : 0);
}

static void put_titles(struct nvtxt_out *out, const struct report_table *table,
                       const struct report_table_view *view, const size_t *widths) {
    char title[TITLE];
    size_t count = table->column_count;
    for (size_t i = 0; i < count; i++) {
        bool right = table->columns[i].kind != REPORT_COLUMN_TEXT;
        put_gap(out, i);
        put_aligned(out, title_of(table, i, view, title), view, widths[i], right, i + 1 == count);
    }
    NVTXT_OUT_LITERAL(out, "\n");
    for (size_t i = 0; i < count; i++) {
        put_gap(out, i);
        for (size_t k = 0; k < widths[i]; k++) {
            NVTXT_OUT_LITERAL(out, "-");
        }
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

// A row ends with its last cell that is not empty: no blanks stand at the end of a line.
static void put_row(struct nvtxt_out *out, const struct report_table *table, size_t row,
                    const struct report_table_view *view, const size_t *widths) {
    char number[REPORT_PLAIN_NUMBER];
    struct report_cell room[REPORT_TABLE_MADE];
    const struct report_cell *cells = report_table_cells(table, row, room);
    size_t count = table->column_count;
    while (count > 0 && cells[count - 1].kind == REPORT_CELL_EMPTY) {
        count--;
    }
    for (size_t i = 0; i < count; i++) {
        bool right = table->columns[i].kind != REPORT_COLUMN_TEXT;
        put_gap(out, i);
        put_aligned(out, shown(table, i, &cells[i], view, number), view, widths[i], right,
                    i + 1 == count);
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

void report_table_text(struct nvtxt_out *out, const struct report_table *table,
                       const struct report_table_view *view) {
    size_t *widths = widths_of(table, view);
    if (!widths) {
        out->error = out->error ? out->error : -ENOMEM;
        return;
    }
    if (view->width > 0) {
        fit(table, widths, view->width);
    }
    if (table->name) {
        NVTXT_OUT_LITERAL(out, "** ");
        nvtxt_out_slice(out, nvtxt_slice_of(table->name));
        NVTXT_OUT_LITERAL(out, ":\n\n");
    }
    if (table->row_count == 0) {
        NVTXT_OUT_LITERAL(out, "no rows\n");
    } else {
        put_titles(out, table, view, widths);
    }
    for (size_t row = 0; row < table->row_count; row++) {
        put_row(out, table, row, view, widths);
    }
    for (size_t i = 0; i < table->note_count; i++) {
        NVTXT_OUT_LITERAL(out, "note: ");
        report_plain_text(out, nvtxt_slice_of(table->notes[i]));
        NVTXT_OUT_LITERAL(out, "\n");
    }
    free(widths);
}

void report_table_markdown(struct nvtxt_out *out, const struct report_table *table,
                           const struct report_table_view *view) {
    char text[REPORT_PLAIN_NUMBER];
    if (table->name) {
        NVTXT_OUT_LITERAL(out, "### ");
        nvtxt_out_slice(out, nvtxt_slice_of(table->name));
        NVTXT_OUT_LITERAL(out, "\n\n");
    }
    NVTXT_OUT_LITERAL(out, "|");
    for (size_t i = 0; i < table->column_count; i++) {
        NVTXT_OUT_LITERAL(out, " ");
        report_plain_markdown(out, title_of(table, i, view, text));
        NVTXT_OUT_LITERAL(out, " |");
    }
    NVTXT_OUT_LITERAL(out, "\n|");
    for (size_t i = 0; i < table->column_count; i++) {
        bool right = table->columns[i].kind != REPORT_COLUMN_TEXT;
        nvtxt_out_slice(out, right ? NVTXT_SLICE(" ---: |") : NVTXT_SLICE(" --- |"));
    }
    NVTXT_OUT_LITERAL(out, "\n");
    for (size_t i = 0; i < table->row_count * table->column_count; i++) {
        size_t column = i % table->column_count;
        nvtxt_out_slice(out, column == 0 ? NVTXT_SLICE("| ") : NVTXT_SLICE(" "));
        report_plain_markdown(out, shown(table, column, &table->cells[i], view, text));
        nvtxt_out_slice(out, column + 1 == table->column_count ? NVTXT_SLICE(" |\n")
                                                               : NVTXT_SLICE(" |"));
    }
    if (table->row_count == 0) {
        NVTXT_OUT_LITERAL(out, "\nNo rows.\n");
    }
    for (size_t i = 0; i < table->note_count; i++) {
        NVTXT_OUT_LITERAL(out, "\nNote: ");
        report_plain_markdown(out, nvtxt_slice_of(table->notes[i]));
        NVTXT_OUT_LITERAL(out, "\n");
    }
}

// ---- For programs -------------------------------------------------------------------------------

// An integer over a power of ten: its exact decimals.
static void put_decimals(struct nvtxt_out *out, uint64_t value, uint64_t unit) {
    char text[32];
    int digits = unit == 1000 ? 3 : unit == 1000000 ? 6 : 9;
    int len = snprintf(text, sizeof(text), ".%0*llu", digits, (unsigned long long)(value % unit));
    while (len > 2 && text[len - 1] == '0') {
        len--;
    }
    nvtxt_out_uint(out, value / unit);
    nvtxt_out_bytes(out, text, (size_t)len);
}

static void put_real(struct nvtxt_out *out, double value) {
    if (!nvtxt_out_double(out, value)) {
        nvtxt_out_slice(out, nvtxt_slice_of(report_json_na_of(value)));
    }
}

static void put_divided(struct nvtxt_out *out, const struct report_cell *cell, uint64_t unit) {
    if (cell->kind == REPORT_CELL_INT) {
        nvtxt_out_bytes(out, "-", cell->int64 < 0);
        put_decimals(out, cell->int64 < 0 ? 0 - (uint64_t)cell->int64 : (uint64_t)cell->int64,
                     unit);
    } else if (cell->kind == REPORT_CELL_UINT) {
        put_decimals(out, cell->uint64, unit);
    } else {
        put_real(out, divided(cell, unit));
    }
}

static void put_field(struct nvtxt_out *out, const struct report_table *table, size_t column,
                      const struct report_cell *cell, const struct report_table_view *view,
                      char separator) {
    if (cell->kind != REPORT_CELL_EMPTY && is_divided(table, column, view)) {
        put_divided(out, cell, view->unit_ns);
    } else if (cell->kind == REPORT_CELL_TEXT) {
        nvtxt_out_field(out, report_cell_slice(cell), separator);
    } else if (cell->kind == REPORT_CELL_REAL) {
        put_real(out, cell->real);
    } else if (cell->kind == REPORT_CELL_UINT) {
        nvtxt_out_uint(out, cell->uint64);
    } else if (cell->kind == REPORT_CELL_INT) {
        nvtxt_out_int(out, cell->int64);
    }
}

static void put_fields(struct nvtxt_out *out, const struct report_table *table, size_t row,
                       const struct report_table_view *view, char separator) {
    struct report_cell room[REPORT_TABLE_MADE];
    const struct report_cell *cells = report_table_cells(table, row, room);
    for (size_t i = 0; i < table->column_count; i++) {
        nvtxt_out_bytes(out, &separator, i > 0);
        put_field(out, table, i, &cells[i], view, separator);
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

void report_table_separated(struct nvtxt_out *out, const struct report_table *table,
                            const struct report_table_view *view, char separator) {
    char title[TITLE];
    for (size_t i = 0; i < table->column_count; i++) {
        nvtxt_out_bytes(out, &separator, i > 0);
        nvtxt_out_field(out, title_of(table, i, view, title), separator);
    }
    NVTXT_OUT_LITERAL(out, "\n");
    for (size_t row = 0; row < table->row_count; row++) {
        put_fields(out, table, row, view, separator);
    }
}

void report_table_lines(struct nvtxt_out *out, const struct report_table *table,
                        const struct report_table_view *view) {
    for (size_t row = 0; row < table->row_count; row++) {
        const struct report_cell *cells = &table->cells[row * table->column_count];
        for (size_t i = 0; i < table->column_count; i++) {
            nvtxt_out_bytes(out, " ", i > 0);
            if (cells[i].kind == REPORT_CELL_TEXT) {
                report_plain_text(out, report_cell_slice(&cells[i]));
            } else {
                put_field(out, table, i, &cells[i], view, ' ');
            }
        }
        NVTXT_OUT_LITERAL(out, "\n");
    }
}

static void put_json_cell(struct report_json *json, const struct report_cell *cell, uint64_t unit) {
    if (cell->kind == REPORT_CELL_EMPTY) {
        report_json_null(json, NULL);
    } else if (unit > 1) {
        report_json_double(json, NULL, divided(cell, unit));
    } else if (cell->kind == REPORT_CELL_TEXT) {
        report_json_slice(json, NULL, report_cell_slice(cell));
    } else if (cell->kind == REPORT_CELL_REAL) {
        report_json_double(json, NULL, cell->real);
    } else if (cell->kind == REPORT_CELL_UINT) {
        report_json_uint(json, NULL, cell->uint64);
    } else {
        report_json_int(json, NULL, cell->int64);
    }
}

void report_table_json(struct report_json *json, const struct report_table *table,
                       const struct report_table_view *view) {
    char title[TITLE];
    report_json_object(json, NULL);
    report_json_text(json, "report", table->name);
    report_json_array(json, "columns");
    for (size_t i = 0; i < table->column_count; i++) {
        report_json_slice(json, NULL, title_of(table, i, view, title));
    }
    report_json_end_array(json);
    report_json_array(json, "rows");
    for (size_t i = 0; i < table->row_count * table->column_count; i++) {
        size_t column = i % table->column_count;
        if (column == 0) {
            report_json_array(json, NULL);
        }
        put_json_cell(json, &table->cells[i], is_divided(table, column, view) ? view->unit_ns : 1);
        if (column + 1 == table->column_count) {
            report_json_end_array(json);
        }
    }
    report_json_end_array(json);
    report_json_array(json, "notes");
    for (size_t i = 0; i < table->note_count; i++) {
        report_json_text(json, NULL, table->notes[i]);
    }
    report_json_end_array(json);
    report_json_end_object(json);
}
