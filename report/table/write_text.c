// SPDX-License-Identifier: Apache-2.0
//
// A cell becomes text once for its width and once to be written; no column is kept as text.
#include "report/table/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/table/links.h"
#include "report/table/number.h"
#include "report/table/plain.h"

struct writing {
    struct nvtxt_out *out;
    const struct report_table *table;
    const struct report_table_view *view;
    size_t *widths;           // owned; of text
    struct nvtxt_out scratch; // owned; a cell of a rule
    char number[REPORT_NUMBER];
};

static void begin_writing(struct writing *writing, struct nvtxt_out *out,
                          const struct report_table *table, const struct report_table_view *view) {
    *writing = (struct writing){.out = out, .table = table, .view = view};
    out->error = out->error ?: table->failed ? nvtxt_origin(-ENOMEM) : 0;
}

static void end_writing(struct writing *writing) {
    writing->out->error = writing->out->error ?: writing->scratch.error;
    nvtxt_out_deinit(&writing->scratch);
    free(writing->widths);
}

// ---- Cells --------------------------------------------------------------------------------------

static void put_without_links(struct nvtxt_out *out, struct nvtxt_slice text) {
    report_link_write(out, text, nvtxt_out_slice);
}

// The text of a link stands for it.
static struct nvtxt_slice show_mixed(struct writing *writing, const struct report_cell *cell) {
    struct nvtxt_out *scratch = &writing->scratch;
    if (!scratch->data && nvtxt_out_init(scratch, -1) != 0) {
        writing->out->error = nvtxt_origin(-ENOMEM);
        return (struct nvtxt_slice){"", 0};
    }
    scratch->len = 0;
    report_cell_write(scratch, cell, put_without_links);
    return (struct nvtxt_slice){scratch->data, scratch->len};
}

// The cell as people read it, until the next one is shown.
static struct nvtxt_slice show_cell(struct writing *writing, size_t column,
                                    const struct report_cell *cell) {
    const enum report_column_kind kind = writing->table->columns[column].kind;
    char *number = writing->number;
    bool id = kind == REPORT_COLUMN_ID;
    size_t len = 0;
    if (kind == REPORT_COLUMN_MIXED) {
        return show_mixed(writing, cell);
    }
    if (cell->kind != REPORT_CELL_EMPTY &&
        report_table_is_divided(writing->table, column, writing->view)) {
        len = report_number_real(number, report_cell_divided(cell, writing->view->unit_ns));
        return (struct nvtxt_slice){number, len};
    }
    switch ((enum report_cell_kind)cell->kind) {
    case REPORT_CELL_EMPTY:
        break;
    case REPORT_CELL_TEXT:
        return report_cell_slice(cell);
    case REPORT_CELL_REAL:
        len = report_number_real(number, cell->real);
        break;
    case REPORT_CELL_UINT:
        len = id ? (size_t)snprintf(number, REPORT_NUMBER, "%" PRIu64, cell->uint64)
                 : report_number_uint(number, cell->uint64);
        break;
    case REPORT_CELL_INT:
        len = id ? (size_t)snprintf(number, REPORT_NUMBER, "%" PRId64, cell->int64)
                 : report_number_int(number, cell->int64);
        break;
    }
    return (struct nvtxt_slice){number, len};
}

// Numbers stand at the right. `cell` is NULL for what holds for a whole column.
static bool is_right(const struct report_column *column, const struct report_cell *cell) {
    switch (column->kind) {
    case REPORT_COLUMN_TEXT:
    case REPORT_COLUMN_LABEL:
        return false;
    case REPORT_COLUMN_NUMBER:
    case REPORT_COLUMN_ID:
    case REPORT_COLUMN_VALUE:
        return true;
    case REPORT_COLUMN_MIXED:
        return cell && report_cell_is_number(cell);
    }
    return false;
}

// Whether texts of a column are shown as long as they are.
static bool is_full(const struct writing *writing, const struct report_column *column) {
    return writing->view->full_names || column->kind == REPORT_COLUMN_LABEL ||
           column->kind == REPORT_COLUMN_VALUE;
}

static struct nvtxt_slice title_of(struct writing *writing, size_t column,
                                   char text[REPORT_TITLE]) {
    return report_table_title(writing->table, column, writing->view, text);
}

