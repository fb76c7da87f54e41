// SPDX-License-Identifier: Apache-2.0
//
// A text is a list of pieces: what stands before a value, the value's expression, and its unit. The
// last piece has no expression. Braces that are doubled end a piece too, so that every piece is a
// view of the text.
#include "report/rule/template.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/metric/expression.h"
#include "report/rule/scope_values.h"

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

#define FAULTY 1

// ---- Parsing ------------------------------------------------------------------------------------

static int fault(struct report_expression_fault *fault_, size_t at, const char *text) {
    fault_->line = 0;
    fault_->column = (unsigned)at + 1;
    fault_->code = "bad-expression";
    snprintf(fault_->text, sizeof(fault_->text), "%s", text);
    return FAULTY;
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

// `EXPR}` or `EXPR|UNIT}` at `*at`, which is put after the brace.
static int parse_value(struct piece *piece, struct nvtxt_slice text, size_t *at,
                       struct report_expression_fault *fault_) {
    size_t open = *at - 1;
    int r = report_expression_parse_at(&piece->expression, text, at, REPORT_EXPRESSION_INSTANCES,
                                       fault_);
    if (r != 0) {
        return r;
    }
    while (*at < text.len && strchr(" \t\r\n", text.data[*at])) {
        ++*at;
    }
    if (*at < text.len && text.data[*at] == '|') {
        const char *unit = text.data + ++*at;
        const char *end = memchr(unit, '}', text.len - *at);
        piece->unit = (struct nvtxt_slice){unit, end ? (size_t)(end - unit) : text.len - *at};
        *at += piece->unit.len;
    }
    if (*at >= text.len) {
        return fault(fault_, open, "'{' without its '}'; write '{{' for a brace");
    }
    if (text.data[*at] != '}') {
        return fault(fault_, *at, "'}' or '|' is missing here");
    }
    ++*at;
    return 0;
}

static int parse(struct report_template *parsed, struct nvtxt_slice text,
                 struct report_expression_fault *fault_) {
    struct piece **last = &parsed->first;
    size_t from = 0;
    while (text.len > 0) {
        const char *brace = from < text.len ? memchr(text.data + from, '{', text.len - from) : NULL;
        size_t at = brace ? (size_t)(brace - text.data) + 1 : text.len;
        bool doubled = brace && at < text.len && text.data[at] == '{';
        const char *end = brace ? brace + doubled : text.data + text.len;
        struct piece *piece = add_piece(&last, text.data + from, end);
        if (!piece || !brace) {
            return piece ? 0 : -ENOMEM;
        }
        int r = doubled ? 0 : parse_value(piece, text, &at, fault_);
        if (r != 0) {
            return r;
        }
        from = at + doubled;
    }
    return 0;
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
        return -ENOMEM;
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
    int r = *parsed ? parse(*parsed, text, fault_) : -ENOMEM;
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

// At most `decimals` of them, without zeros at the end.
static void add_double(struct nvtxt_buf *out, double value, int decimals) {
    char text[400];
    if (!isfinite(value)) {
        nvtxt_buf_add_string(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    int len = snprintf(text, sizeof(text), "%.*f", decimals, value);
    while (strchr(text, '.') && (text[len - 1] == '0' || text[len - 1] == '.')) {
        bool point = text[len - 1] == '.';
        text[--len] = '\0';
        if (point) {
            break;
        }
    }
    nvtxt_buf_add_string(out, strcmp(text, "-0") == 0 ? "0" : text);
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

static bool is_integer(const struct report_value *value) {
    return value->type == REPORT_U32 || value->type == REPORT_U64;
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
        nvtxt_buf_add(out, value->string.data, value->string.len);
    } else if (is_integer(value)) {
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
    return nvtxt_buf_failed(out) ? -ENOMEM : 0;
}
