// SPDX-License-Identifier: Apache-2.0
//
// Articles are written level by level, so that nothing has to be sorted.
#include "report/page/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "report/page/html.h"
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

static void put_focus(struct nvtxt_out *out, const struct report_page *page,
                      const struct report_result *result, size_t message) {
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
        page_cell(out, of->name);
        page_cell(out, nvtxt_slice_of(of->has_value ? report_render_value(value, &of->value, "",
                                                                          REPORT_UNITS_BASE)
                                                    : "N/A"));
        page_cell(out, nvtxt_slice_of(report_focus_severity_name(of->severity)));
        page_linked(out, page, "<td>", of->info, "</td></tr>\n");
    }
    if (any) {
        page_end_table(out);
    }
}

static void put_table(struct nvtxt_out *out, const struct report_page *page,
                      const struct report_rule_table *table) {
    const struct page_table view = {
        .page = page, .caption = table->title, .most = SIZE_MAX, .styles = table->styles};
    if (table->chart) {
        page_shown_item(out, table->chart);
    } else {
        page_table(out, &table->table, &view);
    }
    if (table->description.len > 0) {
        page_linked(out, page, "<p>", table->description, "</p>\n");
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
        if (message == REPORT_NO_MESSAGE && of->level != REPORT_LEVEL_NONE) {
            page_raw(out, report_level_name(of->level));
            page_raw(out, ": ");
        }
        page_name(out, of->file);
        nvtxt_out_format(out, "%s%" PRIu64 ": ", report_marker_joint(of), of->line);
        page_links(out, page, of->text);
        page_raw(out, "</li>\n");
    }
    page_raw(out, any ? "</ul>\n" : "");
}

static void put_message(struct nvtxt_out *out, const struct report_page *page,
                        const struct report_result *result, size_t id) {
    const struct report_rule_message *message = &result->messages[id];
    const char *level = report_level_name(message->level);
    nvtxt_out_format(out, "<div class=\"message %s\" data-type=\"%s\"><p><strong>%s", level, level,
                     level);
    if (message->title.len > 0) {
        page_raw(out, ": ");
        page_links(out, page, message->title);
    }
    page_linked(out, page, "</strong> ", message->text, "</p>\n");
    put_speedups(out, result, id);
    put_focus(out, page, result, id);
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

static bool is_judged(const struct report_page *page, struct nvtxt_slice identifier) {
    for (size_t i = 0; i < page->results->count; i++) {
        if (nvtxt_slice_equal(page->results->results[i].identifier, identifier)) {
            return true;
        }
    }
    return false;
}

// The rules that would say more, with a link where they are on the page.
static void put_proposals(struct nvtxt_out *out, const struct report_page *page,
                          const struct report_result *result) {
    for (size_t i = 0; i < result->proposal_count; i++) {
        struct nvtxt_slice identifier = result->proposals[i];
        bool judged = is_judged(page, identifier);
        page_raw(out, i == 0 ? "<p class=\"proposals\">See also: " : ", ");
        if (judged) {
            page_raw(out, "<a href=\"#rule-");
            page_text(out, identifier);
            page_raw(out, "\">");
        }
        page_name(out, identifier);
        page_raw(out, judged ? "</a>" : "");
    }
    page_raw(out, result->proposal_count > 0 ? "</p>\n" : "");
}

// A rule that has nothing to say takes one line.
static bool is_quiet(const struct report_result *result) {
    return result->message_count + result->marker_count + result->proposal_count == 0 &&
           result->output.len == 0 && result->status != REPORT_RULE_FAILED;
}

static void put_article(struct nvtxt_out *out, const struct report_page *page,
                        const struct report_result *result) {
    const char *status = report_rule_status_name(result->status);
    enum report_level worst = report_result_worst(result);
    nvtxt_out_format(out, "<article class=\"%s%s\"",
                     result->status == REPORT_RULE_FAILED ? "error" : report_level_name(worst),
                     is_quiet(result) ? " quiet" : "");
    page_attribute(out, "data-rule", result->identifier);
    page_attribute(out, "data-status", nvtxt_slice_of(status));
    page_raw(out, " id=\"rule-");
    page_text(out, result->identifier);
    page_named(out, "\"><h3>", result->name, "</h3>\n");
    put_status(out, result);
    if (result->description.len > 0) {
        page_linked(out, page, "<p class=\"description\">", result->description, "</p>\n");
    }
    for (size_t i = 0; i < result->message_count; i++) {
        put_message(out, page, result, i);
    }
    put_markers(out, page, result, REPORT_NO_MESSAGE);
    put_proposals(out, page, result);
    if (result->output.len > 0) {
        page_named(out, "<details open><summary>What it printed</summary><pre>", result->output,
                   "</pre></details>\n");
    }
    page_raw(out, "</article>\n");
}

// In the order of the page.
enum group { ERRORS, WARNINGS, OPTIMIZATIONS, FAILED, FINE, NOT_APPLICABLE, NOT_RUN, GROUPS };

static enum group group_of_level(enum report_level worst) {
    switch (worst) {
    case REPORT_LEVEL_ERROR:
        return ERRORS;
    case REPORT_LEVEL_WARNING:
        return WARNINGS;
    case REPORT_LEVEL_OPTIMIZATION:
    case REPORT_LEVEL_OK:
    case REPORT_LEVEL_NONE:
        return OPTIMIZATIONS;
    }
    assert(false);
    return OPTIMIZATIONS;
}

static enum group group_of(const struct report_result *result) {
    switch (result->status) {
    case REPORT_RULE_FINDINGS:
        return group_of_level(report_result_worst(result));
    case REPORT_RULE_NO_ISSUE:
        return FINE;
    case REPORT_RULE_NOT_APPLICABLE:
        return NOT_APPLICABLE;
    case REPORT_RULE_FAILED:
        return FAILED;
    case REPORT_RULE_NOT_RUN:
        return NOT_RUN;
    }
    assert(false);
    return NOT_RUN;
}

void page_findings(struct nvtxt_out *out, const struct report_page *page) {
    const struct report_results *results = page->results;
    if (results->count == 0) {
        page_raw(out, "<p>No rules were applied.</p>\n");
    }
    bool off = report_results_off(results);
    page_raw(out, off ? "<p class=\"off\">" REPORT_RULES_OFF "</p>\n" : "");
    for (int group = ERRORS; !off && group < GROUPS; group++) {
        for (size_t i = 0; i < results->count; i++) {
            if ((int)group_of(&results->results[i]) == group) {
                put_article(out, page, &results->results[i]);
            }
        }
    }
}
