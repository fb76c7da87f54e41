// SPDX-License-Identifier: Apache-2.0
//
// Values come by metric, and lines are printed in their order. So all values of a file become cells
// with a line and a column, which are sorted once. Then a walk over cells, diagnostics and, if all
// lines are wanted, the lines of the text goes from line to line.
#include "report/render/render_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/base/slice.h"
#include "report/render/render_metric.h"
#include "report/table/plain.h"

// What ids of its lines begin with.
static struct nvtxt_slice source_label(const struct report_source *source) {
    return source->name.data           ? source->name
           : source->display_name.data ? source->display_name
                                       : (struct nvtxt_slice){"", 0};
}

// ---- Cells --------------------------------------------------------------------------------------

// The line of an id "FILE:LINE" of that file; 0: of another one.
static int64_t line_of(const struct report_id *id, struct nvtxt_slice file) {
    int64_t line = 0;
    if (!id->is_text || id->text.len < file.len + 2 || id->text.data[file.len] != ':' ||
        memcmp(id->text.data, file.data, file.len) != 0) {
        return 0;
    }
    for (size_t i = file.len + 1; i < id->text.len; i++) {
        char digit = id->text.data[i];
        if (digit < '0' || digit > '9' || line > INT64_MAX / 10 - 1) {
            return 0;
        }
        line = line * 10 + (digit - '0');
    }
    return line;
}

static int compare_cells(const void *a, const void *b) {
    const struct report_source_cell *x = a, *y = b;
    return NVTXT_ORDER(x->line, y->line) ?: NVTXT_ORDER(x->column, y->column);
}

int report_source_page_fill(struct report_source_page *page) {
    struct nvtxt_slice file = source_label(page->source);
    size_t room = 1;
    for (size_t i = 0; i < page->column_count; i++) {
        room += page->columns[i].metric.instance_count;
    }
    page->cells = malloc(room * sizeof(*page->cells));
    if (!page->cells) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < page->column_count; i++) {
        const struct report_metric *metric = &page->columns[i].metric;
        for (size_t j = 0; !metric->na && j < metric->instance_count; j++) {
            int64_t line = line_of(&metric->instances[j].id, file);
            if (line > 0) {
                page->cells[page->cell_count++] =
                    (struct report_source_cell){line, i, &metric->instances[j].value};
            }
        }
    }
    qsort(page->cells, page->cell_count, sizeof(*page->cells), compare_cells);
    return 0;
}

void report_source_page_deinit(struct report_source_page *page) {
    free(page->cells);
    page->cells = NULL;
    page->cell_count = 0;
}

// ---- From line to line --------------------------------------------------------------------------

struct walk {
    const struct report_source_page *page;
    int64_t line; // the current one; 0 before the first
    // What the line has.
    const struct report_source_cell *cells;
    size_t cell_count;
    const struct report_diagnostic *diagnostics;
    size_t diagnostic_count;
    struct nvtxt_slice text;
    size_t next_cell, next_diagnostic;
};

static int64_t text_lines(const struct report_source_page *page) {
    return page->text ? (int64_t)page->text->count : 0;
}

static int64_t next_line(const struct walk *walk) {
    const struct report_source_page *page = walk->page;
    int64_t next = INT64_MAX;
    if (walk->next_cell < page->cell_count) {
        next = page->cells[walk->next_cell].line;
    }
    if (walk->next_diagnostic < page->source->diagnostic_count) {
        int64_t line = page->source->diagnostics[walk->next_diagnostic].line;
        next = line < next ? line : next;
    }
    if (page->all_lines && walk->line < text_lines(page) && walk->line + 1 < next) {
        next = walk->line + 1;
    }
    return next;
}

// A line that is not at hand is known from its diagnostic.
static struct nvtxt_slice text_of(const struct walk *walk) {
    if (walk->line > 0 && walk->line <= text_lines(walk->page)) {
        return walk->page->text->lines[walk->line - 1];
    }
    bool has = walk->diagnostic_count > 0 && walk->diagnostics[0].excerpt.data;
    return has ? walk->diagnostics[0].excerpt : (struct nvtxt_slice){"", 0};
}

static bool step(struct walk *walk) {
    const struct report_source_page *page = walk->page;
    const struct report_source *source = page->source;
    int64_t line = next_line(walk);
    if (line == INT64_MAX) {
        return false;
    }
    walk->line = line;
    walk->cells = page->cells + walk->next_cell;
    walk->cell_count = walk->diagnostic_count = 0;
    while (walk->next_cell < page->cell_count && page->cells[walk->next_cell].line == line) {
        walk->next_cell++;
        walk->cell_count++;
    }
    walk->diagnostics = source->diagnostics ? source->diagnostics + walk->next_diagnostic : NULL;
    while (walk->next_diagnostic < source->diagnostic_count &&
           source->diagnostics[walk->next_diagnostic].line <= line) {
        walk->next_diagnostic++;
        walk->diagnostic_count++;
    }
    walk->text = text_of(walk);
    return true;
}

bool report_source_page_is_empty(const struct report_source_page *page) {
    struct walk walk = {.page = page};
    return !step(&walk);
}

// ---- JSON ---------------------------------------------------------------------------------------

