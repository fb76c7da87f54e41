// SPDX-License-Identifier: Apache-2.0
//
// Articles are written level by level, so that nothing has to be sorted.
#include "report/page/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/page/html.h"
#include "report/render/render_metric.h"
#include "report/table/number.h"

// ---- What belongs to a message ------------------------------------------------------------------

static const char *whole_of(const struct report_speedup *speedup) {
    return speedup->global ? "the whole" : "this range in isolation";
}

static void put_percent(struct nvtxt_out *out, const struct report_speedup *speedup) {
    char number[REPORT_NUMBER];
    report_number_fixed(number, round(speedup->percent * 10) / 10, 1); // as text has it
    page_raw(out, number);
    page_raw(out, " %");
}

static void put_speedups(struct nvtxt_out *out, const struct report_result *result,
                         size_t message) {
    for (size_t i = 0; i < result->speedup_count; i++) {
        if (result->speedups[i].message == message) {
            page_raw(out, "<p class=\"speedup\">Estimated saving: ");
            put_percent(out, &result->speedups[i]);
            page_raw(out, " of ");
            page_raw(out, whole_of(&result->speedups[i]));
            page_raw(out, "</p>\n");
        }
    }
}

// The same as a cell: how much, or of what.
static void put_speedup_cell(struct nvtxt_out *out, const struct report_result *result,
                             size_t message, bool of_what) {
    bool any = false;
    page_raw(out, of_what ? "<td>" : "<td class=\"n\">");
    for (size_t i = 0; i < result->speedup_count; i++) {
        if (result->speedups[i].message == message) {
            page_raw(out, any ? "<br>" : "");
            any = true;
            if (of_what) {
                page_raw(out, whole_of(&result->speedups[i]));
            } else {
                put_percent(out, &result->speedups[i]);
            }
        }
    }
    page_raw(out, "</td>");
}

static void put_focus(struct nvtxt_out *out, const struct report_page *page,
                      const struct report_result *result, size_t message) {
    for (size_t i = 0; i < result->focus_count; i++) {
        const struct report_focus_metric *of = &result->focus[i];
        char value[REPORT_VALUE_TEXT] = "N/A";
        if (of->message != message) {
            continue;
        }
        if (of->has_value) {
            report_render_value(value, &of->value, "", REPORT_UNITS_BASE);
        }
        page_named(out, "<p class=\"focus\">Key metric: <code>", of->name, "</code> = ");
        page_name(out, nvtxt_slice_of(value));
        if (of->severity != REPORT_FOCUS_DEFAULT) {
            nvtxt_out_format(out, " (severity %s)", report_focus_severity_name(of->severity));
        }
        page_raw(out, of->info.len > 0 ? ", " : "");
        page_linked(out, page, "", of->info, "</p>\n");
    }
}

// `of` is what it belongs to when it does not say so itself.
static void put_table(struct nvtxt_out *out, const struct report_page *page,
                      const struct report_rule_table *table, struct nvtxt_slice of) {
    const struct page_table view = {.page = page,
                                    .caption = table->title.len > 0 ? table->title : of,
                                    .most = SIZE_MAX,
                                    .styles = table->styles};
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
            page_raw(out, report_level_word(of->level));
            page_raw(out, ": ");
        }
        page_name(out, of->file);
        nvtxt_out_format(out, "%s%" PRIu64 ": ", report_marker_joint(of), of->line);
        page_links(out, page, of->text);
        page_raw(out, "</li>\n");
    }
    page_raw(out, any ? "</ul>\n" : "");
}

// All but the sentence and the estimates.
static void put_belongings(struct nvtxt_out *out, const struct report_page *page,
                           const struct report_result *result, size_t id) {
    const struct nvtxt_slice none = {"", 0};
    put_focus(out, page, result, id);
    for (size_t i = 0; i < result->table_count; i++) {
        if (result->tables[i].message == id) {
            put_table(out, page, &result->tables[i],
                      result->message_count > 1 ? result->messages[id].title : none);
        }
    }
    put_markers(out, page, result, id);
}

// ---- Messages -----------------------------------------------------------------------------------

static bool begins_with(struct nvtxt_slice text, struct nvtxt_slice start) {
    return start.len > 0 && text.len >= start.len && memcmp(text.data, start.data, start.len) == 0;
}

