// SPDX-License-Identifier: Apache-2.0
//
// In text each rule has a line with its status; its messages follow, each with what belongs to it.
// Links are shown as their text.
#include "report/render/render_rule.h"

#include <math.h>
#include <string.h>

#include "protocol/base/chars.h"
#include "protocol/text/out.h"
#include "report/rule/links.h"

// ---- Pieces -----------------------------------------------------------------------------------

// One line of text: control characters become blanks.
static void put_plain(struct nvtxt_out *out, struct nvtxt_slice text) {
    char before = ' ';
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.data[i];
        char after = i + 1 < text.len ? text.data[i + 1] : ' ';
        if (nvtxt_is_control(before, byte, after)) {
            NVTXT_OUT_LITERAL(out, " ");
        } else {
            nvtxt_out_bytes(out, &byte, 1);
        }
        before = byte;
    }
}

// The same with a backslash before what Markdown reads as more than text.
static void put_markdown(struct nvtxt_out *out, struct nvtxt_slice text) {
    for (size_t i = 0, from = 0; i <= text.len; i++) {
        bool end = i == text.len;
        if (end || strchr("\\`*_[]<>|", text.data[i])) {
            put_plain(out, (struct nvtxt_slice){text.data + from, i - from});
            from = i;
            if (!end) {
                NVTXT_OUT_LITERAL(out, "\\");
            }
        }
    }
}

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
    case REPORT_CELL_INT:
        nvtxt_out_int(out, cell->number);
        break;
    case REPORT_CELL_REAL:
        put_real(out, cell->real);
        break;
    case REPORT_CELL_TEXT:
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

// ---- Text -------------------------------------------------------------------------------------

static void text_table(struct nvtxt_out *out, const struct report_rule_table *table) {
    if (table->title.len > 0) {
        NVTXT_OUT_LITERAL(out, "      ");
        put_linked(out, table->title, put_plain);
        NVTXT_OUT_LITERAL(out, "\n");
    }
    if (table->description.len > 0) {
        NVTXT_OUT_LITERAL(out, "      ");
        put_linked(out, table->description, put_plain);
        NVTXT_OUT_LITERAL(out, "\n");
    }
    NVTXT_OUT_LITERAL(out, "      ");
    for (size_t i = 0; i < table->column_count; i++) {
        put_string(out, i > 0 ? "  " : "");
        put_plain(out, table->header[i]);
    }
    NVTXT_OUT_LITERAL(out, "\n");
    for (size_t row = 0; row < table->row_count; row++) {
        NVTXT_OUT_LITERAL(out, "      ");
        for (size_t i = 0; i < table->column_count; i++) {
            put_string(out, i > 0 ? "  " : "");
            put_cell(out, &table->cells[row * table->column_count + i], put_plain);
        }
        NVTXT_OUT_LITERAL(out, "\n");
    }
}

static void text_speedup(struct nvtxt_out *out, const struct report_speedup *speedup) {
    NVTXT_OUT_LITERAL(out, "      Estimated speedup: ");
    put_real(out, round(speedup->percent * 10) / 10);
    put_string(out, speedup->global ? " % of the whole (global)\n"
                                    : " % of this range in isolation (local)\n");
}

