// SPDX-License-Identifier: Apache-2.0
//
// The order of results on the page, and all findings in one line: a rule is one finding, of the
// level of its worst message.
#include "report/page/parts.h"

#include <assert.h>

#include "report/page/html.h"
#include "report/table/links.h"

static enum page_group group_of_level(enum report_level worst) {
    switch (worst) {
    case REPORT_LEVEL_ERROR:
        return PAGE_ERRORS;
    case REPORT_LEVEL_WARNING:
        return PAGE_WARNINGS;
    case REPORT_LEVEL_OPTIMIZATION:
    case REPORT_LEVEL_OK:
    case REPORT_LEVEL_NONE:
        return PAGE_OPTIMIZATIONS;
    }
    assert(false);
    return PAGE_OPTIMIZATIONS;
}

enum page_group page_group_of(const struct report_result *result) {
    switch (result->status) {
    case REPORT_RULE_FINDINGS:
        return group_of_level(report_result_worst(result));
    case REPORT_RULE_NO_ISSUE:
        return result->message_count > 0 ? PAGE_HINTS : PAGE_FINE;
    case REPORT_RULE_NOT_APPLICABLE:
        return PAGE_NOT_APPLICABLE;
    case REPORT_RULE_FAILED:
        return PAGE_FAILED;
    case REPORT_RULE_NOT_RUN:
        return PAGE_NOT_RUN;
    }
    assert(false);
    return PAGE_NOT_RUN;
}

// ---- The line -----------------------------------------------------------------------------------

// What the counts are called.
static const struct {
    enum page_group group;
    const char *one, *many;
} kinds[] = {
    {PAGE_ERRORS, "error", "errors"},
    {PAGE_WARNINGS, "warning", "warnings"},
    {PAGE_OPTIMIZATIONS, "optimization", "optimizations"},
    {PAGE_FAILED, "rule that failed", "rules that failed"},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define FINDINGS 3 // the first kinds

static size_t count_of(const struct report_results *results, enum page_group group) {
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        count += page_group_of(&results->results[i]) == group;
    }
    return count;
}

// "3 findings: 1 error, 2 optimizations". A rule that failed is no finding, but somebody has to
// look at it.
static void put_counts(struct nvtxt_out *out, const struct report_results *results) {
    size_t all = 0;
    for (size_t k = 0; k < FINDINGS; k++) {
        all += count_of(results, kinds[k].group);
    }
    if (all == 0) {
        page_raw(out, "No findings");
    } else {
        nvtxt_out_format(out, "%zu %s", all, all == 1 ? "finding" : "findings");
    }
    const char *joint = all == 0 ? ", " : ": ";
    for (size_t k = 0; k < KINDS; k++) {
        size_t count = count_of(results, kinds[k].group);
        if (count > 0) {
            nvtxt_out_format(out, "%s%zu %s", joint, count,
                             count == 1 ? kinds[k].one : kinds[k].many);
            joint = ", ";
        }
    }
}

// What a finding is called: by its title; several have the name of the rule.
static struct nvtxt_slice title_of(const struct report_result *result) {
    bool own = result->message_count == 1 && result->messages[0].title.len > 0;
    return own ? result->messages[0].title : result->name;
}

// A link within a title is its text: it is in a link.
static void put_link(struct nvtxt_out *out, const struct report_result *result) {
    page_raw(out, "<a href=\"#rule-");
    page_text(out, result->identifier);
    page_raw(out, "\"><bdi>");
    report_link_write(out, title_of(result), page_text);
    page_raw(out, "</bdi></a>");
}

void page_findings_line(struct nvtxt_out *out, const struct report_page *page) {
    const struct report_results *results = page->results;
    page_raw(out, "<p id=\"findings-line\">");
    if (results->count == 0 || report_results_off(results)) {
        page_raw(out, results->count == 0 ? "No rules were applied" : REPORT_RULES_OFF);
        page_raw(out, "</p>\n");
        return;
    }
    put_counts(out, results);
    const char *joint = ". ";
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t i = 0; i < results->count; i++) {
            if (page_group_of(&results->results[i]) == kinds[k].group) {
                page_raw(out, joint);
                put_link(out, &results->results[i]);
                joint = " \xC2\xB7 ";
            }
        }
    }
    page_raw(out, "</p>\n");
}
