// SPDX-License-Identifier: Apache-2.0
//
// A text is copied in runs: up to the next byte that HTML reads as more than text, or that is no
// UTF-8. Carriage returns are written as a reference, since a parser would make them line feeds.
#include "report/page/html.h"

#include <stdio.h>

#include "protocol/base/utf8.h"
#include "report/render/kit/json.h"
#include "report/render/kit/plain.h"

#define REPLACEMENT "\xEF\xBF\xBD"

static const char *reference_of(char byte) {
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\r':
        return "&#13;";
    case '\0':
        return REPLACEMENT;
    default:
        return NULL;
    }
}

void page_text(struct nvtxt_out *out, struct nvtxt_slice text) {
    size_t from = 0, at = 0;
    while (at < text.len) {
        size_t len = nvtxt_utf8_sequence(text.data + at, text.len - at);
        const char *other = len == 0 ? REPLACEMENT : reference_of(text.data[at]);
        if (!other) {
            at += len;
            continue;
        }
        nvtxt_out_bytes(out, text.data + from, at - from);
        page_raw(out, other);
        at++;
        from = at;
    }
    nvtxt_out_bytes(out, text.data + from, at - from);
}

void page_name(struct nvtxt_out *out, struct nvtxt_slice text) {
    page_raw(out, "<bdi>");
    page_text(out, text);
    page_raw(out, "</bdi>");
}

void page_attribute(struct nvtxt_out *out, const char *name, struct nvtxt_slice value) {
    page_raw(out, " ");
    page_raw(out, name);
    page_raw(out, "=\"");
    page_text(out, value);
    page_raw(out, "\"");
}

void page_attribute_int(struct nvtxt_out *out, const char *name, int64_t value) {
    page_raw(out, " ");
    page_raw(out, name);
    page_raw(out, "=\"");
    nvtxt_out_int(out, value);
    page_raw(out, "\"");
}

void page_cell(struct nvtxt_out *out, const char *tag, struct nvtxt_slice text) {
    page_raw(out, "<");
    page_raw(out, tag);
    page_raw(out, ">");
    page_name(out, text);
    page_raw(out, "</");
    page_raw(out, tag);
    page_raw(out, ">");
}

// A number as JSON has it, and for people.
void page_cell_uint(struct nvtxt_out *out, uint64_t value) {
    char number[REPORT_PLAIN_NUMBER];
    report_plain_uint(number, value);
    page_raw(out, "<td class=\"n\" data-value=\"");
    nvtxt_out_uint(out, value);
    page_raw(out, "\">");
    page_raw(out, number);
    page_raw(out, "</td>");
}

void page_titles(struct nvtxt_out *out, const char *const *titles) {
    page_raw(out, "<thead><tr>");
    for (; *titles; titles++) {
        page_raw(out, "<th scope=\"col\">");
        page_raw(out, *titles);
        page_raw(out, "</th>");
    }
    page_raw(out, "</tr></thead>");
}

