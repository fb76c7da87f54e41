// SPDX-License-Identifier: Apache-2.0
//
// Names stand in tables by what happened to them: those that both sides have and that are decided;
// those that are not; those that only one side has. In each they keep the order of `diff`, and a
// row has the number that it has there. The same figure of both sides has one unit.
#include "report/diffpage/diff_parts.h"

#include <math.h>

#include "report/page/html.h"
#include "report/table/number.h"

// A table of names.
struct group {
    const char *id, *title;
    unsigned changes; // a bit of each enum report_diff_change
    const char *sentence;
};

#define BIT(change) (1u << (change))
#define ONE_SIDE (BIT(REPORT_DIFF_ADDED) | BIT(REPORT_DIFF_REMOVED))

static const struct group groups[] = {
    {"compared", "Compared",
     BIT(REPORT_DIFF_SLOWER) | BIT(REPORT_DIFF_FASTER) | BIT(REPORT_DIFF_SAME),
     "The largest change of summed self time first. A change is that of the median."},
    {"inconclusive", "Inconclusive", BIT(REPORT_DIFF_UNDECIDED),
     "Their medians differ, which may be chance. So many ranges on each side would decide."},
    {"added", "Added", BIT(REPORT_DIFF_ADDED), "Only NEW has these."},
    {"removed", "Removed", BIT(REPORT_DIFF_REMOVED), "Only BASE has these."},
};

// What is written at the moment.
struct names {
    struct nvtxt_out *out;
    const struct report_diff_page *page;
    const struct group *group;
    struct diff_page_look single, sum; // of one range, and of all of a name
};

static bool is_in(const struct names *names, const struct report_diff_row *row) {
    return names->group->changes & BIT(row->change);
}

static void look_at_side(struct names *names, const struct report_diff_side *side,
                         void (*look)(struct diff_page_look *look, double ns)) {
    if (side->count > 0) {
        look(&names->single, side->med);
        look(&names->single, side->avg);
        look(&names->sum, (double)side->self);
        look(&names->sum, (double)side->total);
    }
}

static size_t look_at_rows(struct names *names,
                           void (*look)(struct diff_page_look *look, double ns)) {
    const struct report_diff *diff = names->page->diff;
    size_t count = 0;
    for (size_t i = 0; i < diff->row_count; i++) {
        if (is_in(names, &diff->rows[i])) {
            look_at_side(names, &diff->rows[i].base, look);
            look_at_side(names, &diff->rows[i].new, look);
            count++;
        }
    }
    return count;
}

// Returns how many rows the group has.
static size_t choose_looks(struct names *names) {
    names->single = names->sum = (struct diff_page_look){.most = 0};
    look_at_rows(names, diff_page_look_at);
    diff_page_look_begin(&names->single);
    diff_page_look_begin(&names->sum);
    return look_at_rows(names, diff_page_look_fit);
}

// ---- A row --------------------------------------------------------------------------------------

// Both medians above one another: the longer one is the whole width.
static void put_medians(const struct names *names, const struct report_diff_row *row) {
    const struct report_diff_side *sides[2] = {&row->base, &row->new};
    double most = fmax(row->base.med, row->new.med);
    nvtxt_out_format(names->out, "<td class=\"medians\" data-value=\"");
    report_number_write(names->out, row->new.count > 0 ? row->new.med : row->base.med);
    page_raw(names->out, "\">");
    for (size_t i = 0; i < 2; i++) {
        if (sides[i]->count == 0) {
            continue;
        }
        nvtxt_out_format(names->out, "<span class=\"pair %s\" data-value=\"",
                         i == 0 ? "base" : "new");
        report_number_write(names->out, sides[i]->med);
        page_raw(names->out, "\" title=\"");
        report_number_write(names->out, sides[i]->med);
        nvtxt_out_format(names->out, " ns\"><span class=\"side\">%s</span> ", diff_page_sides[i]);
        page_bar(names->out, sides[i]->med, most);
        page_raw(names->out, " <span class=\"n\">");
        diff_page_time(names->out, sides[i]->med, &names->single);
        page_raw(names->out, "</span></span>");
    }
    page_raw(names->out, "</td>");
}

