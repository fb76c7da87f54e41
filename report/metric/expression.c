// SPDX-License-Identifier: Apache-2.0
//
// Recursive descent that leaves no tree: each operand and operator becomes one step of a program
// for a machine with a stack, so a long expression needs no deep recursion to be evaluated. Only
// parentheses, functions and `not` go deeper, and their depth has a limit.
//
// What the last step leaves on the stack is the type of what was just parsed: a number, a text, or
// a truth. A parenthesis that begins what may be a condition holds one or an operand, whichever its
// last step says.
#include "report/metric/expression.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/base/scan.h"
#include "report/catalogue/catalogue.h"
#include "report/metric/program.h"

struct parser {
    struct report_expression *expression;
    enum report_expression_kind kind;
    struct nvtxt_scan in;
    unsigned depth, revised; // functions and parentheses around; those that revise or simplify
    unsigned nested;         // `not` and parentheses of conditions around
    const char *condition;   // where one may begin; NULL: nowhere
    struct nvtxt_hash names; // of the expression
    struct report_expression_fault *fault;
};

static const struct {
    const char *name;
    enum report_step_kind kind;
    bool of_instances; // not in derived metrics
} functions[] = {
    {"revise_min", REPORT_STEP_REVISE_MIN, false},
    {"revise_max", REPORT_STEP_REVISE_MAX, false},
    {"revise_avg", REPORT_STEP_REVISE_AVG, false},
    {"revise_sum", REPORT_STEP_REVISE_SUM, false},
    {"simplify", REPORT_STEP_SIMPLIFY, false},
    {"min", REPORT_STEP_MIN, true},
    {"max", REPORT_STEP_MAX, true},
    {"count", REPORT_STEP_COUNT, true},
    {"at", REPORT_STEP_AT, true},
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))
#define NO_OPERAND "a number, a metric, a function or '(' is expected"