void report_render_diagnostics_json(struct report_json *json, const char *name,
                                    const struct report_diagnostic *diagnostics, size_t count) {
    report_json_array(json, name);
    for (size_t i = 0; i < count; i++) {
        const struct report_diagnostic *diagnostic = &diagnostics[i];
        report_json_object(json, NULL);
        report_json_int(json, "line", diagnostic->line);
        report_json_int(json, "column", diagnostic->column);
        report_json_slice(json, "severity", diagnostic->severity);
        report_json_slice(json, "stage", diagnostic->stage);
        report_json_slice(json, "code", diagnostic->code);
        report_json_slice(json, "message", diagnostic->message);
        report_json_slice(json, "excerpt", diagnostic->excerpt);
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

// The value in a column of the line; empty where there is none.
static struct report_cell cell_at(const struct walk *walk, size_t column) {
    for (size_t i = 0; i < walk->cell_count; i++) {
        if (walk->cells[i].column == column) {
            return report_value_cell(walk->cells[i].value);
        }
    }
    return (struct report_cell){0};
}

static void line_json(struct report_json *json, const struct walk *walk) {
    report_json_object(json, NULL);
    report_json_int(json, "line", walk->line);
    report_json_slice(json, "text", walk->text);
    report_json_array(json, "values");
    for (size_t i = 0; i < walk->page->column_count; i++) {
        const struct report_cell cell = cell_at(walk, i);
        report_json_cell(json, NULL, &cell);
    }
    report_json_end_array(json);
    report_render_diagnostics_json(json, "diagnostics", walk->diagnostics, walk->diagnostic_count);
    report_json_end_object(json);
}

void report_source_page_json(struct report_json *json, const struct report_source_page *page) {
    struct walk walk = {.page = page};
    report_json_object(json, NULL);
    report_json_int(json, "source", page->source->id);
    report_json_slice(json, "name", source_label(page->source));
    report_json_array(json, "columns");
    for (size_t i = 0; i < page->column_count; i++) {
        const struct report_shown_metric *column = &page->columns[i];
        report_json_object(json, NULL);
        report_json_text(json, "label", column->label);
        report_json_text(json, "name", column->metric.name);
        report_json_text(json, "unit", column->metric.unit);
        report_json_end_object(json);
    }
    report_json_end_array(json);
    report_json_array(json, "lines");
    while (step(&walk) && json->out->error == 0) {
        line_json(json, &walk);
    }
    report_json_end_array(json);
    report_json_end_object(json);
}

// ---- Tables -------------------------------------------------------------------------------------

// Times have their unit in the title.
static const char *title_of(struct report_table *table, const struct report_shown_metric *column) {
    static const char ns[] = " (ns)";
    const char *label = report_shown_label(column);
    size_t len = strlen(label);
    if (strcmp(column->metric.unit, "ns") != 0) {
        return label;
    }
    char *title = store_arena_take(&table->arena, len + sizeof(ns), 1);
    if (title) {
        memcpy(title, label, len);
        memcpy(title + len, ns, sizeof(ns));
    }
    return title;
}

int report_source_page_columns(struct report_table *table, const struct report_source_page *page,
                               const char *name, bool with_file) {
    size_t count = page->column_count + 2 + with_file;
    size_t at = 0;
    report_table_init(table, name, NULL, 0);
    struct report_column *columns = report_table_columns(table, count);
    if (!columns) {
        return nvtxt_origin(-ENOMEM);
    }
    if (with_file) {
        columns[at++] = (struct report_column){"File", REPORT_COLUMN_TEXT};
    }
    columns[at++] = (struct report_column){"Line", REPORT_COLUMN_ID};
    for (size_t i = 0; i < page->column_count; i++) {
        const char *title = title_of(table, &page->columns[i]);
        if (!title) {
            return nvtxt_origin(-ENOMEM);
        }
        columns[at++] = (struct report_column){title, page->columns[i].metric.type == REPORT_STRING
                                                          ? REPORT_COLUMN_TEXT
                                                          : REPORT_COLUMN_NUMBER};
    }
    columns[at] = (struct report_column){"Source", REPORT_COLUMN_TEXT};
    return 0;
}

int report_source_page_rows(struct report_table *table, const struct report_source_page *page,
                            bool with_file) {
    struct walk walk = {.page = page};
    while (step(&walk)) {
        struct report_cell *cells = report_table_row(table);
        if (!cells) {
            return nvtxt_origin(-ENOMEM);
        }
        if (with_file) {
            *cells++ = report_cell_text(source_label(page->source));
        }
        *cells++ = report_cell_int(walk.line);
        for (size_t i = 0; i < page->column_count; i++) {
            *cells++ = cell_at(&walk, i);
        }
        *cells = with_file ? report_cell_copy(table, walk.text) : report_cell_text(walk.text);
    }
    return 0;
}

void report_source_page_diagnostics(struct nvtxt_out *out, const struct report_source_page *page,
                                    bool full_names) {
    const struct report_source *source = page->source;
    for (size_t i = 0; i < source->diagnostic_count; i++) {
        const struct report_diagnostic *diagnostic = &source->diagnostics[i];
        report_plain_name(out, source_label(source), full_names);
        nvtxt_out_format(out, ":%" PRId64 ":%" PRId64 ": ", diagnostic->line, diagnostic->column);
        report_plain_text(out, diagnostic->severity);
        NVTXT_OUT_LITERAL(out, ": ");
        report_plain_text(out, diagnostic->message);
        NVTXT_OUT_LITERAL(out, " [");
        report_plain_text(out, diagnostic->code);
        NVTXT_OUT_LITERAL(out, "]\n");
    }
}
