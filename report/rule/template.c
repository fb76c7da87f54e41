// SPDX-License-Identifier: Apache-2.0
//
// A text is a list of pieces: what stands before a value, the value's expression, and its unit. The
// last piece has no expression. Braces that are doubled end a piece too, so that every piece is a
// view of the text.
#include "report/rule/rules_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/base/scan.h"
#include "report/rule/scope_values.h"
#include "report/table/links.h"
#include "report/table/number.h"

struct piece {
    struct piece *next;
    struct nvtxt_slice before;
    struct report_expression *expression; // owned; NULL: only text
    struct nvtxt_slice unit;              // len 0: none
};

struct report_template {
    struct piece *first;
    const char **names; // of all expressions, in their order; owned
    size_t name_count;
};

// ---- Parsing ------------------------------------------------------------------------------------

static int fault(struct report_expression_fault *fault_, size_t at, const char *text) {
    fault_->line = 0;
    fault_->column = (unsigned)at + 1;
    fault_->code = "bad-expression";
    snprintf(fault_->text, sizeof(fault_->text), "%s", text);
    return NVTXT_WRONG;
}

static struct piece *add_piece(struct piece ***last, const char *from, const char *to) {
    struct piece *piece = calloc(1, sizeof(*piece));
    if (piece) {
        piece->before = (struct nvtxt_slice){from, (size_t)(to - from)};
        **last = piece;
        *last = &piece->next;
    }
    return piece;
}

// `EXPR}` or `EXPR|UNIT}` at the cursor, after its brace.
static int parse_value(struct piece *piece, struct nvtxt_scan *in, struct nvtxt_slice text,
                       struct report_expression_fault *fault_) {
    size_t at = nvtxt_scan_place(in), open = at - 1;
    int r = report_expression_parse_at(&piece->expression, text, &at, REPORT_EXPRESSION_OF_RULE,
                                       fault_);
    if (r != 0) {
        return r;
    }
    in->at = in->begin + at;
    if (nvtxt_scan_take(in, '|')) {
        const char *end = nvtxt_scan_find(in, '}') ?: in->end;
        piece->unit = nvtxt_slice_between(in->at, end);
        in->at = end;
    }
    if (nvtxt_scan_left(in) == 0) {
        return fault(fault_, open, "'{' without its '}'; write '{{' for a brace");
    }
    return nvtxt_scan_take(in, '}')
               ? 0
               : fault(fault_, nvtxt_scan_place(in), "'}' or '|' is missing here");
}

static int parse(struct report_template *parsed, struct nvtxt_slice text,
                 struct report_expression_fault *fault_) {
    struct piece **last = &parsed->first;
    struct nvtxt_scan in = nvtxt_scan(text);
    const char *from = in.at, *brace;
    while ((brace = nvtxt_scan_find(&in, '{'))) {
        in.at = brace + 1;
        bool doubled = nvtxt_scan_take(&in, '{');
        struct piece *piece = add_piece(&last, from, brace + doubled);
        int r = !piece    ? nvtxt_origin(-ENOMEM)
                : doubled ? 0
                          : parse_value(piece, &in, text, fault_);
        if (r != 0) {
            return r;
        }
        from = in.at;
    }
    return text.len == 0 || add_piece(&last, from, in.end) ? 0 : nvtxt_origin(-ENOMEM);
}

// The n-th name of a piece; NULL after the last.
static const char *name_in(const struct piece *piece, size_t n) {
    return piece->expression ? report_expression_name(piece->expression, n) : NULL;
}

static int list_names(struct report_template *parsed) {
    size_t count = 0;
    for (const struct piece *piece = parsed->first; piece; piece = piece->next) {
        for (size_t i = 0; name_in(piece, i); i++) {
            count++;
        }
    }
    parsed->names = malloc((count + 1) * sizeof(*parsed->names));
    if (!parsed->names) {
        return nvtxt_origin(-ENOMEM);
    }
    for (const struct piece *piece = parsed->first; piece; piece = piece->next) {
        const char *name;
        for (size_t i = 0; (name = name_in(piece, i)); i++) {
            parsed->names[parsed->name_count++] = name;
        }
    }
    return 0;
}

