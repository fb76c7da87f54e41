// SPDX-License-Identifier: Apache-2.0
//
// In text each rule has a line with its status; its messages follow, each with what belongs to it.
// Links are shown as their text.
#include "report/render/render.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "protocol/text/out.h"
#include "report/render/render_metric.h"
#include "report/render/render_section.h"
#include "report/table/links.h"
#include "report/table/number.h"
#include "report/table/plain.h"

// ---- Pieces -----------------------------------------------------------------------------------

typedef void put_fn(struct nvtxt_out *out, struct nvtxt_slice text);

static void put_string(struct nvtxt_out *out, const char *string) {
    nvtxt_out_slice(out, nvtxt_slice_of(string));
}

static void put_linked(struct nvtxt_out *out, const char *before, struct nvtxt_slice text,
                       put_fn *put, const char *after) {
    put_string(out, before);
    report_link_write(out, text, put);
    put_string(out, after);
}

enum report_style report_level_style(enum report_level level) {
    return level == REPORT_LEVEL_ERROR          ? REPORT_STYLE_RED
           : level == REPORT_LEVEL_WARNING      ? REPORT_STYLE_YELLOW
           : level == REPORT_LEVEL_OPTIMIZATION ? REPORT_STYLE_BLUE
                                                : REPORT_STYLE_NONE;
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
    report_number_write(out, round(speedup->percent * 10) / 10);
    put_string(out, speedup->global ? " % of the whole (global)\n"
                                    : " % of this range in isolation (local)\n");
}

static void put_marker(struct nvtxt_out *out, const struct form *form,
                       const struct report_source_marker *marker) {
    put_string(out, form->begin);
    if (marker->message == REPORT_NO_MESSAGE && marker->level != REPORT_LEVEL_NONE) {
        nvtxt_out_format(out, "%s: ", report_level_name(marker->level));
    }
    form->put(out, marker->file);
    nvtxt_out_format(out, "%s%" PRIu64 ": ", report_marker_joint(marker), marker->line);
    put_linked(out, "", marker->text, form->put, "\n");
}

