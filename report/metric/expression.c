// SPDX-License-Identifier: Apache-2.0
//
// Recursive descent that leaves no tree: each operand and operator becomes one step of a program
// for a machine with a stack, so a long expression needs no deep recursion to be evaluated. Only
// parentheses and functions go deeper, and their depth has a limit.
#include "report/metric/expression.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/chars.h"
#include "report/catalogue/catalogue.h"
#include "report/metric/program.h"

struct parser {
    struct report_expression *expression;
    struct nvtxt_slice text;
    size_t at; // after the last token
    unsigned flags;
    unsigned depth, revised; // functions and parentheses around; those that revise or simplify
    struct nvtxt_hash names; // of the expression
    struct report_expression_fault *fault;
};

static const struct {
    const char *name;
    enum report_step_kind kind;
    bool of_instances; // REPORT_EXPRESSION_INSTANCES
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

static int fail(struct parser *parser, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(struct parser *parser, size_t at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    *parser->fault =
        (struct report_expression_fault){.column = (unsigned)at + 1, .code = "bad-expression"};
    vsnprintf(parser->fault->text, sizeof(parser->fault->text), format, args);
    va_end(args);
    return 1;
}

static int emit(struct parser *parser, struct report_step step) {
    struct report_expression *expression = parser->expression;
    if (expression->count == expression->room) {
        size_t room = expression->room ? 2 * expression->room : 16;
        struct report_step *steps = realloc(expression->steps, room * sizeof(*steps));
        if (!steps) {
            return -ENOMEM;
        }
        expression->steps = steps;
        expression->room = room;
    }
    expression->steps[expression->count++] = step;
    return 0;
}

// ---- Tokens -------------------------------------------------------------------------------------

static size_t skip_blanks(const struct parser *parser) {
    size_t at = parser->at;
    while (at < parser->text.len && memchr(" \t\r\n", parser->text.data[at], 4)) {
        at++;
    }
    return at;
}

// The byte at that place; 0 at the end.
static char byte_at(const struct parser *parser, size_t at) {
    return at < parser->text.len ? parser->text.data[at] : '\0';
}

// Takes the byte if it is the next token.
static bool take(struct parser *parser, char byte) {
    size_t at = skip_blanks(parser);
    if (at < parser->text.len && parser->text.data[at] == byte) {
        parser->at = at + 1;
        return true;
    }
    return false;
}

// The end of the bytes of these classes, and of points, from a place on.
static size_t run(const struct parser *parser, size_t at, enum nvtxt_char_class classes,
                  bool points) {
    while (at < parser->text.len && (nvtxt_char_is(parser->text.data[at], classes) ||
                                     (points && parser->text.data[at] == '.'))) {
        at++;
    }
    return at;
}

static struct nvtxt_slice piece(const struct parser *parser, size_t from, size_t end) {
    return (struct nvtxt_slice){parser->text.data + from, end - from};
}

// ---- Operands -----------------------------------------------------------------------------------

static int real_number(struct parser *parser, size_t from, size_t end) {
    char digits[64];
    if (end - from >= sizeof(digits)) {
        return fail(parser, from, "the number is too long; 63 bytes are the most");
    }
    memcpy(digits, parser->text.data + from, end - from);
    digits[end - from] = '\0';
    struct report_value value = {REPORT_DOUBLE, .real = strtod(digits, NULL)};
    return emit(parser, (struct report_step){.kind = REPORT_STEP_NUMBER, .number = value});
}

static int integer(struct parser *parser, size_t from, size_t end, uint64_t *value) {
    *value = 0;
    for (size_t i = from; i < end; i++) {
        uint64_t digit = (uint64_t)(parser->text.data[i] - '0');
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, digit, value)) {
            return fail(parser, from,
                        "the number does not fit into 64 bits; write it with a point");
        }
    }
    return 0;
}

static int number(struct parser *parser, size_t from) {
    size_t end = run(parser, from, NVTXT_CHAR_DIGIT, false);
    bool point = byte_at(parser, end) == '.';
    uint64_t value = 0;
    int result = 0;
    if (point) {
        end = run(parser, end + 1, NVTXT_CHAR_DIGIT, false);
        result = real_number(parser, from, end);
    } else {
        result = integer(parser, from, end, &value);
    }
    if (!result && (nvtxt_char_is(byte_at(parser, end), NVTXT_CHAR_WORD_START) ||
                    byte_at(parser, end) == '.')) {
        return fail(parser, end, "a number ends here; there are no exponents and no suffixes");
    }
    parser->at = end;
    if (result || point) {
        return result;
    }
    return emit(parser, (struct report_step){.kind = REPORT_STEP_NUMBER,
                                             .number = {REPORT_U64, .u64 = value}});
}

