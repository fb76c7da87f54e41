// SPDX-License-Identifier: Apache-2.0
//
// For programs. Times are divided on the way, an integer into its exact decimals.
#include "report/table/write.h"

#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/table/plain.h"

// ---- Times --------------------------------------------------------------------------------------

static const char time_suffix[] = " (ns)";

bool report_column_is_time(const struct report_column *column) {
    size_t len = strlen(column->title), end = sizeof(time_suffix) - 1;
    return len > end && strcmp(column->title + len - end, time_suffix) == 0;
}

bool report_table_is_divided(const struct report_table *table, size_t column,
                             const struct report_table_view *view) {
    return view->unit_ns > 1 && report_column_is_time(&table->columns[column]);
}

struct nvtxt_slice report_table_title(const struct report_table *table, size_t column,
                                      const struct report_table_view *view,
                                      char text[REPORT_TITLE]) {
    const char *title = table->columns[column].title;
    if (!report_table_is_divided(table, column, view)) {
        return nvtxt_slice_of(title);
    }
    const char *unit = view->unit_ns == 1000 ? "us" : view->unit_ns == 1000000 ? "ms" : "s";
    int stem = (int)(strlen(title) - (sizeof(time_suffix) - 1));
    snprintf(text, REPORT_TITLE, "%.*s (%s)", stem, title, unit);
    return nvtxt_slice_of(text);
}

double report_cell_divided(const struct report_cell *cell, uint64_t unit) {
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
    case REPORT_CELL_EMPTY:
        break;
    }
    return 0;
}

// ---- Cells --------------------------------------------------------------------------------------

void report_cell_write(struct nvtxt_out *out, const struct report_cell *cell,
                       void (*put)(struct nvtxt_out *out, struct nvtxt_slice text)) {
    switch ((enum report_cell_kind)cell->kind) {
    case REPORT_CELL_EMPTY:
        break;
    case REPORT_CELL_TEXT:
        put(out, report_cell_slice(cell));
        break;
    case REPORT_CELL_REAL:
        report_number_write(out, cell->real);
        break;
    case REPORT_CELL_UINT:
        nvtxt_out_uint(out, cell->uint64);
        break;
    case REPORT_CELL_INT:
        nvtxt_out_int(out, cell->int64);
        break;
    }
}

// ---- CSV, TSV and lines -------------------------------------------------------------------------

static void put_divided(struct nvtxt_out *out, const struct report_cell *cell, uint64_t unit) {
    char text[REPORT_NUMBER];
    if (cell->kind == REPORT_CELL_INT || cell->kind == REPORT_CELL_UINT) {
        bool negative = cell->kind == REPORT_CELL_INT && cell->int64 < 0;
        nvtxt_out_bytes(out, "-", negative);
        report_number_over(text, negative ? 0 - cell->uint64 : cell->uint64, unit);
        nvtxt_out_slice(out, nvtxt_slice_of(text));
    } else {
        report_number_write(out, report_cell_divided(cell, unit));
    }
}

static void put_field(struct nvtxt_out *out, const struct report_table *table, size_t column,
                      const struct report_cell *cell, const struct report_table_view *view,
                      char separator) {
    if (cell->kind != REPORT_CELL_EMPTY && report_table_is_divided(table, column, view)) {
        put_divided(out, cell, view->unit_ns);
    } else if (cell->kind == REPORT_CELL_TEXT) {
        nvtxt_out_field(out, report_cell_slice(cell), separator);
    } else {
        report_cell_write(out, cell, nvtxt_out_slice);
    }
}

static void fail_with(struct nvtxt_out *out, const struct report_table *table) {
    out->error = out->error ?: table->failed ? nvtxt_origin(-ENOMEM) : 0;
}

void report_table_separated(struct nvtxt_out *out, const struct report_table *table,
                            const struct report_table_view *view, char separator) {
    struct report_cell room[REPORT_TABLE_MADE];
    char title[REPORT_TITLE];
    fail_with(out, table);
    for (size_t i = 0; i < table->column_count; i++) {
        nvtxt_out_bytes(out, &separator, i > 0);
        nvtxt_out_field(out, report_table_title(table, i, view, title), separator);
    }
    NVTXT_OUT_LITERAL(out, "\n");
    for (size_t row = 0; row < report_table_rows(table, view) && !out->error; row++) {
        const struct report_cell *cells = report_table_cells(table, row, room);
        for (size_t i = 0; i < table->column_count; i++) {
            nvtxt_out_bytes(out, &separator, i > 0);
            put_field(out, table, i, &cells[i], view, separator);
        }
        NVTXT_OUT_LITERAL(out, "\n");
    }
}

void report_table_lines(struct nvtxt_out *out, const struct report_table *table,
                        const struct report_table_view *view) {
    struct report_cell room[REPORT_TABLE_MADE];
    fail_with(out, table);
    for (size_t row = 0; row < report_table_rows(table, view) && !out->error; row++) {
        const struct report_cell *cells = report_table_cells(table, row, room);
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

// ---- JSON ---------------------------------------------------------------------------------------

void report_json_cell(struct report_json *json, const char *name, const struct report_cell *cell) {
    switch ((enum report_cell_kind)cell->kind) {
    case REPORT_CELL_EMPTY:
        report_json_null(json, name);
        break;
    case REPORT_CELL_TEXT:
        report_json_slice(json, name, report_cell_slice(cell));
        break;
    case REPORT_CELL_REAL:
        report_json_double(json, name, cell->real);
        break;
    case REPORT_CELL_UINT:
        report_json_uint(json, name, cell->uint64);
        break;
    case REPORT_CELL_INT:
        report_json_int(json, name, cell->int64);
        break;
    }
}

void report_table_json_rows(struct report_json *json, const char *titles,
                            const struct report_table *table,
                            const struct report_table_view *view) {
    struct report_cell room[REPORT_TABLE_MADE];
    char title[REPORT_TITLE];
    fail_with(json->out, table);
    report_json_array(json, titles);
    for (size_t i = 0; i < table->column_count; i++) {
        report_json_slice(json, NULL, report_table_title(table, i, view, title));
    }
    report_json_end_array(json);
    report_json_array(json, "rows");
    for (size_t row = 0; row < report_table_rows(table, view) && !json->out->error; row++) {
        const struct report_cell *cells = report_table_cells(table, row, room);
        report_json_array(json, NULL);
        for (size_t i = 0; i < table->column_count; i++) {
            if (cells[i].kind != REPORT_CELL_EMPTY && report_table_is_divided(table, i, view)) {
                report_json_double(json, NULL, report_cell_divided(&cells[i], view->unit_ns));
            } else if (table->columns[i].kind == REPORT_COLUMN_MIXED &&
                       cells[i].kind == REPORT_CELL_TEXT) {
                report_json_linked(json, NULL, report_cell_slice(&cells[i]));
            } else {
                report_json_cell(json, NULL, &cells[i]);
            }
        }
        report_json_end_array(json);
    }
    report_json_end_array(json);
}

void report_table_json(struct report_json *json, const struct report_table *table,
                       const struct report_table_view *view) {
    report_json_object(json, NULL);
    report_json_text(json, "report", table->name);
    report_table_json_rows(json, "columns", table, view);
    if (report_table_more(table, view) > 0) {
        report_json_uint(json, "more", report_table_more(table, view));
    }
    report_json_array(json, "notes");
    for (size_t i = 0; i < table->note_count; i++) {
        report_json_text(json, NULL, table->notes[i]);
    }
    report_json_end_array(json);
    report_json_end_object(json);
}
