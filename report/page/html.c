// SPDX-License-Identifier: Apache-2.0
//
// A text is copied in runs: up to the next byte that HTML reads as more than text, or that is no
// UTF-8. Carriage returns are written as a reference, since a parser would make them line feeds.
#include "report/page/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

struct nvtxt_shown_unit page_time_unit(double most_ns) {
    struct nvtxt_shown_unit unit = nvtxt_shown_unit(most_ns);
    unit.name = unit.ns == 1e3 ? "µs" : unit.name;
    return unit;
}

void page_time(struct nvtxt_out *out, double ns) {
    struct nvtxt_shown_unit unit = page_time_unit(ns);
    char digits[NVTXT_SHOWN_TIME];
    if (unit.ns == 1 && ns == round(ns)) {
        snprintf(digits, sizeof(digits), "%.0f", ns);
    } else {
        nvtxt_shown_digits(digits, ns / unit.ns);
    }
    page_text(out, nvtxt_slice_of(digits)); // "<0.001"
    nvtxt_out_format(out, " %s", unit.name);
}

void page_length(struct nvtxt_out *out, uint64_t ns) {
    nvtxt_out_format(out, "<span title=\"%" PRIu64 " ns\">", ns);
    page_time(out, (double)ns);
    page_raw(out, "</span>");
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

// ---- The page -----------------------------------------------------------------------------------

static const char *escape_of(struct nvtxt_slice json, size_t at, size_t *len) {
    static const char separator[] = "\xE2\x80";
    *len = 1;
    switch (json.data[at]) {
    case '<':
        return "\\u003C";
    case '>':
        return "\\u003E";
    case '&':
        return "\\u0026";
    case '\xE2':
        *len = 3;
        if (json.len - at < 3 || memcmp(json.data + at, separator, 2) != 0) {
            return NULL;
        }
        return json.data[at + 2] == '\xA8'   ? "\\u2028"
               : json.data[at + 2] == '\xA9' ? "\\u2029"
                                             : NULL;
    default:
        return NULL;
    }
}

void page_script_json(struct nvtxt_out *out, struct nvtxt_slice json) {
    size_t from = 0, len;
    for (size_t at = 0; at < json.len;) {
        const char *escape = escape_of(json, at, &len);
        if (escape) {
            nvtxt_out_bytes(out, json.data + from, at - from);
            nvtxt_out_slice(out, nvtxt_slice_of(escape));
            from = at + len;
        }
        at += escape ? len : 1;
    }
    nvtxt_out_bytes(out, json.data + from, json.len - from);
}

void page_policy(struct nvtxt_out *out, const char *script_hash, const char *style_hash) {
    nvtxt_out_format(out,
                     "default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; "
                     "base-uri 'none'; form-action 'none'",
                     script_hash, style_hash);
}

// The place of two equal bytes, or the length.
static size_t find_pair(struct nvtxt_slice text, size_t from, char byte) {
    for (size_t i = from; i + 1 < text.len; i++) {
        if (text.data[i] == byte && text.data[i + 1] == byte) {
            return i;
        }
    }
    return text.len;
}

void page_fill(struct nvtxt_out *out, struct nvtxt_slice page,
               void (*put)(void *context, struct nvtxt_slice place), void *context) {
    size_t at = 0;
    while (at < page.len && !out->error) {
        size_t open = find_pair(page, at, '{'), close = find_pair(page, open, '}');
        nvtxt_out_bytes(out, page.data + at, open - at);
        if (close < page.len) {
            put(context, (struct nvtxt_slice){page.data + open + 2, close - open - 2});
        }
        at = close < page.len ? close + 2 : page.len;
    }
}
