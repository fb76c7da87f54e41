// SPDX-License-Identifier: Apache-2.0
//
// Each number stands twice: as programs read it, and as people do. A change has its sign and a word
// beside its colour.
#include "report/diffpage/diff_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/page/html.h"
#include "report/table/number.h"

const char *const diff_page_sides[2] = {"BASE", "NEW"};

// ---- Changes ------------------------------------------------------------------------------------

#define MINUS "\xE2\x88\x92"
#define WHOLE 9.95 // from here on without a decimal
#define LEAST 0.05 // what is less would read as 0.0

void diff_page_change(struct nvtxt_out *out, double percent) {
    char number[REPORT_NUMBER];
    double size = fabs(percent);
    page_raw(out, percent > 0 ? "+" : percent < 0 ? MINUS : "");
    if (size >= WHOLE) {
        report_number_real(number, round(size));
        number[strcspn(number, ".")] = '\0';
    } else {
        snprintf(number, sizeof(number), size == 0 ? "%.0f" : "%.1f", size);
    }
    page_raw(out, size > 0 && size < LEAST ? "&lt;0.1" : number);
    page_raw(out, " %");
}

void diff_page_verdict(struct nvtxt_out *out, enum report_diff_change change) {
    static const char *const signs[] = {"=", "▲", "▼", "?", "+", MINUS};
    nvtxt_out_format(out, "<span class=\"sign\" aria-hidden=\"true\">%s</span> %s", signs[change],
                     report_diff_change_name(change));
}

// ---- Cells --------------------------------------------------------------------------------------

static void put_value(struct nvtxt_out *out, double value) {
    page_raw(out, " data-value=\"");
    report_number_write(out, value);
    page_raw(out, "\"");
}

void diff_page_begin_cell(struct nvtxt_out *out, double value) {
    page_raw(out, "<td class=\"n\"");
    put_value(out, value);
    page_raw(out, ">");
}

void diff_page_end_cell(struct nvtxt_out *out) {
    page_raw(out, "</td>");
}

void diff_page_no_cell(struct nvtxt_out *out) {
    page_raw(out, "<td class=\"n\"></td>");
}

// ---- Times --------------------------------------------------------------------------------------

void diff_page_look_at(struct diff_page_look *look, double ns) {
    look->most = fmax(look->most, ns);
}

void diff_page_look_begin(struct diff_page_look *look) {
    look->unit = page_time_unit(look->most);
}

// Returns the number of decimals.
static int write_time(char text[REPORT_NUMBER], double ns, const struct diff_page_look *look) {
    if (look->unit.ns == 1 && ns == round(ns)) {
        report_number_real(text, ns);
        text[strcspn(text, ".")] = '\0';
        return 0;
    }
    return nvtxt_shown_digits(text, ns / look->unit.ns);
}

void diff_page_look_fit(struct diff_page_look *look, double ns) {
    char text[REPORT_NUMBER];
    int decimals = write_time(text, ns, look);
    look->decimals = decimals > look->decimals ? decimals : look->decimals;
}

// Blanks as wide as a digit and a point stand for those that a number does not have.
void diff_page_time(struct nvtxt_out *out, double ns, const struct diff_page_look *look) {
    char text[REPORT_NUMBER];
    int decimals = write_time(text, ns, look);
    page_text(out, nvtxt_slice_of(text));
    page_raw(out, decimals == 0 && look->decimals > 0 ? "\xE2\x80\x88" : "");
    for (; decimals < look->decimals; decimals++) {
        page_raw(out, "\xE2\x80\x87");
    }
}

void diff_page_time_cell(struct nvtxt_out *out, double ns, const struct diff_page_look *look) {
    page_raw(out, "<td class=\"n\"");
    put_value(out, ns);
    page_raw(out, " title=\"");
    report_number_write(out, ns);
    page_raw(out, " ns\">");
    diff_page_time(out, ns, look);
    page_raw(out, "</td>");
}

void diff_page_sum_cell(struct nvtxt_out *out, unsigned __int128 ns,
                        const struct diff_page_look *look) {
    char digits[REPORT_NUMBER_WIDE];
    const struct nvtxt_slice exact = report_number_wide(digits, ns);
    page_raw(out, "<td class=\"n\"");
    page_attribute(out, "data-value", exact);
    page_raw(out, " title=\"");
    nvtxt_out_slice(out, exact);
    page_raw(out, " ns\">");
    diff_page_time(out, (double)ns, look);
    page_raw(out, "</td>");
}

// ---- Titles -------------------------------------------------------------------------------------

// `at`: the place of the column, which a script cannot count where titles have two rows.
static void put_title(struct nvtxt_out *out, const struct diff_page_column *column, size_t at,
                      const char *rows) {
    nvtxt_out_format(out, "<th scope=\"col\"%s data-column=\"%zu\" data-sort=\"%s\"%s>", rows, at,
                     column->sort, column->is_left ? "" : " class=\"n\"");
    page_raw(out, column->side ?: column->title);
    if (column->unit && !column->side) {
        nvtxt_out_format(out, " (%s)", column->unit);
    }
    page_raw(out, "</th>");
}

static void put_pair_title(struct nvtxt_out *out, const struct diff_page_column *column) {
    nvtxt_out_format(out, "<th scope=\"colgroup\" colspan=\"2\">%s", column->title);
    if (column->unit) {
        nvtxt_out_format(out, " (%s)", column->unit);
    }
    page_raw(out, "</th>");
}

// What two columns have in common stands above them.
void diff_page_titles(struct nvtxt_out *out, const struct diff_page_column *columns, size_t count) {
    bool pairs = false;
    for (size_t i = 0; i < count; i++) {
        pairs |= columns[i].side != NULL;
    }
    page_raw(out, "<thead><tr>");
    for (size_t i = 0; i < count; i++) {
        if (!columns[i].side) {
            put_title(out, &columns[i], i, pairs ? " rowspan=\"2\"" : "");
        } else {
            put_pair_title(out, &columns[i++]);
        }
    }
    page_raw(out, pairs ? "</tr><tr>" : "");
    for (size_t i = 0; i < count; i++) {
        if (columns[i].side) {
            put_title(out, &columns[i], i, "");
        }
    }
    page_raw(out, "</tr></thead><tbody>\n");
}
