// SPDX-License-Identifier: Apache-2.0
//
// A cell becomes text once for its width and once to be written; no column is kept as text.
#include "report/table/write.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/table/plain.h"

struct writing {
    struct nvtxt_out *out;
    const struct report_table *table;
    const struct report_table_view *view;
    size_t *widths; // owned; of text
    struct report_cell_room room;
};

static void begin_writing(struct writing *writing, struct nvtxt_out *out,
                          const struct report_table *table, const struct report_table_view *view) {
    *writing = (struct writing){.out = out, .table = table, .view = view};
    out->error = out->error ?: table->failed ? nvtxt_origin(-ENOMEM) : 0;
}

static void end_writing(struct writing *writing) {
    writing->out->error = writing->out->error ?: writing->room.scratch.error;
    nvtxt_out_deinit(&writing->room.scratch);
    free(writing->widths);
}

// ---- Cells --------------------------------------------------------------------------------------

static struct nvtxt_slice show_cell(struct writing *writing, size_t column,
                                    const struct report_cell *cell) {
    return report_cell_show(&writing->room, writing->table, column, cell, writing->view);
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

#define GAP 2 // blanks between columns

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
    for (size_t row = 0; row < report_table_rows(table, writing->view); row++) {
        const struct report_cell *cells = report_table_cells(table, row, room);
        for (size_t i = 0; i < table->column_count; i++) {
            writing->widths[i] =
                widen(writing, i, writing->widths[i], show_cell(writing, i, &cells[i]));
        }
    }
    return 0;
}

static void put_aligned(struct writing *writing, size_t column, struct nvtxt_slice text, bool right,
                        bool last) {
    struct nvtxt_out *out = writing->out;
    bool full = is_full(writing, &writing->table->columns[column]);
    size_t width = writing->widths[column], used = report_plain_name_width(text, full);
    size_t rest = width > used ? width - used : 0;
    report_plain_blanks(out, (column > 0 ? GAP : 0) + (right ? rest : 0));
    report_plain_name(out, text, full);
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
        bool right = report_cell_is_right(&table->columns[i], first ? &first[i] : NULL);
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
                    report_cell_is_right(&writing->table->columns[i], &cells[i]), i + 1 == count);
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
    if (report_screen_of(out)) {
        report_table_screen(out, table, view);
        return;
    }
    begin_writing(&writing, out, table, view);
    out->error = out->error ?: find_widths(&writing);
    if (writing.widths) {
        put_head(&writing);
    }
    for (size_t row = 0; row < report_table_rows(table, view) && !out->error; row++) {
        put_row(&writing, row);
    }
    report_table_put_more(out, table, view);
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
        bool right = report_cell_is_right(&table->columns[i], NULL);
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
    for (size_t row = 0; row < report_table_rows(table, view) && !out->error; row++) {
        put_markdown_row(&writing, row);
    }
    if (alone && table->row_count == 0) {
        NVTXT_OUT_LITERAL(out, "\nNo rows.\n");
    }
    nvtxt_out_bytes(out, "\n", report_table_more(table, view) > 0);
    report_table_put_more(out, table, view);
    for (size_t i = 0; i < table->note_count; i++) {
        NVTXT_OUT_LITERAL(out, "\nNote: ");
        report_plain_markdown(out, nvtxt_slice_of(table->notes[i]));
        NVTXT_OUT_LITERAL(out, "\n");
    }
    end_writing(&writing);
}