// A title is not said again: neither after the name of the rule nor before a text that begins so.
static bool is_said(const struct report_result *result, const struct report_rule_message *message) {
    return message->title.len == 0 || nvtxt_slice_equal(message->title, result->name) ||
           begins_with(message->text, message->title);
}

// The level stands beside the name of the rule, if it is that of a finding.
static void put_alone(struct nvtxt_out *out, const struct report_page *page,
                      const struct report_result *result) {
    const struct report_rule_message *message = &result->messages[0];
    const char *level = report_level_name(message->level);
    nvtxt_out_format(out, "<p class=\"message %s\" data-type=\"%s\">", level, level);
    if (result->status != REPORT_RULE_FINDINGS) {
        nvtxt_out_format(out, "<strong>%s:</strong> ", report_level_word(message->level));
    }
    if (!is_said(result, message)) {
        page_linked(out, page, "<strong>", message->title, ":</strong> ");
    }
    page_linked(out, page, "", message->text, "</p>\n");
    put_speedups(out, result, 0);
}

static void put_row(struct nvtxt_out *out, const struct report_page *page,
                    const struct report_result *result, size_t id) {
    const struct report_rule_message *message = &result->messages[id];
    const char *level = report_level_name(message->level);
    nvtxt_out_format(out, "<tr class=\"message %s\" data-type=\"%s\"><td>%s</td>", level, level,
                     report_level_word(message->level));
    if (begins_with(message->text, message->title)) {
        page_raw(out, "<td></td>");
    } else {
        page_linked(out, page, "<td>", message->title, "</td>");
    }
    page_linked(out, page, "<td>", message->text, "</td>");
    if (result->speedup_count > 0) {
        put_speedup_cell(out, result, id, false);
        put_speedup_cell(out, result, id, true);
    }
    page_raw(out, "</tr>\n");
}

static void put_messages(struct nvtxt_out *out, const struct report_page *page,
                         const struct report_result *result) {
    static const char *const titles[] = {"Level", "Finding", "What it says", "Estimated saving",
                                         "Of",    NULL},
                             *const without[] = {"Level", "Finding", "What it says", NULL};
    if (result->message_count == 1) {
        put_alone(out, page, result);
    } else if (result->message_count > 1) {
        page_begin_table(out, "Messages of the rule", "messages",
                         result->speedup_count > 0 ? titles : without);
        for (size_t i = 0; i < result->message_count && !out->error; i++) {
            put_row(out, page, result, i);
        }
        page_end_table(out);
    }
    for (size_t i = 0; i < result->message_count; i++) {
        put_belongings(out, page, result, i);
    }
}

// ---- Articles -----------------------------------------------------------------------------------

// What stands beside the name: the level of what was found, or why nothing was.
static void put_status(struct nvtxt_out *out, const struct report_result *result) {
    const char *word = result->status == REPORT_RULE_FINDINGS
                           ? report_level_word(report_result_worst(result))
                           : report_rule_status_name(result->status);
    page_raw(out, "<p class=\"status\">");
    for (; *word; word++) {
        nvtxt_out_bytes(out, *word == '-' ? " " : word, 1);
    }
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
    put_messages(out, page, result);
    put_markers(out, page, result, REPORT_NO_MESSAGE);
    put_proposals(out, page, result);
    if (result->output.len > 0) {
        page_named(out, "<details open><summary>What it printed</summary><pre>", result->output,
                   "</pre></details>\n");
    }
    if (result->description.len > 0) {
        page_linked(out, page, "<p class=\"description\">", result->description, "</p>\n");
    }
    page_raw(out, "</article>\n");
}

void page_findings(struct nvtxt_out *out, const struct report_page *page) {
    const struct report_results *results = page->results;
    if (results->count == 0) {
        page_raw(out, "<p>No rules were applied.</p>\n");
    }
    bool off = report_results_off(results);
    page_raw(out, off ? "<p class=\"off\">" REPORT_RULES_OFF "</p>\n" : "");
    for (int group = PAGE_ERRORS; !off && group < PAGE_GROUPS; group++) {
        for (size_t i = 0; i < results->count; i++) {
            if ((int)page_group_of(&results->results[i]) == group) {
                put_article(out, page, &results->results[i]);
            }
        }
    }
}