// One more name. The array of names grows at powers of two.
static int add_name(struct parser *parser, struct nvtxt_slice name, uint64_t hash) {
    struct report_expression *expression = parser->expression;
    size_t count = expression->name_count;
    if ((count & (count - 1)) == 0) {
        size_t room = count ? 2 * count : 1;
        struct report_operand_name **names =
            realloc(expression->names, room * sizeof(struct report_operand_name *));
        if (!names) {
            return -ENOMEM;
        }
        expression->names = names;
    }
    struct report_operand_name *made = calloc(1, sizeof(*made) + name.len + 1);
    if (!made || nvtxt_hash_add(&parser->names, &made->node, hash)) {
        free(made);
        return -ENOMEM;
    }
    memcpy(made->text, name.data, name.len);
    made->index = count;
    expression->names[expression->name_count++] = made;
    return 0;
}

// The index of a name among those of the expression.
static int name_index(struct parser *parser, struct nvtxt_slice name, size_t *index) {
    uint64_t hash = nvtxt_hash_bytes(name);
    struct report_operand_name *found;
    NVTXT_HASH_FIND(found, node, &parser->names, hash,
                    nvtxt_slice_equal(nvtxt_slice_of(found->text), name));
    *index = found ? found->index : parser->expression->name_count;
    return found ? 0 : add_name(parser, name, hash);
}

static int use_name(struct parser *parser, struct nvtxt_slice name, size_t from) {
    size_t index = 0;
    if (name.len == 0 || memchr(name.data, '\0', name.len)) {
        return fail(parser, from, "the name of a metric is expected between the back-ticks");
    }
    int result = name_index(parser, name, &index);
    return result ? result
                  : emit(parser, (struct report_step){
                                     .kind = REPORT_STEP_NAME, .name = index, .column = from});
}

static int ticked_name(struct parser *parser, size_t from) {
    const char *start = parser->text.data + from + 1;
    const char *end = memchr(start, '`', parser->text.len - from - 1);
    if (!end) {
        return fail(parser, from, "the closing back-tick is missing");
    }
    parser->at = (size_t)(end + 1 - parser->text.data);
    return use_name(parser, (struct nvtxt_slice){start, (size_t)(end - start)}, from);
}

// A name that is known to be a text cannot be counted with; alone it may stand.
static int refuse_text(struct parser *parser, size_t step) {
    const struct report_step *said = &parser->expression->steps[step];
    struct report_catalogue_metric metric;
    if (said->kind != REPORT_STEP_NAME) {
        return 0;
    }
    const char *name = parser->expression->names[said->name]->text;
    if (report_catalogue_find(nvtxt_slice_of(name), &metric) && metric.type == REPORT_STRING) {
        return fail(parser, said->column, "'%s' is a text, and no operand", name);
    }
    return 0;
}

enum report_known report_expression_known(const struct report_expression *expression) {
    const struct report_step *first = &expression->steps[0];
    struct report_catalogue_metric metric;
    if (expression->count > 1 || first->kind != REPORT_STEP_NAME) {
        return REPORT_KNOWN_NUMBER;
    }
    const char *name = report_expression_name(expression, first->name);
    if (!report_catalogue_find(nvtxt_slice_of(name), &metric)) {
        return REPORT_KNOWN_NOTHING;
    }
    return metric.type == REPORT_STRING ? REPORT_KNOWN_TEXT : REPORT_KNOWN_NUMBER;
}

static int sum(struct parser *parser);

// The id of at(): a text in quotes of either kind, or an integer.
static int instance_id(struct parser *parser, struct report_step *step) {
    size_t from = skip_blanks(parser);
    if (nvtxt_char_is(byte_at(parser, from), NVTXT_CHAR_DIGIT)) {
        parser->at = run(parser, from, NVTXT_CHAR_DIGIT, false);
        return integer(parser, from, parser->at, &step->id.number);
    }
    const char *start = parser->text.data + from + 1;
    char quote = byte_at(parser, from);
    const char *end =
        quote == '"' || quote == '\'' ? memchr(start, quote, parser->text.len - from - 1) : NULL;
    if (!end) {
        return fail(parser, from, "the id of an instance is expected: \"text\" or an integer");
    }
    parser->at = (size_t)(end + 1 - parser->text.data);
    step->id.is_text = true;
    step->id.text.len = (size_t)(end - start);
    step->owned = strndup(start, step->id.text.len);
    step->id.text.data = step->owned;
    return step->owned ? 0 : -ENOMEM;
}

static int close_with(struct parser *parser, struct report_step *step) {
    int result = 0;
    if (step->kind == REPORT_STEP_AT) {
        result = take(parser, ',') ? instance_id(parser, step)
                                   : fail(parser, skip_blanks(parser), "',' is expected");
    }
    if (!result && !take(parser, ')')) {
        result = fail(parser, skip_blanks(parser), "')' is expected");
    }
    return result;
}

