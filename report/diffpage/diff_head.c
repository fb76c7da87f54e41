// SPDX-License-Identifier: Apache-2.0
//
// The verdict is the first thing that one reads. What both sides are stands in one table, so that
// what is different in them (other spans, more events) is seen beside it.
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/diffpage/diff_parts.h"
#include "report/page/html.h"
#include "report/page/parts.h"
#include "report/table/number.h"

// ---- The verdict --------------------------------------------------------------------------------

// A name cannot turn the direction of the sentence around it.
static void put_reason(struct nvtxt_out *out, const struct report_diff *diff) {
    size_t from = 0;
    page_raw(out, "<p class=\"reason\">");
    for (size_t i = 0; i < diff->named_count; i++) {
        const struct report_diff_named *named = &diff->named[i];
        page_text(out, (struct nvtxt_slice){diff->reason + from, named->at - from});
        page_name(out, (struct nvtxt_slice){diff->reason + named->at, named->len});
        from = named->at + named->len;
    }
    page_text(out, nvtxt_slice_of(diff->reason + from));
    page_raw(out, "</p>\n");
}

static void put_verdict(struct nvtxt_out *out, const struct report_diff *diff) {
    static const char *const signs[] = {"=", "▼", "▲", "?"};
    static const char *const said[] = {"Neutral", "Improvement", "Regression", "Inconclusive"};
    const char *name = report_diff_verdict_name(diff->verdict);
    nvtxt_out_format(out,
                     "<p class=\"verdict %s\" data-verdict=\"%s\"><span class=\"sign\" "
                     "aria-hidden=\"true\">%s</span> <strong>%s</strong></p>\n",
                     name, name, signs[diff->verdict], said[diff->verdict]);
    put_reason(out, diff);
}

static void put_count(struct nvtxt_out *out, size_t count, const char *group, const char *what) {
    char number[REPORT_NUMBER];
    if (count > 0) {
        report_number_uint(number, count);
        nvtxt_out_format(out, "<li><a href=\"#%s\">%s %s</a></li>\n", group, number, what);
    }
}

// How many names did what, each a link to its table.
static void put_counts(struct nvtxt_out *out, const struct report_diff *diff) {
    static const struct {
        enum report_diff_change change;
        const char *group;
    } shown[] = {
        {REPORT_DIFF_SLOWER, "compared"}, {REPORT_DIFF_FASTER, "compared"},
        {REPORT_DIFF_SAME, "compared"},   {REPORT_DIFF_UNDECIDED, "inconclusive"},
        {REPORT_DIFF_ADDED, "added"},     {REPORT_DIFF_REMOVED, "removed"},
    };
    size_t counts[REPORT_DIFF_REMOVED + 1] = {0};
    for (size_t i = 0; i < diff->row_count; i++) {
        counts[diff->rows[i].change]++;
    }
    page_raw(out, "<ul class=\"counts\" aria-label=\"Names\">\n");
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        put_count(out, counts[shown[i].change], shown[i].group,
                  report_diff_change_name(shown[i].change));
    }
    page_raw(out, "</ul>\n");
}

void diff_page_head(struct nvtxt_out *out, const struct report_diff_page *page) {
    put_verdict(out, page->diff);
    for (size_t i = 0; i < page->view->warning_count; i++) {
        page_named(out, "<p class=\"warning\" role=\"note\">Warning: ",
                   nvtxt_slice_of(page->view->warnings[i]), "</p>\n");
    }
    put_counts(out, page->diff);
}

// ---- Both sides ---------------------------------------------------------------------------------

// A side of the table.
struct facts {
    struct nvtxt_out *out;
    const struct report_diff_page_side *side;
    const struct report_overview *overview; // NULL: the side has no model
};

static void put_number(const struct facts *facts, uint64_t value) {
    page_cell_uint(facts->out, value);
}

static void put_length(const struct facts *facts, double ns) {
    struct diff_page_look look = {.most = ns};
    diff_page_look_begin(&look);
    diff_page_begin_cell(facts->out, ns);
    diff_page_time(facts->out, ns, &look);
    nvtxt_out_format(facts->out, " %s", look.unit.name);
    diff_page_end_cell(facts->out);
}

