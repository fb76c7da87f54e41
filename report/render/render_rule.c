// SPDX-License-Identifier: Apache-2.0
//
// In text each rule has a line with its status; its messages follow, each with what belongs to it.
// Links are shown as their text.
#include "report/render/render_rule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/text/out.h"
#include "report/render/kit/plain.h"
#include "report/rule/links.h"

// ---- Pieces -----------------------------------------------------------------------------------

typedef void put_fn(struct nvtxt_out *out, struct nvtxt_slice text);

static void put_linked(struct nvtxt_out *out, struct nvtxt_slice text, put_fn *put) {
    struct nvtxt_slice before;
    struct report_link link;
    while (report_link_next(&text, &before, &link)) {
        put(out, before);
        put(out, link.text);
    }
    put(out, before);
}

static void put_string(struct nvtxt_out *out, const char *string) {
    nvtxt_out_slice(out, nvtxt_slice_of(string));
}

static void put_real(struct nvtxt_out *out, double value) {
    if (!nvtxt_out_double(out, value)) {
        put_string(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    }
}

static void put_value(struct nvtxt_out *out, const struct report_value *value, put_fn *put) {
    switch (value->type) {
    case REPORT_U32:
    case REPORT_U64:
        nvtxt_out_uint(out, value->u64);
        break;
    case REPORT_STRING:
        put(out, value->string);
        break;
    default:
        put_real(out, value->real);
        break;
    }
}

static void put_cell(struct nvtxt_out *out, const struct report_rule_cell *cell, put_fn *put) {
    switch (cell->kind) {
    case REPORT_RULE_CELL_INT:
        nvtxt_out_int(out, cell->number);
        break;
    case REPORT_RULE_CELL_REAL:
        put_real(out, cell->real);
        break;
    case REPORT_RULE_CELL_TEXT:
        put_linked(out, cell->text, put);
        break;
    default:
        break;
    }
}

// "no issue", "not applicable": the words of the JSON with blanks.
static void put_status(struct nvtxt_out *out, const struct report_result *result, put_fn *put) {
    for (const char *at = report_rule_status_name(result->status); *at; at++) {
        nvtxt_out_bytes(out, *at == '-' ? " " : at, 1);
    }
    if (result->reason.data) {
        NVTXT_OUT_LITERAL(out, ": ");
        put(out, result->reason);
    }
}

// ---- What belongs to a message ------------------------------------------------------------------

// How a line begins, and how texts are written.
struct form {
    const char *begin;
    put_fn *put;
};

static void put_speedup(struct nvtxt_out *out, const struct form *form,
                        const struct report_speedup *speedup) {
    put_string(out, form->begin);
    NVTXT_OUT_LITERAL(out, "Estimated speedup: ");
    put_real(out, round(speedup->percent * 10) / 10);
    put_string(out, speedup->global ? " % of the whole (global)\n"
                                    : " % of this range in isolation (local)\n");
}

static void put_marker(struct nvtxt_out *out, const struct form *form,
                       const struct report_source_marker *marker) {
    put_string(out, form->begin);
    form->put(out, marker->file);
    NVTXT_OUT_LITERAL(out, ":");
    nvtxt_out_uint(out, marker->line);
    NVTXT_OUT_LITERAL(out, ": ");
    put_linked(out, marker->text, form->put);
    NVTXT_OUT_LITERAL(out, "\n");
}

static void put_focus(struct nvtxt_out *out, const struct form *form,
                      const struct report_focus_metric *focus) {
    put_string(out, form->begin);
    NVTXT_OUT_LITERAL(out, "Key metric: ");
    form->put(out, focus->name);
    NVTXT_OUT_LITERAL(out, " = ");
    if (focus->has_value) {
        put_value(out, &focus->value, form->put);
    } else {
        NVTXT_OUT_LITERAL(out, "N/A");
    }
    if (focus->severity != REPORT_FOCUS_DEFAULT) {
        NVTXT_OUT_LITERAL(out, " (severity ");
        put_string(out, report_focus_severity_name(focus->severity));
        NVTXT_OUT_LITERAL(out, ")");
    }
    if (focus->info.len > 0) {
        NVTXT_OUT_LITERAL(out, ": ");
        put_linked(out, focus->info, form->put);
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

// All but the tables.
static void put_belongings(struct nvtxt_out *out, const struct form *form,
                           const struct report_result *result, size_t id, bool details) {
    for (size_t i = 0; i < result->speedup_count; i++) {
        if (result->speedups[i].message == id) {
            put_speedup(out, form, &result->speedups[i]);
        }
    }
    for (size_t i = 0; i < result->marker_count; i++) {
        if (result->markers[i].message == id) {
            put_marker(out, form, &result->markers[i]);
        }
    }
    for (size_t i = 0; details && i < result->focus_count; i++) {
        if (result->focus[i].message == id) {
            put_focus(out, form, &result->focus[i]);
        }
    }
}

// The lines of what a rule printed, each after `begin`.
static void put_output(struct nvtxt_out *out, const char *begin, put_fn *put,
                       struct nvtxt_slice text) {
    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        size_t len = end ? (size_t)(end - text.data) : text.len;
        put_string(out, begin);
        put(out, (struct nvtxt_slice){text.data, len});
        NVTXT_OUT_LITERAL(out, "\n");
        len += end != NULL;
        text = (struct nvtxt_slice){text.data + len, text.len - len};
    }
}

// ---- Text -------------------------------------------------------------------------------------

// A cell as text in `scratch`, which is emptied before.
static struct nvtxt_slice cell_text(struct nvtxt_out *scratch,
                                    const struct report_rule_table *table, size_t row,
                                    size_t column) {
    scratch->len = 0;
    put_cell(scratch, &table->cells[row * table->column_count + column], report_plain_text);
    return (struct nvtxt_slice){scratch->data, scratch->len};
}

static bool is_number(const struct report_rule_cell *cell) {
    return cell->kind == REPORT_RULE_CELL_INT || cell->kind == REPORT_RULE_CELL_REAL;
}

static size_t column_width(struct nvtxt_out *scratch, const struct report_rule_table *table,
                           size_t column) {
    size_t width = report_plain_width(table->header[column]);
    for (size_t row = 0; row < table->row_count; row++) {
        width = report_plain_column(width, cell_text(scratch, table, row, column));
    }
    return width;
}

// Numbers stand at the right; nothing stands after the last column.
static void text_padded(struct nvtxt_out *out, struct nvtxt_slice text, size_t width, bool right,
                        bool last) {
    size_t own = report_plain_name_width(text);
    size_t blanks = width > own ? width - own : 0;
    report_plain_blanks(out, right ? blanks : 0);
    report_plain_name(out, text);
    report_plain_blanks(out, right || last ? 0 : blanks);
    nvtxt_out_slice(out, nvtxt_slice_of(last ? "\n" : "  "));
}

static void text_lines(struct nvtxt_out *out, struct nvtxt_out *scratch,
                       const struct report_rule_table *table, const size_t *widths) {
    size_t columns = table->column_count;
    report_plain_blanks(out, 6);
    for (size_t i = 0; i < columns; i++) {
        bool right = table->row_count > 0 && is_number(&table->cells[i]);
        text_padded(out, table->header[i], widths[i], right, i + 1 == columns);
    }
    for (size_t row = 0; row < table->row_count; row++) {
        report_plain_blanks(out, 6);
        for (size_t i = 0; i < columns; i++) {
            text_padded(out, cell_text(scratch, table, row, i), widths[i],
                        is_number(&table->cells[row * columns + i]), i + 1 == columns);
        }
    }
}

static void text_rows(struct nvtxt_out *out, const struct report_rule_table *table) {
    struct nvtxt_out scratch;
    size_t *widths = calloc(table->column_count + 1, sizeof(*widths));
    int r = nvtxt_out_init(&scratch, -1);
    if (!widths || r != 0) {
        out->error = out->error ? out->error : -ENOMEM;
    } else {
        for (size_t i = 0; i < table->column_count; i++) {
            widths[i] = column_width(&scratch, table, i);
        }
        text_lines(out, &scratch, table, widths);
        out->error = out->error ? out->error : scratch.error;
    }
    free(widths);
    nvtxt_out_deinit(&scratch);
}

static void text_table(struct nvtxt_out *out, const struct report_rule_table *table) {
    if (table->title.len > 0) {
        NVTXT_OUT_LITERAL(out, "      ");
        put_linked(out, table->title, report_plain_text);
        NVTXT_OUT_LITERAL(out, "\n");
    }
    if (table->description.len > 0) {
        NVTXT_OUT_LITERAL(out, "      ");
        put_linked(out, table->description, report_plain_text);
        NVTXT_OUT_LITERAL(out, "\n");
    }
    text_rows(out, table);
}

static void text_message(struct nvtxt_out *out, const struct report_result *result, size_t id,
                         bool details) {
    static const struct form form = {"      ", report_plain_text};
    const struct report_message *message = &result->messages[id];
    NVTXT_OUT_LITERAL(out, "    ");
    put_string(out, report_level_name(message->level));
    NVTXT_OUT_LITERAL(out, ": ");
    if (message->title.len > 0) {
        put_linked(out, message->title, report_plain_text);
        NVTXT_OUT_LITERAL(out, ": ");
    }
    put_linked(out, message->text, report_plain_text);
    NVTXT_OUT_LITERAL(out, "\n");
    put_belongings(out, &form, result, id, details);
    for (size_t i = 0; i < result->table_count; i++) {
        if (result->tables[i].message == id) {
            text_table(out, &result->tables[i]);
        }
    }
}

void report_render_rule_text(struct nvtxt_out *out, const struct report_result *result,
                             bool details) {
    NVTXT_OUT_LITERAL(out, "  ");
    report_plain_text(out, result->identifier);
    NVTXT_OUT_LITERAL(out, ": ");
    put_status(out, result, report_plain_text);
    NVTXT_OUT_LITERAL(out, "\n");
    if (details) {
        NVTXT_OUT_LITERAL(out, "    ");
        report_plain_text(out, result->name);
        if (result->description.len > 0) {
            NVTXT_OUT_LITERAL(out, ": ");
            put_linked(out, result->description, report_plain_text);
        }
        NVTXT_OUT_LITERAL(out, "\n");
    }
    for (size_t id = 0; id < result->message_count; id++) {
        text_message(out, result, id, details);
    }
    if (details) {
        put_output(out, "    | ", report_plain_text, result->output);
    }
}

// ---- Markdown ---------------------------------------------------------------------------------

// Below a message: 4 blanks.
static void markdown_rows(struct nvtxt_out *out, const struct report_rule_table *table) {
    NVTXT_OUT_LITERAL(out, "    |");
    for (size_t i = 0; i < table->column_count; i++) {
        NVTXT_OUT_LITERAL(out, " ");
        report_plain_markdown(out, table->header[i]);
        NVTXT_OUT_LITERAL(out, " |");
    }
    NVTXT_OUT_LITERAL(out, "\n    |");
    for (size_t i = 0; i < table->column_count; i++) {
        NVTXT_OUT_LITERAL(out, " --- |");
    }
    NVTXT_OUT_LITERAL(out, "\n");
    for (size_t row = 0; row < table->row_count; row++) {
        NVTXT_OUT_LITERAL(out, "    |");
        for (size_t i = 0; i < table->column_count; i++) {
            NVTXT_OUT_LITERAL(out, " ");
            put_cell(out, &table->cells[row * table->column_count + i], report_plain_markdown);
            NVTXT_OUT_LITERAL(out, " |");
        }
        NVTXT_OUT_LITERAL(out, "\n");
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

static void markdown_paragraph(struct nvtxt_out *out, const char *begin, struct nvtxt_slice text) {
    if (text.len > 0) {
        put_string(out, begin);
        put_linked(out, text, report_plain_markdown);
        NVTXT_OUT_LITERAL(out, "\n\n");
    }
}

static void markdown_message(struct nvtxt_out *out, const struct report_result *result, size_t id) {
    static const struct form form = {"    - ", report_plain_markdown};
    const struct report_message *message = &result->messages[id];
    NVTXT_OUT_LITERAL(out, "  - ");
    put_string(out, report_level_name(message->level));
    NVTXT_OUT_LITERAL(out, ": ");
    if (message->title.len > 0) {
        NVTXT_OUT_LITERAL(out, "**");
        put_linked(out, message->title, report_plain_markdown);
        NVTXT_OUT_LITERAL(out, "** ");
    }
    put_linked(out, message->text, report_plain_markdown);
    NVTXT_OUT_LITERAL(out, "\n");
    put_belongings(out, &form, result, id, true);
    for (size_t i = 0; i < result->table_count; i++) {
        if (result->tables[i].message == id) {
            NVTXT_OUT_LITERAL(out, "\n");
            markdown_paragraph(out, "    ", result->tables[i].title);
            markdown_paragraph(out, "    ", result->tables[i].description);
            markdown_rows(out, &result->tables[i]);
        }
    }
}

void report_render_rule_markdown(struct nvtxt_out *out, const struct report_result *result) {
    NVTXT_OUT_LITERAL(out, "- **");
    report_plain_markdown(out, result->identifier);
    NVTXT_OUT_LITERAL(out, "**: ");
    put_status(out, result, report_plain_markdown);
    NVTXT_OUT_LITERAL(out, "\n\n  ");
    report_plain_markdown(out, result->name);
    NVTXT_OUT_LITERAL(out, "\n\n");
    markdown_paragraph(out, "  ", result->description);
    for (size_t id = 0; id < result->message_count; id++) {
        markdown_message(out, result, id);
    }
    if (result->output.len > 0) {
        NVTXT_OUT_LITERAL(out, "\n");
        put_output(out, "      ", report_plain_text, result->output); // a block of code
    }
}