// What stands in parentheses, with the function before them. `step` of kind REPORT_STEP_NONE: none.
static int enclosed(struct parser *parser, size_t from, struct report_step step) {
    bool revises = step.kind >= REPORT_STEP_REVISE_MIN && step.kind <= REPORT_STEP_SIMPLIFY;
    if (parser->depth == REPORT_EXPRESSION_DEPTH) {
        return fail(parser, from, "too deep; %u parentheses are the most", REPORT_EXPRESSION_DEPTH);
    }
    parser->depth++;
    parser->revised += revises;
    int result = sum(parser);
    size_t inner = parser->expression->count;
    result = result ? result : close_with(parser, &step);
    if (!result && step.kind != REPORT_STEP_NONE) {
        result = refuse_text(parser, inner - 1);
        result = result ? result : emit(parser, step);
        step.owned = result ? step.owned : NULL;
    }
    free(step.owned);
    parser->depth--;
    parser->revised -= revises;
    return result;
}

static int function(struct parser *parser, struct nvtxt_slice name, size_t from) {
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        bool there = !functions[i].of_instances || (parser->flags & REPORT_EXPRESSION_INSTANCES);
        if (there && nvtxt_slice_equal(name, nvtxt_slice_of(functions[i].name))) {
            take(parser, '(');
            return enclosed(parser, from,
                            (struct report_step){.kind = functions[i].kind, .column = from});
        }
    }
    return fail(parser, from,
                "unknown function '%.*s'; there are revise_min, revise_max, revise_avg, revise_sum "
                "and simplify",
                (int)nvtxt_slice_cut(name, 64).len, name.data);
}

static int factor(struct parser *parser) {
    size_t from = skip_blanks(parser);
    char first = byte_at(parser, from);
    if (nvtxt_char_is(first, NVTXT_CHAR_DIGIT)) {
        return number(parser, from);
    }
    if (first == '`') {
        return ticked_name(parser, from);
    }
    if (take(parser, '(')) {
        return enclosed(parser, from, (struct report_step){.kind = REPORT_STEP_NONE});
    }
    if (nvtxt_char_is(first, NVTXT_CHAR_WORD_START)) {
        parser->at = run(parser, from, NVTXT_CHAR_WORD, true);
        struct nvtxt_slice name = piece(parser, from, parser->at);
        return byte_at(parser, skip_blanks(parser)) == '(' ? function(parser, name, from)
                                                           : use_name(parser, name, from);
    }
    if (first == '-') {
        return fail(parser, from, "there is no sign; write '0 - x'");
    }
    return fail(parser, from, "a number, a metric, a function or '(' is expected");
}

// ---- Operators ----------------------------------------------------------------------------------

// Operands by `operand` with one of the two operators between them, from left to right.
static int chain(struct parser *parser, int (*operand)(struct parser *parser), const char *bytes) {
    int result = operand(parser);
    size_t left = parser->expression->count;
    while (!result) {
        size_t at = skip_blanks(parser);
        char byte = byte_at(parser, at);
        if (byte == '\0' || (byte != bytes[0] && byte != bytes[1])) {
            break;
        }
        parser->at = at + 1;
        result = refuse_text(parser, left - 1);
        result = result ? result : operand(parser);
        result = result ? result : refuse_text(parser, parser->expression->count - 1);
        struct report_step step = {.column = at, .revised = parser->revised > 0};
        step.kind = byte == '+'   ? REPORT_STEP_ADD
                    : byte == '-' ? REPORT_STEP_SUBTRACT
                    : byte == '*' ? REPORT_STEP_MULTIPLY
                                  : REPORT_STEP_DIVIDE;
        result = result ? result : emit(parser, step);
        left = parser->expression->count;
    }
    return result;
}

static int product(struct parser *parser) {
    return chain(parser, factor, "*/");
}

static int sum(struct parser *parser) {
    return chain(parser, product, "+-");
}

int report_expression_parse_at(struct report_expression **expression, struct nvtxt_slice text,
                               size_t *at, unsigned flags, struct report_expression_fault *fault) {
    *expression = calloc(1, sizeof(**expression));
    if (!*expression) {
        return -ENOMEM;
    }
    struct parser parser = {
        .expression = *expression, .text = text, .at = *at, .flags = flags, .fault = fault};
    int result = sum(&parser);
    nvtxt_hash_deinit(&parser.names);
    *at = parser.at;
    if (result) {
        report_expression_free(*expression);
        *expression = NULL;
    }
    return result;
}

int report_expression_parse(struct report_expression **expression, struct nvtxt_slice text,
                            struct report_expression_fault *fault) {
    struct parser end = {.text = text, .fault = fault};
    int result = report_expression_parse_at(expression, text, &end.at, 0, fault);
    size_t left = skip_blanks(&end);
    if (!result && left < text.len) {
        report_expression_free(*expression);
        *expression = NULL;
        return fail(&end, left, "an operator or the end is expected");
    }
    return result;
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