static void put_what(const struct facts *facts) {
    const struct report_model *model = facts->side->model;
    const char *other = facts->side->is_baseline ? "baseline" : "report file of Nsight Compute";
    const char *what = !model                         ? other
                       : model->capture->stores->ours ? "store"
                                                      : "export of Nsight Systems";
    page_cell(facts->out, nvtxt_slice_of(what));
}

// What was compared; also of a side that is no store.
static void put_compared(const struct facts *facts) {
    const struct report_durations *of = facts->side->durations;
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++) {
        count += of->list[i].side.count;
    }
    put_number(facts, of->count);
    put_number(facts, count);
    put_length(facts, (double)of->total);
    put_number(facts, of->open);
}

static void put_window(const struct facts *facts) {
    const struct report_overview *of = facts->overview;
    const int64_t base_ns = facts->side->model->capture->stores->utc_base_ns;
    page_raw(facts->out, "<td class=\"time\">");
    if (of->has_events) {
        page_instant(facts->out, of->first_ns, base_ns);
        page_raw(facts->out, "<br>");
        page_instant(facts->out, of->last_ns, base_ns);
    }
    page_raw(facts->out, "</td>");
    put_length(facts, (double)((uint64_t)of->last_ns - (uint64_t)of->first_ns));
}

// What else a store has, of what is selected.
static void put_store(const struct facts *facts) {
    const struct report_overview *of = facts->overview;
    put_number(facts, facts->side->model->count);
    put_number(facts, of->events);
    put_number(facts, of->marks);
    put_number(facts, of->processes);
    put_number(facts, of->threads);
    put_window(facts);
    put_number(facts, of->errors);
    put_number(facts, of->losses);
}

#define OF_STORE 9 // columns

static void put_side(const struct facts *facts, size_t side, bool of_stores) {
    nvtxt_out_format(facts->out, "<tr data-side=\"%s\"><th scope=\"row\">%s</th>",
                     side == 0 ? "base" : "new", diff_page_sides[side]);
    page_cell(facts->out, nvtxt_slice_of(facts->side->path));
    put_what(facts);
    put_compared(facts);
    if (facts->overview) {
        put_store(facts);
    }
    for (size_t i = 0; of_stores && !facts->overview && i < OF_STORE; i++) {
        diff_page_no_cell(facts->out);
    }
    page_raw(facts->out, "</tr>\n");
}

static void put_table(struct nvtxt_out *out, const struct report_diff_page *page,
                      struct report_overview *const overviews[2]) {
    const bool of_stores = overviews[0] || overviews[1];
    const char *const compared = page->diff->of_kernels ? "Kernels" : "Ranges";
    const char *titles[] = {"Side",
                            "File",
                            "Kind",
                            "Names",
                            compared,
                            "Summed",
                            "Open",
                            "Events",
                            "Selected",
                            "Marks",
                            "Processes",
                            "Threads",
                            "First start, last end",
                            "Length",
                            "Errors",
                            "Lost",
                            NULL};
    titles[of_stores ? sizeof(titles) / sizeof(titles[0]) - 1 : 7] = NULL;
    page_begin_table(out, "Both sides", "sides", titles);
    for (size_t side = 0; side < 2; side++) {
        const struct facts facts = {out, &page->sides[side], overviews[side]};
        put_side(&facts, side, of_stores);
    }
    page_end_table(out);
}

// What was asked for: the selection, which both sides have, and when a name counts as changed.
static void put_wish(struct nvtxt_out *out, const struct report_diff_page *page) {
    page_raw(out, "<dl class=\"facts\">");
    page_begin_fact(out, "Command line");
    page_named(out, "<code>", page->command_line, "</code>");
    page_end_fact(out);
    page_begin_fact(out, "Gate");
    nvtxt_out_format(out, "%g %%", page->view->gate);
    page_end_fact(out);
    page_raw(out, "</dl>\n");
}

int diff_page_facts(struct nvtxt_out *out, const struct report_diff_page *page) {
    struct report_overview *overviews[2] = {NULL, NULL};
    int r = 0;
    for (size_t side = 0; side < 2 && r == 0; side++) {
        if (page->sides[side].model) {
            overviews[side] = report_overviews(page->sides[side].model);
            r = overviews[side] ? 0 : nvtxt_origin(-ENOMEM);
        }
    }
    if (r == 0) {
        put_table(out, page, overviews);
        put_wish(out, page);
    }
    free(overviews[0]);
    free(overviews[1]);
    return r;
}