void page_begin_region(struct nvtxt_out *out, const char *label, const char *class) {
    page_raw(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    page_attribute(out, "aria-label", nvtxt_slice_of(label));
    page_raw(out, "><table");
    if (class) {
        page_attribute(out, "class", nvtxt_slice_of(class));
    }
    page_raw(out, ">");
}

void page_begin_table(struct nvtxt_out *out, const char *label, const char *class,
                      const char *const *titles) {
    page_begin_region(out, label, class);
    if (titles) {
        page_titles(out, titles);
    }
    page_raw(out, "<tbody>\n");
}

void page_end_table(struct nvtxt_out *out) {
    page_raw(out, "</tbody></table></div>\n");
}

void page_begin_fact(struct nvtxt_out *out, const char *what) {
    page_raw(out, "<div><dt>");
    page_raw(out, what);
    page_raw(out, "</dt><dd>");
}

void page_end_fact(struct nvtxt_out *out) {
    page_raw(out, "</dd></div>");
}

void page_utc(struct nvtxt_out *out, int64_t ns, int64_t base_ns) {
    int64_t utc;
    if (__builtin_add_overflow(ns, base_ns, &utc)) {
        utc = ns < 0 ? INT64_MIN : INT64_MAX;
    }
    nvtxt_out_utc(out, utc);
}

#define BAR "160" // units across

void page_bar(struct nvtxt_out *out, double value, double most) {
    char width[32];
    double part = most > 0 && value > 0 ? value / most : 0;
    part = part <= 1 ? part : 1; // also what is not a number
    snprintf(width, sizeof(width), "%.1f", part * 160);
    page_raw(out, "<svg class=\"bar\" viewBox=\"0 0 " BAR " 12\" width=\"" BAR
                  "\" height=\"12\" aria-hidden=\"true\"><rect width=\"");
    page_raw(out, width);
    page_raw(out, "\" height=\"12\"/></svg>");
}

// ---- Tables -------------------------------------------------------------------------------------

void page_value(struct nvtxt_out *out, double value) {
    const char *name = report_json_na_of(value);
    page_raw(out, " data-value=\"");
    if (name) {
        page_raw(out, name);
    } else {
        nvtxt_out_double(out, value);
    }
    page_raw(out, "\"");
}

// The number as JSON has it; and as text for people.
static void put_number(struct nvtxt_out *out, const struct report_cell *cell, char *text) {
    switch (cell->kind) {
    case REPORT_CELL_INT:
        page_attribute_int(out, "data-value", cell->int64);
        report_plain_int(text, cell->int64);
        break;
    case REPORT_CELL_UINT:
        page_raw(out, " data-value=\"");
        nvtxt_out_uint(out, cell->uint64);
        page_raw(out, "\"");
        report_plain_uint(text, cell->uint64);
        break;
    case REPORT_CELL_REAL:
        page_value(out, cell->real);
        report_plain_real(text, cell->real);
        break;
    default:
        break;
    }
}

static void put_cell(struct nvtxt_out *out, const struct report_cell *cell, bool is_id) {
    char text[REPORT_PLAIN_NUMBER] = "";
    if (cell->kind == REPORT_CELL_TEXT) {
        page_cell(out, "td", report_cell_slice(cell));
        return;
    }
    page_raw(out, "<td class=\"n\"");
    put_number(out, cell, text);
    page_raw(out, ">");
    if (is_id && cell->kind == REPORT_CELL_INT) {
        nvtxt_out_int(out, cell->int64);
    } else if (is_id && cell->kind == REPORT_CELL_UINT) {
        nvtxt_out_uint(out, cell->uint64);
    } else {
        page_raw(out, text);
    }
    page_raw(out, "</td>");
}

static void put_row_id(struct nvtxt_out *out, const char *id, const struct report_cell *cell) {
    page_raw(out, " id=\"");
    page_raw(out, id);
    nvtxt_out_int(out, cell->int64);
    page_raw(out, "\"");
}

void page_table(struct nvtxt_out *out, const struct report_table *table, size_t most,
                const char *id) {
    struct report_cell room[REPORT_TABLE_MADE];
    page_begin_region(out, "Table", NULL);
    page_raw(out, "<thead><tr>");
    for (size_t i = 0; i < table->column_count; i++) {
        page_raw(out, "<th scope=\"col\">");
        page_text(out, nvtxt_slice_of(table->columns[i].title));
        page_raw(out, "</th>");
    }
    page_raw(out, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < table->row_count && row < most && !out->error; row++) {
        const struct report_cell *cells = report_table_cells(table, row, room);
        page_raw(out, "<tr");
        if (id) {
            put_row_id(out, id, &cells[0]);
        }
        page_raw(out, ">");
        for (size_t i = 0; i < table->column_count; i++) {
            put_cell(out, &cells[i], table->columns[i].kind == REPORT_COLUMN_ID);
        }
        page_raw(out, "</tr>\n");
    }
    page_end_table(out);
    size_t more = table->left_out + (table->row_count > most ? table->row_count - most : 0);
    if (more > 0) {
        page_raw(out, "<p>");
        nvtxt_out_uint(out, more);
        page_raw(out, " more rows are not shown here.</p>\n");
    }
    for (size_t i = 0; i < table->note_count; i++) {
        page_raw(out, "<p>Note: ");
        page_text(out, nvtxt_slice_of(table->notes[i]));
        page_raw(out, "</p>\n");
    }
}
