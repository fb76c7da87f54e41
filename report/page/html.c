// SPDX-License-Identifier: Apache-2.0
//
// A text is copied in runs: up to the next byte that HTML reads as more than text, or that is no
// UTF-8. Carriage returns are written as a reference, since a parser would make them line feeds.
#include "report/page/html.h"

#include <inttypes.h>

#include "protocol/base/utf8.h"
#include "report/table/number.h"

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

void page_named(struct nvtxt_out *out, const char *before, struct nvtxt_slice text,
                const char *after) {
    page_raw(out, before);
    page_name(out, text);
    page_raw(out, after);
}

void page_attribute(struct nvtxt_out *out, const char *name, struct nvtxt_slice value) {
    nvtxt_out_format(out, " %s=\"", name);
    page_text(out, value);
    page_raw(out, "\"");
}

void page_attribute_int(struct nvtxt_out *out, const char *name, int64_t value) {
    nvtxt_out_format(out, " %s=\"%" PRId64 "\"", name, value);
}

void page_cell(struct nvtxt_out *out, struct nvtxt_slice text) {
    page_named(out, "<td>", text, "</td>");
}

// A number as JSON has it, and for people.
void page_cell_uint(struct nvtxt_out *out, uint64_t value) {
    char number[REPORT_NUMBER];
    report_number_uint(number, value);
    nvtxt_out_format(out, "<td class=\"n\" data-value=\"%" PRIu64 "\">%s</td>", value, number);
}

void page_titles(struct nvtxt_out *out, const char *const *titles) {
    page_raw(out, "<thead><tr>");
    for (; *titles; titles++) {
        nvtxt_out_format(out, "<th scope=\"col\">%s</th>", *titles);
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
    nvtxt_out_format(out, "<div><dt>%s</dt><dd>", what);
}

void page_end_fact(struct nvtxt_out *out) {
    page_raw(out, "</dd></div>");
}

#define BAR "160" // units across

void page_bar(struct nvtxt_out *out, double value, double most) {
    double part = most > 0 && value > 0 ? value / most : 0;
    part = part <= 1 ? part : 1; // also what is not a number
    nvtxt_out_format(
        out,
        "<svg class=\"bar\" viewBox=\"0 0 " BAR " 12\" width=\"" BAR
        "\" height=\"12\" aria-hidden=\"true\"><rect width=\"%.1f\" height=\"12\"/></svg>",
        part * 160);
}