static void text_focus(struct nvtxt_out *out, const struct report_focus_metric *focus) {
    NVTXT_OUT_LITERAL(out, "      Key metric: ");
    put_plain(out, focus->name);
    NVTXT_OUT_LITERAL(out, " = ");
    if (focus->has_value) {
        put_value(out, &focus->value, put_plain);
    } else {
        NVTXT_OUT_LITERAL(out, "N/A");
    }
    if (focus->severity != REPORT_SEVERITY_DEFAULT) {
        NVTXT_OUT_LITERAL(out, " (severity ");
        put_string(out, report_severity_name(focus->severity));
        NVTXT_OUT_LITERAL(out, ")");
    }
    if (focus->info.len > 0) {
        NVTXT_OUT_LITERAL(out, ": ");
        put_linked(out, focus->info, put_plain);
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

static void text_message(struct nvtxt_out *out, const struct report_result *result, size_t id,
                         bool details) {
    const struct report_message *message = &result->messages[id];
    NVTXT_OUT_LITERAL(out, "    ");
    put_string(out, report_level_name(message->level));
    NVTXT_OUT_LITERAL(out, ": ");
    if (message->title.len > 0) {
        put_linked(out, message->title, put_plain);
        NVTXT_OUT_LITERAL(out, ": ");
    }
    put_linked(out, message->text, put_plain);
    NVTXT_OUT_LITERAL(out, "\n");
    for (size_t i = 0; i < result->speedup_count; i++) {
        if (result->speedups[i].message == id) {
            text_speedup(out, &result->speedups[i]);
        }
    }
    for (size_t i = 0; i < result->marker_count; i++) {
        const struct report_source_marker *marker = &result->markers[i];
        if (marker->message == id) {
            NVTXT_OUT_LITERAL(out, "      ");
            put_plain(out, marker->file);
            NVTXT_OUT_LITERAL(out, ":");
            nvtxt_out_uint(out, marker->line);
            NVTXT_OUT_LITERAL(out, ": ");
            put_linked(out, marker->text, put_plain);
            NVTXT_OUT_LITERAL(out, "\n");
        }
    }
    for (size_t i = 0; details && i < result->focus_count; i++) {
        if (result->focus[i].message == id) {
            text_focus(out, &result->focus[i]);
        }
    }
    for (size_t i = 0; i < result->table_count; i++) {
        if (result->tables[i].message == id) {
            text_table(out, &result->tables[i]);
        }
    }
}

// The lines of what a rule printed, each with blanks before it.
static void text_output(struct nvtxt_out *out, struct nvtxt_slice text) {
    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        size_t len = end ? (size_t)(end - text.data) : text.len;
        NVTXT_OUT_LITERAL(out, "    | ");
        put_plain(out, (struct nvtxt_slice){text.data, len});
        NVTXT_OUT_LITERAL(out, "\n");
        len += end != NULL;
        text = (struct nvtxt_slice){text.data + len, text.len - len};
    }
}

void report_render_rule_text(struct nvtxt_out *out, const struct report_result *result,
                             bool details) {
    NVTXT_OUT_LITERAL(out, "  ");
    put_plain(out, result->identifier);
    NVTXT_OUT_LITERAL(out, ": ");
    put_status(out, result, put_plain);
    NVTXT_OUT_LITERAL(out, "\n");
    if (details) {
        NVTXT_OUT_LITERAL(out, "    ");
        put_plain(out, result->name);
        if (result->description.len > 0) {
            NVTXT_OUT_LITERAL(out, ": ");
            put_linked(out, result->description, put_plain);
        }
        NVTXT_OUT_LITERAL(out, "\n");
    }
    for (size_t id = 0; id < result->message_count; id++) {
        text_message(out, result, id, details);
    }
    if (details) {
        text_output(out, result->output);
    }
}

// ---- Markdown ---------------------------------------------------------------------------------

static void markdown_table(struct nvtxt_out *out, const struct report_rule_table *table) {
    NVTXT_OUT_LITERAL(out, "\n");
    if (table->title.len > 0) {
        put_linked(out, table->title, put_markdown);
        NVTXT_OUT_LITERAL(out, "\n\n");
    }
    NVTXT_OUT_LITERAL(out, "|");
    for (size_t i = 0; i < table->column_count; i++) {
        NVTXT_OUT_LITERAL(out, " ");
        put_markdown(out, table->header[i]);
        NVTXT_OUT_LITERAL(out, " |");
    }
    NVTXT_OUT_LITERAL(out, "\n|");
    for (size_t i = 0; i < table->column_count; i++) {
        NVTXT_OUT_LITERAL(out, " --- |");
    }
    NVTXT_OUT_LITERAL(out, "\n");
    for (size_t row = 0; row < table->row_count; row++) {
        NVTXT_OUT_LITERAL(out, "|");
        for (size_t i = 0; i < table->column_count; i++) {
            NVTXT_OUT_LITERAL(out, " ");
            put_cell(out, &table->cells[row * table->column_count + i], put_markdown);
            NVTXT_OUT_LITERAL(out, " |");
        }
        NVTXT_OUT_LITERAL(out, "\n");
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

static void markdown_message(struct nvtxt_out *out, const struct report_result *result, size_t id) {
    const struct report_message *message = &result->messages[id];
    NVTXT_OUT_LITERAL(out, "  - ");
    put_string(out, report_level_name(message->level));
    NVTXT_OUT_LITERAL(out, ": ");
    if (message->title.len > 0) {
        NVTXT_OUT_LITERAL(out, "**");
        put_linked(out, message->title, put_markdown);
        NVTXT_OUT_LITERAL(out, "** ");
    }
    put_linked(out, message->text, put_markdown);
    for (size_t i = 0; i < result->speedup_count; i++) {
        if (result->speedups[i].message == id) {
            NVTXT_OUT_LITERAL(out, " Estimated speedup: ");
            put_real(out, round(result->speedups[i].percent * 10) / 10);
            put_string(out, result->speedups[i].global ? " % (global)." : " % (local).");
        }
    }
    NVTXT_OUT_LITERAL(out, "\n");
    for (size_t i = 0; i < result->table_count; i++) {
        if (result->tables[i].message == id) {
            markdown_table(out, &result->tables[i]);
        }
    }
}

void report_render_rule_markdown(struct nvtxt_out *out, const struct report_result *result,
                                 bool details) {
    NVTXT_OUT_LITERAL(out, "- **");
    put_markdown(out, result->identifier);
    NVTXT_OUT_LITERAL(out, "**: ");
    put_status(out, result, put_markdown);
    NVTXT_OUT_LITERAL(out, "\n");
    if (details && result->description.len > 0) {
        NVTXT_OUT_LITERAL(out, "\n  ");
        put_linked(out, result->description, put_markdown);
        NVTXT_OUT_LITERAL(out, "\n\n");
    }
    for (size_t id = 0; id < result->message_count; id++) {
        markdown_message(out, result, id);
    }
}