static int fail(struct parser *parser, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(struct parser *parser, const char *at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    *parser->fault = (struct report_expression_fault){
        .column = (unsigned)(at - parser->in.begin) + 1, .code = "bad-expression"};
    vsnprintf(parser->fault->text, sizeof(parser->fault->text), format, args);
    va_end(args);
    return NVTXT_WRONG;
}

// ---- Steps --------------------------------------------------------------------------------------

static int emit(struct parser *parser, struct report_step step) {
    return report_program_add(parser->expression, step);
}

static int emit_kind(struct parser *parser, enum report_step_kind kind) {
    return emit(parser, (struct report_step){.kind = kind});
}

static const struct report_step *last_step(const struct parser *parser) {
    return &parser->expression->steps[parser->expression->count - 1];
}

enum type { TYPE_UNKNOWN, TYPE_NUMBER, TYPE_TEXT, TYPE_TRUTH };

// A name is known when it is of the catalogue.
static enum type last_type(const struct parser *parser) {
    const struct report_step *last = last_step(parser);
    struct report_catalogue_metric metric;
    if (last->kind != REPORT_STEP_NAME) {
        return last->kind == REPORT_STEP_TEXT   ? TYPE_TEXT
               : last->kind >= REPORT_STEP_LESS ? TYPE_TRUTH
                                                : TYPE_NUMBER;
    }
    const char *name = parser->expression->names[last->name]->text;
    if (!report_catalogue_find(nvtxt_slice_of(name), &metric)) {
        return TYPE_UNKNOWN;
    }
    return metric.type == REPORT_STRING ? TYPE_TEXT : TYPE_NUMBER;
}

static bool is_truth(const struct parser *parser) {
    return last_step(parser)->kind >= REPORT_STEP_LESS;
}

// A name that is known to be a text cannot be counted with; alone it may stand.
static int refuse_text(struct parser *parser) {
    const struct report_step *last = last_step(parser);
    if (last_type(parser) != TYPE_TEXT) {
        return 0;
    }
    return fail(parser, parser->in.begin + last->column, "'%s' is a text, and no operand",
                parser->expression->names[last->name]->text);
}

// ---- Tokens -------------------------------------------------------------------------------------

// Goes to the next token, and returns where it begins.
static const char *next_token(struct parser *parser) {
    nvtxt_scan_skip(&parser->in, NVTXT_CHAR_SPACE);
    return parser->in.at;
}

static bool take(struct parser *parser, char byte) {
    next_token(parser);
    return nvtxt_scan_take(&parser->in, byte);
}

// Whether that word is the next token.
static bool is_word(struct parser *parser, const char *word) {
    const char *from = next_token(parser);
    const char *end = nvtxt_scan_run(&parser->in, from, NVTXT_CHAR_DOTTED);
    return nvtxt_slice_equal(nvtxt_slice_between(from, end), nvtxt_slice_of(word));
}

// ---- Operands -----------------------------------------------------------------------------------

static int real_number(struct parser *parser, const char *from) {
    char digits[64];
    size_t len = (size_t)(parser->in.at - from);
    if (len >= sizeof(digits)) {
        return fail(parser, from, "the number is too long; 63 bytes are the most");
    }
    memcpy(digits, from, len);
    digits[len] = '\0';
    struct report_value value = {REPORT_DOUBLE, .real = strtod(digits, NULL)};
    return emit(parser, (struct report_step){.kind = REPORT_STEP_NUMBER, .number = value});
}

static int integer(struct parser *parser, uint64_t *value) {
    const char *from = parser->in.at;
    return nvtxt_scan_take_uint(&parser->in, value)
               ? 0
               : fail(parser, from, "the number does not fit into 64 bits; write it with a point");
}

static int number(struct parser *parser) {
    const char *from = parser->in.at;
    struct report_value value = {REPORT_U64, .u64 = 0};
    int r = integer(parser, &value.u64);
    if (nvtxt_scan_take(&parser->in, '.')) {
        nvtxt_scan_skip(&parser->in, NVTXT_CHAR_DIGIT);
        r = real_number(parser, from);
    } else if (r == 0) {
        r = emit(parser, (struct report_step){.kind = REPORT_STEP_NUMBER, .number = value});
    }
    if (r == 0 && nvtxt_scan_is(&parser->in, NVTXT_CHAR_DOTTED)) {
        return fail(parser, parser->in.at,
                    "a number ends here; there are no exponents and no suffixes");
    }
    return r;
}

static int use_name(struct parser *parser, struct nvtxt_slice name, const char *from) {
    size_t index = 0;
    if (name.len == 0 || memchr(name.data, '\0', name.len)) {
        return fail(parser, from, "the name of a metric is expected between the back-ticks");
    }
    int r = report_program_name(parser->expression, &parser->names, name, &index);
    return r
               ?: emit(parser, (struct report_step){.kind = REPORT_STEP_NAME,
                                                    .name = index,
                                                    .column = (size_t)(from - parser->in.begin)});
}

// What is between this quote and the next one like it; no data: there is none.
static struct nvtxt_slice quoted(struct parser *parser) {
    char quote = *parser->in.at++;
    const char *from = parser->in.at, *end = nvtxt_scan_find(&parser->in, quote);
    parser->in.at = end ? end + 1 : from;
    return end ? nvtxt_slice_between(from, end) : (struct nvtxt_slice){NULL, 0};
}

static int ticked_name(struct parser *parser, const char *from) {
    struct nvtxt_slice name = quoted(parser);
    return name.data ? use_name(parser, name, from)
                     : fail(parser, from, "the closing back-tick is missing");
}

// The id of at(): a text in quotes of either kind, or an integer.
static int instance_id(struct parser *parser, struct report_step *step) {
    const char *from = next_token(parser);
    char byte = nvtxt_scan_byte(&parser->in, 0);
    if (nvtxt_char_is(byte, NVTXT_CHAR_DIGIT)) {
        return integer(parser, &step->id.number);
    }
    struct nvtxt_slice text = {NULL, 0};
    if (byte == '"' || byte == '\'') {
        text = quoted(parser);
    }
    if (!text.data) {
        return fail(parser, from, "the id of an instance is expected: \"text\" or an integer");
    }
    step->owned = strndup(text.data, text.len);
    step->id = (struct report_id){.is_text = true, .text = {step->owned, text.len}};
    return step->owned ? 0 : nvtxt_origin(-ENOMEM);
}

static int sum(struct parser *parser);
static int alternatives(struct parser *parser);

static int close_with(struct parser *parser, struct report_step *step) {
    int r = 0;
    if (step->kind == REPORT_STEP_AT) {
        r = take(parser, ',') ? instance_id(parser, step)
                              : fail(parser, parser->in.at, "',' is expected");
    }
    if (r == 0 && !take(parser, ')')) {
        r = fail(parser, parser->in.at, "')' is expected");
    }
    return r;
}

// What stands in parentheses, with the function before them. `step` of kind REPORT_STEP_NOTHING:
// none.
static int enclosed(struct parser *parser, const char *from, struct report_step step) {
    bool revises = step.kind >= REPORT_STEP_REVISE_MIN && step.kind <= REPORT_STEP_SIMPLIFY;
    if (parser->depth == REPORT_EXPRESSION_DEPTH) {
        return fail(parser, from, "too deep; %u parentheses are the most", REPORT_EXPRESSION_DEPTH);
    }
    parser->depth++;
    parser->revised += revises;
    int r = sum(parser);
    r = r ?: close_with(parser, &step);
    if (r == 0 && step.kind != REPORT_STEP_NOTHING) {
        r = refuse_text(parser);
        r = r ?: emit(parser, step);
    } else {
        free(step.owned);
    }
    parser->depth--;
    parser->revised -= revises;
    return r;
}

// A parenthesis where a condition may begin.
static int enclosed_condition(struct parser *parser, const char *open) {
    const char *from = next_token(parser);
    int r = alternatives(parser);
    if (r != 0) {
        return r;
    }
    if (last_step(parser)->kind == REPORT_STEP_TEXT) {
        return fail(parser, from, NO_OPERAND);
    }
    if (take(parser, ')')) {
        return 0;
    }
    return nvtxt_scan_left(&parser->in) > 0
               ? fail(parser, parser->in.at, "')', 'and', 'or' or a comparison is missing here")
               : fail(parser, open, "'(' without its ')'");
}

static int function(struct parser *parser, struct nvtxt_slice name, const char *from) {
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        bool there = !functions[i].of_instances || parser->kind != REPORT_EXPRESSION_DERIVED;
        if (there && nvtxt_slice_equal(name, nvtxt_slice_of(functions[i].name))) {
            return enclosed(parser, from, (struct report_step){.kind = functions[i].kind});
        }
    }
    return fail(parser, from,
                "unknown function '%.*s'; there are revise_min, revise_max, revise_avg, revise_sum "
                "and simplify",
                (int)nvtxt_slice_cut(name, 64).len, name.data);
}

