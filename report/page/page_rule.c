// SPDX-License-Identifier: Apache-2.0
//
// Articles are written level by level, so that nothing has to be sorted.
#include "report/page/page_rule.h"

#include <math.h>

#include "report/page/html.h"
#include "report/page/page_links.h"
#include "report/render/render_metric.h"

// ---- What belongs to a message ------------------------------------------------------------------

static void put_speedups(struct nvtxt_out *out, const struct report_result *result,
                         size_t message) {
    for (size_t i = 0; i < result->speedup_count; i++) {
        const struct report_speedup *of = &result->speedups[i];
        if (of->message == message) {
            page_raw(out, "<p class=\"speedup\">Estimated saving: ");
            nvtxt_out_double(out, round(of->percent * 10) / 10);
            page_raw(out,
                     of->global ? " % of the whole</p>\n" : " % of this range in isolation</p>\n");
        }
    }
}

static void put_focus(struct nvtxt_out *out, const struct report_result *result, size_t message) {
    static const char *const titles[] = {"Metric", "Value", "Severity", "Why", NULL};
    bool any = false;
    for (size_t i = 0; i < result->focus_count; i++) {
        const struct report_focus_metric *of = &result->focus[i];
        char value[REPORT_VALUE_TEXT] = "";
        if (of->message != message) {
            continue;
        }
        if (!any) {
            page_begin_table(out, "Focus metrics", "focus", titles);
        }
        any = true;
        page_raw(out, "<tr>");
        page_cell(out, "td", of->name);
        page_cell(out, "td",
                  nvtxt_slice_of(of->has_value ? report_render_value(value, &of->value, "", true)
                                               : "N/A"));
        page_cell(out, "td", nvtxt_slice_of(report_focus_severity_name(of->severity)));
        page_cell(out, "td", of->info);
        page_raw(out, "</tr>\n");
    }
    if (any) {
        page_end_table(out);
    }
}

static void put_cell(struct nvtxt_out *out, const struct report_page *page,
                     const struct report_rule_cell *cell) {
    bool is_text = cell->kind == REPORT_RULE_CELL_TEXT;
    page_raw(out, is_text ? "<td>" : "<td class=\"n\">");
    if (is_text) {
        page_links(out, page, cell->text);
    } else if (cell->kind == REPORT_RULE_CELL_INT) {
        nvtxt_out_int(out, cell->number);
    } else if (cell->kind == REPORT_RULE_CELL_REAL) {
        nvtxt_out_double(out, cell->real);
    }
    page_raw(out, "</td>");
}

static void put_table(struct nvtxt_out *out, const struct report_page *page,
                      const struct report_rule_table *table) {
    page_begin_region(out, "Table", NULL);
    if (table->title.data && table->title.len > 0) {
        page_raw(out, "<caption>");
        page_links(out, page, table->title);
        page_raw(out, "</caption>");
    }
    page_raw(out, "<thead><tr>");
    for (size_t i = 0; i < table->column_count; i++) {
        page_raw(out, "<th scope=\"col\">");
        page_name(out, table->header[i]);
        page_raw(out, "</th>");
    }
    page_raw(out, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < table->row_count; row++) {
        page_raw(out, "<tr>");
        for (size_t i = 0; i < table->column_count; i++) {
            put_cell(out, page, &table->cells[row * table->column_count + i]);
        }
        page_raw(out, "</tr>\n");
    }
    page_end_table(out);
    if (table->description.data && table->description.len > 0) {
        page_raw(out, "<p>");
        page_links(out, page, table->description);
        page_raw(out, "</p>\n");
    }
}

static void put_markers(struct nvtxt_out *out, const struct report_page *page,
                        const struct report_result *result, size_t message) {
    bool any = false;
    for (size_t i = 0; i < result->marker_count; i++) {
        const struct report_source_marker *of = &result->markers[i];
        if (of->message != message) {
            continue;
        }
        page_raw(out, any ? "<li>" : "<ul>\n<li>");
        any = true;
        page_name(out, of->file);
        page_raw(out, ":");
        nvtxt_out_uint(out, of->line);
        page_raw(out, ": ");
        page_links(out, page, of->text);
        page_raw(out, "</li>\n");
    }
    page_raw(out, any ? "</ul>\n" : "");
}