static void put_count(const struct names *names, const struct report_diff_side *side) {
    page_cell_uint(names->out, side->count);
}

static void put_average(const struct names *names, const struct report_diff_side *side) {
    diff_page_time_cell(names->out, side->avg, &names->single);
}

static void put_self(const struct names *names, const struct report_diff_side *side) {
    diff_page_sum_cell(names->out, side->self, &names->sum);
}

static void put_total(const struct names *names, const struct report_diff_side *side) {
    diff_page_sum_cell(names->out, side->total, &names->sum);
}

typedef void put_figure(const struct names *names, const struct report_diff_side *side);

// In the order of the columns.
static void put_figures(const struct names *names, const struct report_diff_row *row) {
    static put_figure *const puts[] = {put_count, put_average, put_self, put_total};
    for (size_t i = 0; i < sizeof(puts) / sizeof(puts[0]); i++) {
        if (row->base.count > 0) {
            puts[i](names, &row->base);
        }
        if (row->new.count > 0) {
            puts[i](names, &row->new);
        }
    }
}

// The verdict, how much, and how sure that is.
static void put_change(const struct names *names, const struct report_diff_row *row) {
    struct nvtxt_out *out = names->out;
    nvtxt_out_format(out, "<td class=\"change %s\">", report_diff_change_name(row->change));
    diff_page_verdict(out, row->change);
    page_raw(out, "</td>");
    if (!row->has_delta) {
        diff_page_no_cell(out);
        return;
    }
    diff_page_begin_cell(out, row->delta_pct);
    diff_page_change(out, row->delta_pct);
    diff_page_end_cell(out);
}

static void put_certainty(const struct names *names, const struct report_diff_row *row) {
    char number[REPORT_NUMBER];
    if (row->change == REPORT_DIFF_UNDECIDED) {
        page_cell_uint(names->out, row->runs_needed);
    } else if (!row->has_z) {
        diff_page_no_cell(names->out);
    } else {
        report_number_real(number, row->z);
        diff_page_begin_cell(names->out, row->z);
        page_raw(names->out, number);
        diff_page_end_cell(names->out);
    }
}

static void put_row(const struct names *names, size_t number) {
    struct nvtxt_out *out = names->out;
    const struct report_diff_row *row = &names->page->diff->rows[number];
    const bool both = !(names->group->changes & ONE_SIDE);
    nvtxt_out_format(out, "<tr id=\"row-%zu\" data-row=\"%zu\"", number, number);
    page_attribute(out, "data-name", row->name);
    page_attribute(out, "data-kind", report_render_diff_kind(names->page->diff, row));
    page_attribute(out, "data-verdict", nvtxt_slice_of(report_diff_change_name(row->change)));
    if (row->has_delta) {
        page_raw(out, " data-value=\"");
        report_number_write(out, row->delta_pct);
        page_raw(out, "\"");
    }
    page_named(out, "><th scope=\"row\">", row->name, "</th>");
    if (both) {
        put_change(names, row);
    }
    put_medians(names, row);
    put_figures(names, row);
    if (both) {
        put_certainty(names, row);
    }
    page_cell(out, report_render_diff_kind(names->page->diff, row));
    page_raw(out, "</tr>\n");
}

// ---- A table ------------------------------------------------------------------------------------

#define COLUMNS 14