static int factor(struct parser *parser) {
    const char *from = next_token(parser);
    if (nvtxt_scan_is(&parser->in, NVTXT_CHAR_DIGIT)) {
        return number(parser);
    }
    if (nvtxt_scan_byte(&parser->in, 0) == '`') {
        return ticked_name(parser, from);
    }
    if (take(parser, '(')) {
        return from == parser->condition
                   ? enclosed_condition(parser, from)
                   : enclosed(parser, from, (struct report_step){.kind = REPORT_STEP_NOTHING});
    }
    if (nvtxt_scan_is(&parser->in, NVTXT_CHAR_WORD_START)) {
        struct nvtxt_slice name = nvtxt_scan_take_run(&parser->in, NVTXT_CHAR_DOTTED);
        return take(parser, '(') ? function(parser, name, from) : use_name(parser, name, from);
    }
    if (nvtxt_scan_byte(&parser->in, 0) == '-') {
        return fail(parser, from, "there is no sign; write '0 - x'");
    }
    return fail(parser, from, NO_OPERAND);
}

// ---- Operators ----------------------------------------------------------------------------------

// Operands by `operand` with one of the two operators between them, from left to right. A truth is
// no operand: what follows it is for the levels of conditions.
static int chain(struct parser *parser, int (*operand)(struct parser *parser), const char *signs,
                 const enum report_step_kind *kinds) {
    int r = operand(parser);
    while (r == 0 && !is_truth(parser)) {
        next_token(parser);
        bool second = nvtxt_scan_take(&parser->in, signs[1]);
        if (!second && !nvtxt_scan_take(&parser->in, signs[0])) {
            break;
        }
        r = refuse_text(parser);
        r = r ?: operand(parser);
        r = r ?: refuse_text(parser);
        r = r
                ?: emit(parser, (struct report_step){.kind = kinds[second],
                                                     .revised = parser->revised > 0});
    }
    return r;
}

static int product(struct parser *parser) {
    static const enum report_step_kind kinds[] = {REPORT_STEP_MULTIPLY, REPORT_STEP_DIVIDE};
    return chain(parser, factor, "*/", kinds);
}

