// SPDX-License-Identifier: Apache-2.0
//
// The largest and the smallest number of a column decide how all of them look. What machines read,
// and the exact time, stand in attributes of the cell.
#include "report/page/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/page/html.h"
#include "report/render/render_metric.h"
#include "report/table/number.h"
#include "report/table/write.h"

#define DECIMALS 3        // at most
#define WHOLE_DIGITS 1e15 // larger numbers have no decimals that mean anything

static double number_of(const struct report_cell *cell) {
    return report_cell_divided(cell, 1);
}

// How many of three decimals are not zeros at the end.
static int decimals_of(double value) {
    char text[REPORT_NUMBER];
    int len = snprintf(text, sizeof(text), "%.*f", DECIMALS, value), zeros = 0;
    while (zeros < DECIMALS && text[len - 1 - zeros] == '0') {
        zeros++;
    }
    return DECIMALS - zeros;
}

void page_figures_see(struct page_figures *figures, const struct report_cell *cell) {
    if (!report_cell_is_number(cell)) {
        return;
    }
    double value = number_of(cell), size = fabs(value);
    figures->any = true;
    figures->real |= cell->kind == REPORT_CELL_REAL;
    if (!isfinite(value)) {
        return;
    }
    figures->most = size > figures->most ? size : figures->most;
    figures->least =
        size > 0 && (figures->least == 0 || size < figures->least) ? size : figures->least;
    figures->fraction |= value != round(value);
    if (cell->kind == REPORT_CELL_REAL && size < WHOLE_DIGITS) {
        int most = figures->most_decimals ?: DECIMALS, decimals = decimals_of(value);
        decimals = decimals < most ? decimals : most;
        figures->decimals = decimals > figures->decimals ? decimals : figures->decimals;
    }
}

static bool is_time(const struct page_figures *figures) {
    return figures->unit && strcmp(figures->unit, "ns") == 0;
}

// A column has the unit in which its longest time has up to four digits before the point.
static struct nvtxt_shown_unit unit_of(const struct page_figures *figures) {
    return page_time_unit(figures->most / 10);
}

const char *page_figures_unit(const struct page_figures *figures) {
    return is_time(figures) ? unit_of(figures).name : figures->unit ?: "";
}

// The smallest time has three digits, and all have as many decimals as it.
static void put_time(struct nvtxt_out *out, const struct page_figures *figures, double ns) {
    struct nvtxt_shown_unit unit = unit_of(figures);
    char text[REPORT_NUMBER], digits[NVTXT_SHOWN_TIME];
    int decimals = nvtxt_shown_digits(digits, figures->least / unit.ns);
    decimals = unit.ns == 1 && !figures->fraction ? 0 : decimals;
    double shown = ns / unit.ns;
    if (ns != 0 && fabs(shown) < 0.001) {
        nvtxt_shown_digits(text, shown);
    } else {
        report_number_fixed(text, shown, decimals);
    }
    nvtxt_out_format(out, "%s %s", text, unit.name);
}

static void put_number(struct nvtxt_out *out, const struct page_figures *figures,
                       const struct report_cell *cell) {
    char text[REPORT_NUMBER];
    double value = number_of(cell);
    if (figures->real && fabs(value) < WHOLE_DIGITS && figures->plain) {
        snprintf(text, sizeof(text), "%.*f", figures->decimals, value);
    } else if (figures->real && fabs(value) < WHOLE_DIGITS) {
        report_number_fixed(text, value, figures->decimals);
    } else if (figures->plain) {
        report_cell_write(out, cell, page_text);
        return;
    } else if (cell->kind == REPORT_CELL_REAL) {
        report_number_rounded(text, value);
    } else if (cell->kind == REPORT_CELL_UINT) {
        report_number_uint(text, cell->uint64);
    } else {
        report_number_int(text, cell->int64);
    }
    page_raw(out, text);
    if (figures->unit && !report_unit_counts(figures->unit)) {
        nvtxt_out_format(out, " %s", figures->unit);
    }
}

void page_emphasis(struct nvtxt_out *out, bool bold, bool italic, bool end) {
    page_raw(out, bold && !end ? "<strong>" : "");
    page_raw(out, italic ? end ? "</em>" : "<em>" : "");
    page_raw(out, bold && end ? "</strong>" : "");
}

void page_figure(struct nvtxt_out *out, const struct page_figures *figures,
                 const struct report_cell *cell, const struct report_rule_style *style) {
    bool exact = is_time(figures) && isfinite(number_of(cell));
    page_raw(out, "<td class=\"n\" data-value=\"");
    report_cell_write(out, cell, page_text); // as JSON has it, without quotes
    page_raw(out, "\"");
    if (exact) {
        page_raw(out, " title=\"");
        report_cell_write(out, cell, page_text);
        page_raw(out, " ns\"");
    }
    page_raw(out, ">");
    page_emphasis(out, style && style->bold, style && style->italic, false);
    if (exact) {
        put_time(out, figures, number_of(cell));
    } else {
        put_number(out, figures, cell);
    }
    page_emphasis(out, style && style->bold, style && style->italic, true);
    page_raw(out, "</td>");
}