static void put_focus(struct nvtxt_out *out, const struct form *form,
                      const struct report_focus_metric *focus) {
    put_string(out, form->begin);
    NVTXT_OUT_LITERAL(out, "Key metric: ");
    form->put(out, focus->name);
    NVTXT_OUT_LITERAL(out, " = ");
    if (focus->has_value) {
        const struct report_cell cell = report_value_cell(&focus->value);
        report_cell_write(out, &cell, form->put);
    } else {
        NVTXT_OUT_LITERAL(out, "N/A");
    }
    if (focus->severity != REPORT_FOCUS_DEFAULT) {
        nvtxt_out_format(out, " (severity %s)", report_focus_severity_name(focus->severity));
    }
    if (focus->info.len > 0) {
        NVTXT_OUT_LITERAL(out, ": ");
        report_link_write(out, focus->info, form->put);
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

static void put_markers(struct nvtxt_out *out, const struct form *form,
                        const struct report_result *result, size_t id) {
    for (size_t i = 0; i < result->marker_count; i++) {
        if (result->markers[i].message == id) {
            put_marker(out, form, &result->markers[i]);
        }
    }
}

// All but the tables.
static void put_belongings(struct nvtxt_out *out, const struct form *form,
                           const struct report_result *result, size_t id, bool details) {
    for (size_t i = 0; i < result->speedup_count; i++) {
        if (result->speedups[i].message == id) {
            put_speedup(out, form, &result->speedups[i]);
        }
    }
    put_markers(out, form, result, id);
    for (size_t i = 0; details && i < result->focus_count; i++) {
        if (result->focus[i].message == id) {
            put_focus(out, form, &result->focus[i]);
        }
    }
}

// The rules that would say more.
static void put_proposals(struct nvtxt_out *out, const struct form *form,
                          const struct report_result *result) {
    for (size_t i = 0; i < result->proposal_count; i++) {
        put_string(out, i == 0 ? form->begin : ", ");
        put_string(out, i == 0 ? "See also: " : "");
        form->put(out, result->proposals[i]);
    }
    put_string(out, result->proposal_count > 0 ? "\n" : "");
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

static void put_chart(struct nvtxt_out *out, const struct report_rule_table *table, size_t indent,
                      bool markdown, bool full_names) {
    int r = report_render_chart(out, table->chart, indent, markdown, full_names);
    out->error = out->error ?: r;
}

static void text_table(struct nvtxt_out *out, const struct report_rule_table *table,
                       bool full_names, size_t limit) {
    const struct report_table_view view = {
        .place = REPORT_TABLE_WITHIN, .indent = 6, .limit = limit, .full_names = full_names};
    if (table->title.len > 0) {
        put_linked(out, "      ", table->title, report_plain_text, "\n");
    }
    if (table->description.len > 0) {
        put_linked(out, "      ", table->description, report_plain_text, "\n");
    }
    if (table->chart) {
        put_chart(out, table, view.indent, false, full_names);
    } else {
        report_table_text(out, &table->table, &view);
    }
}

static void text_message(struct nvtxt_out *out, const struct report_result *result, size_t id,
                         bool details, bool full_names, size_t limit) {
    static const struct form form = {"      ", report_plain_text};
    const struct report_rule_message *message = &result->messages[id];
    NVTXT_OUT_LITERAL(out, "    ");
    report_screen_styled(out, report_level_style(message->level),
                         report_level_word(message->level));
    NVTXT_OUT_LITERAL(out, ": ");
    if (message->title.len > 0) {
        report_link_write(out, message->title, report_plain_text);
        NVTXT_OUT_LITERAL(out, ": ");
    }
    report_link_write(out, message->text, report_plain_text);
    NVTXT_OUT_LITERAL(out, "\n");
    put_belongings(out, &form, result, id, details);
    for (size_t i = 0; i < result->table_count; i++) {
        if (result->tables[i].message == id) {
            text_table(out, &result->tables[i], full_names, limit);
        }
    }
}

void report_render_rule_text(struct nvtxt_out *out, const struct report_result *result,
                             bool details, bool full_names, size_t limit) {
    static const struct form form = {"    ", report_plain_text};
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
            report_link_write(out, result->description, report_plain_text);
        }
        NVTXT_OUT_LITERAL(out, "\n");
    }
    for (size_t id = 0; id < result->message_count; id++) {
        text_message(out, result, id, details, full_names, limit);
    }
    put_markers(out, &form, result, REPORT_NO_MESSAGE);
    put_proposals(out, &form, result);
    if (details) {
        put_output(out, "    | ", report_plain_text, result->output);
    }
}

// ---- Markdown ---------------------------------------------------------------------------------

static void markdown_paragraph(struct nvtxt_out *out, const char *begin, struct nvtxt_slice text) {
    if (text.len > 0) {
        put_linked(out, begin, text, report_plain_markdown, "\n\n");
    }
}

static void markdown_message(struct nvtxt_out *out, const struct report_result *result, size_t id,
                             size_t limit) {
    static const struct form form = {"    - ", report_plain_markdown};
    const struct report_table_view view = {
        .place = REPORT_TABLE_WITHIN, .indent = 4, .limit = limit};
    const struct report_rule_message *message = &result->messages[id];
    nvtxt_out_format(out, "  - %s: ", report_level_word(message->level));
    if (message->title.len > 0) {
        put_linked(out, "**", message->title, report_plain_markdown, "** ");
    }
    report_link_write(out, message->text, report_plain_markdown);
    NVTXT_OUT_LITERAL(out, "\n");
    put_belongings(out, &form, result, id, true);
    for (size_t i = 0; i < result->table_count; i++) {
        if (result->tables[i].message == id) {
            NVTXT_OUT_LITERAL(out, "\n");
            markdown_paragraph(out, "    ", result->tables[i].title);
            markdown_paragraph(out, "    ", result->tables[i].description);
            if (result->tables[i].chart) {
                put_chart(out, &result->tables[i], view.indent, true, true);
            } else {
                report_table_markdown(out, &result->tables[i].table, &view);
            }
            NVTXT_OUT_LITERAL(out, "\n");
        }
    }
}

void report_render_rule_markdown(struct nvtxt_out *out, const struct report_result *result,
                                 size_t limit) {
    static const struct form form = {"  - ", report_plain_markdown};
    NVTXT_OUT_LITERAL(out, "- **");
    report_plain_markdown(out, result->identifier);
    NVTXT_OUT_LITERAL(out, "**: ");
    put_status(out, result, report_plain_markdown);
    NVTXT_OUT_LITERAL(out, "\n\n  ");
    report_plain_markdown(out, result->name);
    NVTXT_OUT_LITERAL(out, "\n\n");
    markdown_paragraph(out, "  ", result->description);
    for (size_t id = 0; id < result->message_count; id++) {
        markdown_message(out, result, id, limit);
    }
    put_markers(out, &form, result, REPORT_NO_MESSAGE);
    put_proposals(out, &form, result);
    if (result->output.len > 0) {
        NVTXT_OUT_LITERAL(out, "\n");
        put_output(out, "      ", report_plain_text, result->output); // a block of code
    }
}

void report_render_rules_off(struct nvtxt_out *out, bool markdown) {
    nvtxt_out_slice(out, markdown ? NVTXT_SLICE("\n## Rules\n\n" REPORT_RULES_OFF "\n")
                                  : NVTXT_SLICE("\nRules: " REPORT_RULES_OFF "\n"));
}

// ---- The rules of a section ---------------------------------------------------------------------

void report_render_rules(struct nvtxt_out *out, const struct report_results *results,
                         struct nvtxt_slice section, const struct report_section_view *view) {
    if (report_results_off(results)) {
        return; // report_render_other_rules() says it once
    }
    for (size_t i = 0; i < results->count; i++) {
        const struct report_result *result = &results->results[i];
        if (!result->section.data != !section.data ||
            !nvtxt_slice_equal(result->section, section)) {
            continue;
        }
        if (view->markdown) {
            report_render_rule_markdown(out, result, view->limit);
        } else {
            report_render_rule_text(out, result, view->rule_details, view->full_names, view->limit);
        }
    }
}

void report_render_other_rules(struct nvtxt_out *out, const struct report_results *results,
                               const struct report_section_view *view) {
    if (report_results_off(results)) {
        report_render_rules_off(out, view->markdown);
        return;
    }
    bool any = false;
    for (size_t i = 0; i < results->count; i++) {
        any |= !results->results[i].section.data;
    }
    if (any) {
        nvtxt_out_slice(out, view->markdown ? NVTXT_SLICE("\n## Rules\n\n")
                                            : NVTXT_SLICE("\nRules without a section\n"));
        report_render_rules(out, results, (struct nvtxt_slice){0}, view);
    }
}