// ---- Text ---------------------------------------------------------------------------------------

#define GAP 2         // blanks between columns
#define LEAST_TEXT 24 // characters of a text that are shown on a terminal, however narrow

// What stands last makes no other cell wider; but titles are underlined as far as it goes.
static size_t widen(const struct writing *writing, size_t column, size_t width,
                    struct nvtxt_slice text) {
    const struct report_table *table = writing->table;
    bool last = column + 1 == table->column_count && writing->view->place == REPORT_TABLE_ALONE;
    bool full = is_full(writing, &table->columns[column]);
    return last ? nvtxt_max(width, report_plain_name_width(text, full))
                : report_plain_column(width, text);
}

// Finds the width of each column. Returns 0 or -ENOMEM.
static int find_widths(struct writing *writing) {
    const struct report_table *table = writing->table;
    struct report_cell room[REPORT_TABLE_MADE];
    char title[REPORT_TITLE];
    writing->widths = calloc(table->column_count + 1, sizeof(*writing->widths));
    if (!writing->widths) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; writing->view->place != REPORT_TABLE_BARE && i < table->column_count; i++) {
        writing->widths[i] = report_plain_width(title_of(writing, i, title));
    }
    for (size_t row = 0; row < table->row_count; row++) {
        const struct report_cell *cells = report_table_cells(table, row, room);
        for (size_t i = 0; i < table->column_count; i++) {
            writing->widths[i] =
                widen(writing, i, writing->widths[i], show_cell(writing, i, &cells[i]));
        }
    }
    return 0;
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
static void put_aligned(struct writing *writing, size_t column, struct nvtxt_slice text, bool right,
                        bool last) {
    struct nvtxt_out *out = writing->out;
    bool full = is_full(writing, &writing->table->columns[column]);
    size_t width = writing->widths[column], used = report_plain_name_width(text, full);
    size_t rest = width > used ? width - used : 0;
    report_plain_blanks(out, (column > 0 ? GAP : 0) + (right ? rest : 0));
    if (writing->view->width > 0 && used > width) {
        report_plain_cut(out, text, nvtxt_max(width, 1));
    } else {
        report_plain_name(out, text, full);
    }
    report_plain_blanks(out, right || last ? 0 : rest);
}

static void put_titles(struct writing *writing) {
    const struct report_table *table = writing->table;
    struct report_cell room[REPORT_TABLE_MADE];
    const struct report_cell *first =
        table->row_count > 0 ? report_table_cells(table, 0, room) : NULL;
    char title[REPORT_TITLE];
    report_plain_blanks(writing->out, writing->view->indent);
    for (size_t i = 0; i < table->column_count; i++) {
        bool right = is_right(&table->columns[i], first ? &first[i] : NULL);
        put_aligned(writing, i, title_of(writing, i, title), right, i + 1 == table->column_count);
    }
    NVTXT_OUT_LITERAL(writing->out, "\n");
}

static void underline(struct writing *writing) {
    for (size_t i = 0; i < writing->table->column_count; i++) {
        report_plain_blanks(writing->out, i > 0 ? GAP : 0);
        for (size_t k = 0; k < writing->widths[i]; k++) {
            NVTXT_OUT_LITERAL(writing->out, "-");
        }
    }
    NVTXT_OUT_LITERAL(writing->out, "\n");
}

// A row ends with its last cell that is not empty.
static void put_row(struct writing *writing, size_t row) {
    struct report_cell room[REPORT_TABLE_MADE];
    const struct report_cell *cells = report_table_cells(writing->table, row, room);
    size_t count = writing->table->column_count;
    while (count > 0 && cells[count - 1].kind == REPORT_CELL_EMPTY) {
        count--;
    }
    if (count == 0 && writing->view->place == REPORT_TABLE_BARE) {
        return;
    }
    report_plain_blanks(writing->out, count > 0 ? writing->view->indent : 0);
    for (size_t i = 0; i < count; i++) {
        put_aligned(writing, i, show_cell(writing, i, &cells[i]),
                    is_right(&writing->table->columns[i], &cells[i]), i + 1 == count);
    }
    NVTXT_OUT_LITERAL(writing->out, "\n");
}