static void put_titles(const struct names *names) {
    const char *single = names->single.unit.name, *sum = names->sum.unit.name;
    const bool undecided = names->group->changes & BIT(REPORT_DIFF_UNDECIDED);
    const char *name = names->page->diff->of_kernels ? "Kernel" : "Range";
    const struct diff_page_column both[COLUMNS] = {
        {name, NULL, "text", NULL, true},
        {"Verdict", NULL, "text", NULL, true},
        {"Change", NULL, "number", NULL, false},
        {"Median", single, "number", NULL, true},
        {"Count", NULL, "number", "BASE", false},
        {"Count", NULL, "number", "NEW", false},
        {"Average", single, "number", "BASE", false},
        {"Average", single, "number", "NEW", false},
        {"Self", sum, "number", "BASE", false},
        {"Self", sum, "number", "NEW", false},
        {"Total", sum, "number", "BASE", false},
        {"Total", sum, "number", "NEW", false},
        {undecided ? "Ranges needed" : "z", NULL, "number", NULL, false},
        {"Kind", NULL, "text", NULL, true},
    };
    const struct diff_page_column one[] = {
        {name, NULL, "text", NULL, true},       {"Median", single, "number", NULL, true},
        {"Count", NULL, "number", NULL, false}, {"Average", single, "number", NULL, false},
        {"Self", sum, "number", NULL, false},   {"Total", sum, "number", NULL, false},
        {"Kind", NULL, "text", NULL, true},
    };
    if (names->group->changes & ONE_SIDE) {
        diff_page_titles(names->out, one, sizeof(one) / sizeof(one[0]));
    } else {
        diff_page_titles(names->out, both, COLUMNS);
    }
}

static void put_group(struct names *names) {
    struct nvtxt_out *out = names->out;
    const struct report_diff *diff = names->page->diff;
    const size_t most = names->page->limit;
    char number[REPORT_NUMBER];
    size_t count = choose_looks(names), put = 0;
    if (count == 0) {
        return;
    }
    report_number_uint(number, count);
    nvtxt_out_format(
        out, "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h3 id=\"h-%s\">%s: %s</h3>\n",
        names->group->id, names->group->id, names->group->id, names->group->title, number);
    nvtxt_out_format(out, "<p class=\"hint\">%s</p>\n", names->group->sentence);
    page_begin_region(out, names->group->title, "names sortable");
    put_titles(names);
    for (size_t i = 0; i < diff->row_count && put < most && !out->error; i++) {
        if (is_in(names, &diff->rows[i])) {
            put_row(names, i);
            put++;
        }
    }
    page_end_table(out);
    if (put < count) {
        nvtxt_out_format(out, "<p>%zu more rows are not shown here.</p>\n", count - put);
    }
    page_raw(out, "</section>\n");
}

void diff_page_names(struct nvtxt_out *out, const struct report_diff_page *page) {
    struct names names = {.out = out, .page = page};
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        names.group = &groups[i];
        put_group(&names);
    }
    if (page->diff->row_count == 0) {
        page_raw(out, "<p>Neither side has anything to compare.</p>\n");
    }
}

// ---- Histograms ---------------------------------------------------------------------------------

static void put_histogram(struct report_json *json, const struct report_diff_row *row,
                          size_t number) {
    struct report_diff_bins bins;
    report_diff_bins_fill(&bins, row->sides[0], row->sides[1]);
    report_json_array(json, NULL);
    report_json_uint(json, NULL, number);
    report_json_double(json, NULL, (double)bins.low);
    report_json_double(json, NULL, (double)bins.high);
    for (size_t side = 0; side < 2; side++) {
        report_json_array(json, NULL);
        for (size_t i = 0; i < REPORT_DIFF_BINS; i++) {
            report_json_uint(json, NULL, bins.counts[side][i]);
        }
        report_json_end_array(json);
    }
    report_json_end_array(json);
}

void diff_page_histograms(struct report_json *json, const struct report_diff_page *page) {
    const struct report_diff *diff = page->diff;
    size_t count = 0;
    report_json_array(json, "histograms");
    for (size_t i = 0; i < diff->row_count && count < REPORT_DIFF_PAGE_HISTOGRAMS; i++) {
        if (diff->rows[i].sides[0] && diff->rows[i].sides[1]) {
            put_histogram(json, &diff->rows[i], i);
            count++;
        }
    }
    report_json_end_array(json);
}