static void put_message(struct nvtxt_out *out, const struct report_page *page,
                        const struct report_result *result, size_t id) {
    const struct report_message *message = &result->messages[id];
    const char *level = report_level_name(message->level);
    page_raw(out, "<div class=\"message ");
    page_raw(out, level);
    page_raw(out, "\"");
    page_attribute(out, "data-type", nvtxt_slice_of(level));
    page_raw(out, "><p><strong>");
    page_raw(out, level);
    if (message->title.len > 0) {
        page_raw(out, ": ");
        page_links(out, page, message->title);
    }
    page_raw(out, "</strong> ");
    page_links(out, page, message->text);
    page_raw(out, "</p>\n");
    put_speedups(out, result, id);
    put_focus(out, result, id);
    for (size_t i = 0; i < result->table_count; i++) {
        if (result->tables[i].message == id) {
            put_table(out, page, &result->tables[i]);
        }
    }
    put_markers(out, page, result, id);
    page_raw(out, "</div>\n");
}

// ---- Articles -----------------------------------------------------------------------------------

// What stands beside the name: the level of what was found, or why nothing was.
static void put_status(struct nvtxt_out *out, const struct report_result *result) {
    page_raw(out, "<p class=\"status\">");
    page_raw(out, result->status == REPORT_RULE_FINDINGS
                      ? report_level_name(report_result_worst(result))
                      : report_rule_status_name(result->status));
    if (result->reason.data) {
        page_raw(out, ": ");
        page_name(out, result->reason);
    }
    page_raw(out, "</p>\n");
}

// A rule that has nothing to say takes one line.
static bool is_quiet(const struct report_result *result) {
    return result->message_count == 0 && result->output.len == 0 &&
           result->status != REPORT_RULE_FAILED;
}

static void put_article(struct nvtxt_out *out, const struct report_page *page,
                        const struct report_result *result) {
    const char *status = report_rule_status_name(result->status);
    enum report_level worst = report_result_worst(result);
    page_raw(out, "<article class=\"");
    page_raw(out, result->status == REPORT_RULE_FAILED ? "error" : report_level_name(worst));
    page_raw(out, is_quiet(result) ? " quiet" : "");
    page_raw(out, "\"");
    page_attribute(out, "data-rule", result->identifier);
    page_attribute(out, "data-status", nvtxt_slice_of(status));
    page_raw(out, " id=\"rule-");
    page_text(out, result->identifier);
    page_raw(out, "\"><h3>");
    page_name(out, result->name);
    page_raw(out, "</h3>\n");
    put_status(out, result);
    if (result->description.len > 0) {
        page_raw(out, "<p class=\"description\">");
        page_name(out, result->description);
        page_raw(out, "</p>\n");
    }
    for (size_t i = 0; i < result->message_count; i++) {
        put_message(out, page, result, i);
    }
    if (result->output.len > 0) {
        page_raw(out, "<details open><summary>What it printed</summary><pre>");
        page_name(out, result->output);
        page_raw(out, "</pre></details>\n");
    }
    page_raw(out, "</article>\n");
}

// In the order of the page.
enum group { ERRORS, WARNINGS, OPTIMIZATIONS, FAILED, FINE, NOT_APPLICABLE, NOT_RUN, GROUPS };

static enum group group_of(const struct report_result *result) {
    switch (result->status) {
    case REPORT_RULE_FINDINGS:
        break;
    case REPORT_RULE_NO_ISSUE:
        return FINE;
    case REPORT_RULE_NOT_APPLICABLE:
        return NOT_APPLICABLE;
    case REPORT_RULE_FAILED:
        return FAILED;
    default:
        return NOT_RUN;
    }
    enum report_level worst = report_result_worst(result);
    return worst == REPORT_LEVEL_ERROR     ? ERRORS
           : worst == REPORT_LEVEL_WARNING ? WARNINGS
                                           : OPTIMIZATIONS;
}

void page_findings(struct nvtxt_out *out, const struct report_page *page) {
    const struct report_results *results = page->results;
    if (results->count == 0) {
        page_raw(out, "<p>No rules were applied.</p>\n");
    }
    for (int group = ERRORS; group < GROUPS; group++) {
        for (size_t i = 0; i < results->count; i++) {
            if ((int)group_of(&results->results[i]) == group) {
                put_article(out, page, &results->results[i]);
            }
        }
    }
}

void page_rules_of_section(struct nvtxt_out *out, const struct report_page *page,
                           struct nvtxt_slice section) {
    bool any = false;
    for (size_t i = 0; i < page->results->count; i++) {
        const struct report_result *result = &page->results->results[i];
        if (!result->section.data || !nvtxt_slice_equal(result->section, section)) {
            continue;
        }
        page_raw(out, any ? "<li><a href=\"#rule-" : "<ul class=\"rules\">\n<li><a href=\"#rule-");
        any = true;
        page_text(out, result->identifier);
        page_raw(out, "\">");
        page_name(out, result->name);
        page_raw(out, "</a>: ");
        page_raw(out, report_rule_status_name(result->status));
        page_raw(out, "</li>\n");
    }
    page_raw(out, any ? "</ul>\n" : "");
}
