// SPDX-License-Identifier: Apache-2.0
//
// A table in each format but HTML, which report/page writes. Cells of columns whose title ends with
// " (ns)" are divided by the unit of the view, and the title names the unit. A table that failed
// fails the output.
#pragma once

#include "report/table/json.h"
#include "report/table/number.h"
#include "report/table/screen.h"
#include "report/table/table.h"

enum report_table_place {
    REPORT_TABLE_ALONE,  // its name is a headline; without rows it says so; its notes follow
    REPORT_TABLE_WITHIN, // among other text: titles and rows
    REPORT_TABLE_BARE,   // rows alone, and none that is empty; Markdown needs the titles, too
};

// What is not set: times as they are, all rows, names cut, a table of its own.
struct report_table_view {
    uint64_t unit_ns; // 1, 1,000, 1,000,000 or 1,000,000,000; 0: 1, and a screen chooses
    size_t limit;     // rows that are written; 0: all
    bool full_names;  // text cuts none
    enum report_table_place place;
    size_t indent; // blanks before each line of text and Markdown
};

// The rows with aligned columns. No line ends with blanks. A screen gets report_table_screen().
void report_table_text(struct nvtxt_out *out, const struct report_table *table,
                       const struct report_table_view *view);

// As wide as the screen of `out`: names are shortened in their middle, each column of times has one
// unit, and columns that have no room are left out, with a note.
void report_table_screen(struct nvtxt_out *out, const struct report_table *table,
                         const struct report_table_view *view);

// The columns that its rows take there at least, if none is left out. There must be a screen.
size_t report_table_screen_width(struct nvtxt_out *out, const struct report_table *table,
                                 const struct report_table_view *view);

// The rows alone: the cells of each with a blank between them.
void report_table_lines(struct nvtxt_out *out, const struct report_table *table,
                        const struct report_table_view *view);

void report_table_markdown(struct nvtxt_out *out, const struct report_table *table,
                           const struct report_table_view *view);

// The titles, then the rows; `separator` is ',' or a tab. No notes. Lines end with LF.
void report_table_separated(struct nvtxt_out *out, const struct report_table *table,
                            const struct report_table_view *view, char separator);

// An object with the members report, columns, rows and notes.
void report_table_json(struct report_json *json, const struct report_table *table,
                       const struct report_table_view *view);

// The titles as the member `titles`, then the member "rows": an array for each row.
void report_table_json_rows(struct report_json *json, const char *titles,
                            const struct report_table *table, const struct report_table_view *view);

// ---- Cells --------------------------------------------------------------------------------------

// As JSON: what is empty is null.
void report_json_cell(struct report_json *json, const char *name, const struct report_cell *cell);

// Digits as programs read them; a text with `put`.
void report_cell_write(struct nvtxt_out *out, const struct report_cell *cell,
                       void (*put)(struct nvtxt_out *out, struct nvtxt_slice text));

// ---- For writers --------------------------------------------------------------------------------

// The rows that are written, and those after them.
static inline size_t report_table_rows(const struct report_table *table,
                                       const struct report_table_view *view) {
    return view->limit > 0 ? nvtxt_min(view->limit, table->row_count) : table->row_count;
}
static inline size_t report_table_more(const struct report_table *table,
                                       const struct report_table_view *view) {
    return view->limit > 0 ? table->row_count - report_table_rows(table, view) : 0;
}

// How many rows are not there, in words, if any.
void report_table_put_more(struct nvtxt_out *out, const struct report_table *table,
                           const struct report_table_view *view);

// A cell as people read it in a pipe, until the next one is shown with the same room, which begins
// zeroed.
struct report_cell_room {
    struct nvtxt_out scratch; // owned; a cell of a rule
    char number[REPORT_NUMBER];
};
struct nvtxt_slice report_cell_show(struct report_cell_room *room, const struct report_table *table,
                                    size_t column, const struct report_cell *cell,
                                    const struct report_table_view *view);

// Whether it stands at the right. `cell` is NULL for what holds for a whole column.
bool report_cell_is_right(const struct report_column *column, const struct report_cell *cell);

// Whether a column has times: its title ends with " (ns)".
bool report_column_is_time(const struct report_column *column);

// The title of a column, with the unit of the view.
#define REPORT_TITLE 128
struct nvtxt_slice report_table_title(const struct report_table *table, size_t column,
                                      const struct report_table_view *view,
                                      char text[REPORT_TITLE]);

// Whether the cells of a column are divided by the unit of the view; and a cell divided by it.
bool report_table_is_divided(const struct report_table *table, size_t column,
                             const struct report_table_view *view);
double report_cell_divided(const struct report_cell *cell, uint64_t unit);