static int sum(struct parser *parser) {
    static const enum report_step_kind kinds[] = {REPORT_STEP_ADD, REPORT_STEP_SUBTRACT};
    return chain(parser, product, "+-", kinds);
}

// ---- Conditions ---------------------------------------------------------------------------------

// A text in quotes; a backslash takes the next byte as it is.
static int text(struct parser *parser, const char *from) {
    struct nvtxt_scan *in = &parser->in;
    char *made = malloc(nvtxt_scan_left(in)), *to = made;
    if (!made) {
        return nvtxt_origin(-ENOMEM);
    }
    for (in->at++; in->at < in->end && *in->at != *from; in->at++) {
        in->at += *in->at == '\\' && in->at + 1 < in->end;
        *to++ = *in->at;
    }
    if (!nvtxt_scan_take(in, *from)) {
        free(made);
        return fail(parser, from, "a text without its closing quote");
    }
    return emit(parser,
                (struct report_step){.kind = REPORT_STEP_TEXT,
                                     .id = {.is_text = true, .text = {made, (size_t)(to - made)}},
                                     .owned = made});
}

// What is compared.
static int compared(struct parser *parser) {
    const char *from = next_token(parser);
    char byte = nvtxt_scan_byte(&parser->in, 0);
    int r = emit_kind(parser, REPORT_STEP_OPERAND);
    if (r != 0) {
        return r;
    }
    if (byte == '"' || byte == '\'') {
        return text(parser, from);
    }
    if (is_word(parser, "and") || is_word(parser, "or") || is_word(parser, "not")) {
        return fail(parser, from, "a metric, a number or a parenthesis is missing here");
    }
    return sum(parser);
}

static bool take_comparison(struct parser *parser, enum report_step_kind *kind) {
    static const struct {
        const char *sign;
        enum report_step_kind kind;
    } signs[] = {
        {"<=", REPORT_STEP_LESS_EQUAL}, {">=", REPORT_STEP_GREATER_EQUAL},
        {"==", REPORT_STEP_EQUAL},      {"!=", REPORT_STEP_NOT_EQUAL},
        {"<", REPORT_STEP_LESS},        {">", REPORT_STEP_GREATER},
    };
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (nvtxt_scan_take_text(&parser->in, signs[i].sign)) {
            *kind = signs[i].kind;
            return true;
        }
    }
    return false;
}

// A comparison, a condition in parentheses, or a value alone.
static int comparison(struct parser *parser) {
    enum report_step_kind kind;
    int r = compared(parser);
    if (r != 0 || is_truth(parser)) {
        return r;
    }
    enum type left = last_type(parser);
    bool has_text = last_step(parser)->kind == REPORT_STEP_TEXT;
    const char *sign = next_token(parser);
    if (!take_comparison(parser, &kind)) {
        return 0;
    }
    r = compared(parser);
    if (r != 0) {
        return r;
    }
    // What would fail whatever the values are.
    enum type right = last_type(parser);
    has_text |= last_step(parser)->kind == REPORT_STEP_TEXT;
    bool one_is = left == TYPE_TEXT || right == TYPE_TEXT;
    if (one_is && kind < REPORT_STEP_EQUAL && (left == right || has_text)) {
        return fail(parser, sign, "texts are compared with == and != only");
    }
    if (one_is && (left == TYPE_NUMBER || right == TYPE_NUMBER)) {
        return fail(parser, sign, "a text is compared with a number");
    }
    return emit_kind(parser, kind);
}

// Makes a truth of what was parsed from `from` on: a number holds when it is not 0.
static int hold(struct parser *parser, const char *from) {
    if (is_truth(parser)) {
        return 0;
    }
    if (last_type(parser) == TYPE_TEXT) {
        bool name = last_step(parser)->kind == REPORT_STEP_NAME;
        return fail(parser, name ? from : next_token(parser), "a text is compared with == or !=");
    }
    return emit_kind(parser, REPORT_STEP_TRUTH);
}