int report_template_parse(struct report_template **parsed, struct nvtxt_slice text,
                          struct report_expression_fault *fault_) {
    *parsed = calloc(1, sizeof(**parsed));
    int r = *parsed ? parse(*parsed, text, fault_) : nvtxt_origin(-ENOMEM);
    r = r ?: list_names(*parsed);
    if (r != 0) {
        report_template_free(*parsed);
        *parsed = NULL;
    }
    return r;
}

void report_template_free(struct report_template *parsed) {
    while (parsed && parsed->first) {
        struct piece *piece = parsed->first;
        parsed->first = piece->next;
        report_expression_free(piece->expression);
        free(piece);
    }
    if (parsed) {
        free(parsed->names);
    }
    free(parsed);
}

const char *report_template_name(const struct report_template *parsed, size_t n) {
    return n < parsed->name_count ? parsed->names[n] : NULL;
}

// ---- Writing ------------------------------------------------------------------------------------

static void add_double(struct nvtxt_buf *out, double value, int decimals) {
    char text[REPORT_NUMBER];
    report_number_short(text, value, decimals);
    nvtxt_buf_add_string(out, text);
}

static void add_time(struct nvtxt_buf *out, double ns) {
    static const char *const units[] = {" ns", " us", " ms", " s"};
    size_t unit = 0;
    while (unit < 3 && round(fabs(ns) * 1000) / 1000 >= 1000) {
        ns /= 1000;
        unit++;
    }
    add_double(out, ns, 3);
    nvtxt_buf_add_string(out, units[unit]);
}

static void add_percent(struct nvtxt_buf *out, double value) {
    char text[400];
    if (isfinite(value)) {
        snprintf(text, sizeof(text), "%.1f%%", value);
        nvtxt_buf_add_string(out, strcmp(text, "-0.0%") == 0 ? "0.0%" : text);
    } else {
        add_double(out, value, 1);
        nvtxt_buf_add_string(out, "%");
    }
}

// A text of others is no link, and ends none.
static void add_harmless(struct nvtxt_buf *out, struct nvtxt_slice text) {
    for (size_t i = 0; i < text.len; i++) {
        const char byte = report_link_harmless(text.data[i]);
        nvtxt_buf_add(out, &byte, 1);
    }
}

void report_value_write(struct nvtxt_buf *out, const struct report_value *value,
                        struct nvtxt_slice unit) {
    bool text = value->type == REPORT_STRING;
    if (!text && nvtxt_slice_equal(unit, NVTXT_SLICE("ns"))) {
        add_time(out, report_rule_number(value));
        return;
    }
    if (!text && nvtxt_slice_equal(unit, NVTXT_SLICE("%"))) {
        add_percent(out, report_rule_number(value));
        return;
    }
    if (text) {
        add_harmless(out, value->string);
    } else if (report_type_is_integer(value->type)) {
        nvtxt_buf_add_uint(out, value->u64);
    } else {
        add_double(out, value->real, 3);
    }
    if (unit.len > 0) {
        nvtxt_buf_add_string(out, " ");
        nvtxt_buf_add(out, unit.data, unit.len);
    }
}

int report_template_write(const struct report_template *parsed, struct report_rule_values *values,
                          struct nvtxt_buf *out) {
    for (const struct piece *piece = parsed->first; piece; piece = piece->next) {
        nvtxt_buf_add(out, piece->before.data, piece->before.len);
        if (!piece->expression) {
            continue;
        }
        const struct report_metric *value;
        int r = report_rule_value(values, piece->expression, &value);
        if (r != 0) {
            return r;
        }
        if (value) {
            report_value_write(out, &value->value, piece->unit);
        } else {
            nvtxt_buf_add_string(out, "N/A");
        }
    }
    return nvtxt_buf_failed(out) ? nvtxt_origin(-ENOMEM) : 0;
}