static void put_head(struct writing *writing) {
    const struct report_table *table = writing->table;
    bool alone = writing->view->place == REPORT_TABLE_ALONE;
    if (alone && table->name) {
        NVTXT_OUT_LITERAL(writing->out, "** ");
        nvtxt_out_slice(writing->out, nvtxt_slice_of(table->name));
        NVTXT_OUT_LITERAL(writing->out, ":\n\n");
    }
    if (alone && table->row_count == 0) {
        NVTXT_OUT_LITERAL(writing->out, "no rows\n");
    } else if (writing->view->place != REPORT_TABLE_BARE) {
        put_titles(writing);
        if (alone) {
            underline(writing);
        }
    }
}

void report_table_text(struct nvtxt_out *out, const struct report_table *table,
                       const struct report_table_view *view) {
    struct writing writing;
    begin_writing(&writing, out, table, view);
    out->error = out->error ?: find_widths(&writing);
    if (view->width > 0 && writing.widths) {
        fit(table, writing.widths, view->width);
    }
    if (writing.widths) {
        put_head(&writing);
    }
    for (size_t row = 0; row < table->row_count && !out->error; row++) {
        put_row(&writing, row);
    }
    for (size_t i = 0; i < table->note_count && !out->error; i++) {
        NVTXT_OUT_LITERAL(out, "note: ");
        report_plain_text(out, nvtxt_slice_of(table->notes[i]));
        NVTXT_OUT_LITERAL(out, "\n");
    }
    end_writing(&writing);
}

// ---- Markdown -----------------------------------------------------------------------------------

static void put_markdown_titles(struct writing *writing) {
    const struct report_table *table = writing->table;
    struct nvtxt_out *out = writing->out;
    char title[REPORT_TITLE];
    report_plain_blanks(out, writing->view->indent);
    NVTXT_OUT_LITERAL(out, "|");
    for (size_t i = 0; i < table->column_count; i++) {
        NVTXT_OUT_LITERAL(out, " ");
        report_plain_markdown(out, title_of(writing, i, title));
        NVTXT_OUT_LITERAL(out, " |");
    }
    NVTXT_OUT_LITERAL(out, "\n");
    report_plain_blanks(out, writing->view->indent);
    NVTXT_OUT_LITERAL(out, "|");
    for (size_t i = 0; i < table->column_count; i++) {
        bool right = is_right(&table->columns[i], NULL);
        nvtxt_out_slice(out, right ? NVTXT_SLICE(" ---: |") : NVTXT_SLICE(" --- |"));
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

static void put_markdown_row(struct writing *writing, size_t row) {
    struct report_cell room[REPORT_TABLE_MADE];
    const struct report_cell *cells = report_table_cells(writing->table, row, room);
    report_plain_blanks(writing->out, writing->view->indent);
    NVTXT_OUT_LITERAL(writing->out, "|");
    for (size_t i = 0; i < writing->table->column_count; i++) {
        NVTXT_OUT_LITERAL(writing->out, " ");
        report_plain_markdown(writing->out, show_cell(writing, i, &cells[i]));
        NVTXT_OUT_LITERAL(writing->out, " |");
    }
    NVTXT_OUT_LITERAL(writing->out, "\n");
}

void report_table_markdown(struct nvtxt_out *out, const struct report_table *table,
                           const struct report_table_view *view) {
    struct writing writing;
    bool alone = view->place == REPORT_TABLE_ALONE;
    begin_writing(&writing, out, table, view);
    if (alone && table->name) {
        NVTXT_OUT_LITERAL(out, "### ");
        nvtxt_out_slice(out, nvtxt_slice_of(table->name));
        NVTXT_OUT_LITERAL(out, "\n\n");
    }
    put_markdown_titles(&writing);
    for (size_t row = 0; row < table->row_count && !out->error; row++) {
        put_markdown_row(&writing, row);
    }
    if (alone && table->row_count == 0) {
        NVTXT_OUT_LITERAL(out, "\nNo rows.\n");
    }
    for (size_t i = 0; i < table->note_count; i++) {
        NVTXT_OUT_LITERAL(out, "\nNote: ");
        report_plain_markdown(out, nvtxt_slice_of(table->notes[i]));
        NVTXT_OUT_LITERAL(out, "\n");
    }
    end_writing(&writing);
}