static int negation(struct parser *parser) {
    const char *from = next_token(parser);
    int r;
    if (parser->nested == REPORT_CONDITION_DEPTH) {
        return fail(parser, from, "the condition is nested too deeply");
    }
    parser->nested++;
    if (is_word(parser, "not")) {
        parser->in.at += strlen("not");
        from = next_token(parser);
        r = negation(parser);
        r = r ?: hold(parser, from);
        r = r ?: emit_kind(parser, REPORT_STEP_NOT);
    } else {
        parser->condition = from;
        r = comparison(parser);
    }
    parser->nested--;
    return r;
}

// `part { WORD part }`, from the left. Alone, a part stays the number that it may be.
static int joined(struct parser *parser, const char *word, enum report_step_kind kind,
                  int (*part)(struct parser *parser)) {
    const char *from = next_token(parser);
    int r = part(parser);
    while (r == 0 && is_word(parser, word)) {
        r = hold(parser, from);
        parser->in.at += strlen(word);
        from = next_token(parser);
        size_t step = parser->expression->count;
        r = r ?: emit_kind(parser, kind);
        r = r ?: part(parser);
        r = r ?: hold(parser, from);
        if (r == 0) {
            parser->expression->steps[step].next = parser->expression->count;
        }
    }
    return r;
}

static int conjunction(struct parser *parser) {
    return joined(parser, "and", REPORT_STEP_AND, negation);
}

static int alternatives(struct parser *parser) {
    return joined(parser, "or", REPORT_STEP_OR, conjunction);
}

static int condition(struct parser *parser) {
    const char *from = next_token(parser);
    int r = alternatives(parser);
    return r ?: hold(parser, from);
}

// ---- The whole ----------------------------------------------------------------------------------

static int parse(struct parser *parser) {
    parser->expression = calloc(1, sizeof(*parser->expression));
    if (!parser->expression) {
        return nvtxt_origin(-ENOMEM);
    }
    if (parser->kind != REPORT_EXPRESSION_CONDITION) {
        return sum(parser);
    }
    return nvtxt_scan_left(&parser->in) > REPORT_CONDITION_BYTES
               ? fail(parser, parser->in.at + REPORT_CONDITION_BYTES,
                      "the condition is longer than 65,536 bytes")
               : condition(parser);
}

static int finish(struct parser *parser, int r, struct report_expression **expression) {
    nvtxt_hash_deinit(&parser->names);
    if (r != 0) {
        report_expression_free(parser->expression);
        parser->expression = NULL;
    }
    *expression = parser->expression;
    return r;
}

int report_expression_parse_at(struct report_expression **expression, struct nvtxt_slice text,
                               size_t *at, enum report_expression_kind kind,
                               struct report_expression_fault *fault) {
    struct parser parser = {.kind = kind, .in = nvtxt_scan(text), .fault = fault};
    parser.in.at += *at;
    int r = parse(&parser);
    next_token(&parser);
    *at = nvtxt_scan_place(&parser.in);
    return finish(&parser, r, expression);
}

// What stands after the whole.
static int leftover(struct parser *parser) {
    switch (parser->kind) {
    case REPORT_EXPRESSION_DERIVED:
        return fail(parser, parser->in.at, "an operator or the end is expected");
    case REPORT_EXPRESSION_OF_RULE:
        return fail(parser, parser->in.at, "an operator is missing here");
    case REPORT_EXPRESSION_CONDITION:
        break;
    }
    return fail(parser, parser->in.at, "%s",
                *parser->in.at == '=' ? "'=' is no comparison; did you mean '=='?"
                                      : "'and', 'or' or a comparison is missing here");
}

int report_expression_parse(struct report_expression **expression, struct nvtxt_slice text,
                            enum report_expression_kind kind,
                            struct report_expression_fault *fault) {
    struct parser parser = {.kind = kind, .in = nvtxt_scan(text), .fault = fault};
    int r = parse(&parser);
    if (r == 0 && next_token(&parser) < parser.in.end) {
        r = leftover(&parser);
    }
    return finish(&parser, r, expression);
}

void report_expression_free(struct report_expression *expression) {
    if (expression) {
        for (size_t i = 0; i < expression->name_count; i++) {
            free(expression->names[i]);
        }
        for (size_t i = 0; i < expression->count; i++) {
            free(expression->steps[i].owned);
        }
        free(expression->names);
        free(expression->steps);
        free(expression);
    }
}

const char *report_expression_name(const struct report_expression *expression, size_t n) {
    return n < expression->name_count ? expression->names[n]->text : NULL;
}
