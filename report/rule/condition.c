// SPDX-License-Identifier: Apache-2.0
//
// A parser by descent, one function for each level; operands are report/metric's expressions. A
// parenthesis may begin a condition or an operand: it is a condition when a comparison or one of
// the words stands in it. Integers and doubles are compared exactly, not as doubles.
#include "report/rule/condition.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/chars.h"
#include "report/metric/expression.h"
#include "report/rule/scope_values.h"

enum node_kind { NODE_OR, NODE_AND, NODE_NOT, NODE_COMPARE, NODE_VALUE };
enum comparison { LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, NOT_EQUAL };

// Either an expression or a text.
struct operand {
    struct report_expression *expression; // owned
    char *text;                           // owned
    size_t len;
};

struct report_condition {
    enum node_kind kind;
    enum comparison comparison;            // COMPARE
    struct report_condition *left, *right; // of NOT and COMPARE only left, or none
    struct operand a, b;                   // COMPARE; VALUE has a
};

struct parser {
    struct nvtxt_slice text;
    size_t at;
    unsigned depth;
    struct report_expression_fault *fault;
};

#define FAULTY 1
#define LONGEST 65536 // bytes; a chain of `and` is as deep as it is long

// ---- Tokens -------------------------------------------------------------------------------------

static int fault(struct parser *parser, size_t at, const char *text) {
    parser->fault->line = 0;
    parser->fault->column = (unsigned)at + 1;
    parser->fault->code = "bad-expression";
    snprintf(parser->fault->text, sizeof(parser->fault->text), "%s", text);
    return FAULTY;
}

static char byte_at(const struct parser *parser, size_t at) {
    return at < parser->text.len ? parser->text.data[at] : '\0';
}

static void skip_blanks(struct parser *parser) {
    while (parser->at < parser->text.len && strchr(" \t\r\n", parser->text.data[parser->at])) {
        parser->at++;
    }
}

static size_t word_length(const struct parser *parser, size_t at) {
    size_t len = 0;
    if (nvtxt_char_is(byte_at(parser, at), NVTXT_CHAR_WORD_START)) {
        while (nvtxt_char_is(byte_at(parser, at + len), NVTXT_CHAR_WORD) ||
               byte_at(parser, at + len) == '.') {
            len++;
        }
    }
    return len;
}

static bool is_word(const struct parser *parser, size_t at, const char *word) {
    size_t len = word_length(parser, at);
    return len == strlen(word) && memcmp(parser->text.data + at, word, len) == 0;
}

static bool take_word(struct parser *parser, const char *word) {
    skip_blanks(parser);
    bool found = is_word(parser, parser->at, word);
    parser->at += found ? strlen(word) : 0;
    return found;
}

static const struct {
    const char *sign;
    enum comparison comparison;
} signs[] = {
    {"<=", LESS_EQUAL}, {">=", GREATER_EQUAL}, {"==", EQUAL},
    {"!=", NOT_EQUAL},  {"<", LESS},           {">", GREATER},
};

static bool take_comparison(struct parser *parser, enum comparison *comparison) {
    skip_blanks(parser);
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        size_t len = strlen(signs[i].sign);
        if (parser->text.len - parser->at >= len &&
            memcmp(parser->text.data + parser->at, signs[i].sign, len) == 0) {
            *comparison = signs[i].comparison;
            parser->at += len;
            return true;
        }
    }
    return false;
}

// The place after a quoted text or a name in back-ticks that begins at `at`.
static size_t after_quotes(const struct parser *parser, size_t at) {
    char quote = parser->text.data[at++];
    while (at < parser->text.len && parser->text.data[at] != quote) {
        at += parser->text.data[at] == '\\' && quote != '`' ? 2 : 1;
    }
    return at + 1;
}

// Whether the parenthesis at parser->at holds a condition.
static bool holds_condition(const struct parser *parser) {
    size_t depth = 0;
    for (size_t at = parser->at; at < parser->text.len;) {
        char byte = parser->text.data[at];
        size_t len = word_length(parser, at);
        if (strchr("\"'`", byte)) {
            at = after_quotes(parser, at);
            continue;
        }
        if (strchr("<>=!", byte) || is_word(parser, at, "and") || is_word(parser, at, "or") ||
            is_word(parser, at, "not")) {
            return true;
        }
        depth += byte == '(';
        depth -= byte == ')';
        if (depth == 0) {
            return false;
        }
        at += len > 0 ? len : 1;
    }
    return false;
}

// ---- Parsing ------------------------------------------------------------------------------------

static int parse_or(struct parser *parser, struct report_condition **condition);

// A new node that owns `left`; on failure `left` is freed.
static struct report_condition *new_node(enum node_kind kind, struct report_condition *left) {
    struct report_condition *node = calloc(1, sizeof(*node));
    if (node) {
        node->kind = kind;
        node->left = left;
    } else {
        report_condition_free(left);
    }
    return node;
}

// A text in quotes; a backslash takes the next byte as it is.
static int parse_text(struct parser *parser, struct operand *operand) {
    size_t from = parser->at;
    size_t end = after_quotes(parser, from);
    if (end > parser->text.len) {
        return fault(parser, from, "a text without its closing quote");
    }
    operand->text = malloc(end - from);
    if (!operand->text) {
        return -ENOMEM;
    }
    for (size_t at = from + 1; at + 1 < end; at++) {
        at += parser->text.data[at] == '\\';
        operand->text[operand->len++] = parser->text.data[at];
    }
    parser->at = end;
    return 0;
}

static int parse_operand(struct parser *parser, struct operand *operand) {
    skip_blanks(parser);
    char byte = byte_at(parser, parser->at);
    if (byte == '"' || byte == '\'') {
        return parse_text(parser, operand);
    }
    if (is_word(parser, parser->at, "and") || is_word(parser, parser->at, "or") ||
        is_word(parser, parser->at, "not")) {
        return fault(parser, parser->at, "a metric, a number or a parenthesis is missing here");
    }
    return report_expression_parse_at(&operand->expression, parser->text, &parser->at,
                                      REPORT_EXPRESSION_INSTANCES, parser->fault);
}

static enum report_known known(const struct operand *operand) {
    return operand->text         ? REPORT_KNOWN_TEXT
           : operand->expression ? report_expression_known(operand->expression)
                                 : REPORT_KNOWN_NOTHING;
}

// What would fail whatever the values are. `sign`: the place of the comparison.
static int check_types(struct parser *parser, const struct report_condition *node, size_t from,
                       size_t sign) {
    enum report_known a = known(&node->a), b = known(&node->b);
    if (node->kind == NODE_VALUE) {
        return a == REPORT_KNOWN_TEXT ? fault(parser, node->a.text ? parser->at : from,
                                              "a text is compared with == or !=")
                                      : 0;
    }
    bool text = a == REPORT_KNOWN_TEXT || b == REPORT_KNOWN_TEXT;
    if (text && node->comparison < EQUAL && (a == b || node->a.text || node->b.text)) {
        return fault(parser, sign, "texts are compared with == and != only");
    }
    if (text && (a == REPORT_KNOWN_NUMBER || b == REPORT_KNOWN_NUMBER)) {
        return fault(parser, sign, "a text is compared with a number");
    }
    return 0;
}

static int parse_comparison(struct parser *parser, struct report_condition **condition) {
    struct report_condition *node = *condition = new_node(NODE_VALUE, NULL);
    if (!node) {
        return -ENOMEM;
    }
    skip_blanks(parser);
    size_t from = parser->at;
    int r = parse_operand(parser, &node->a);
    skip_blanks(parser);
    size_t sign = parser->at;
    if (r == 0 && take_comparison(parser, &node->comparison)) {
        node->kind = NODE_COMPARE;
        r = parse_operand(parser, &node->b);
    }
    return r ?: check_types(parser, node, from, sign);
}

static int parse_parenthesis(struct parser *parser, struct report_condition **condition) {
    size_t open = parser->at++;
    int r = parse_or(parser, condition);
    skip_blanks(parser);
    if (r == 0 && byte_at(parser, parser->at) != ')') {
        r = parser->at < parser->text.len
                ? fault(parser, parser->at, "')', 'and', 'or' or a comparison is missing here")
                : fault(parser, open, "'(' without its ')'");
    }
    parser->at += r == 0;
    return r;
}

static int parse_not(struct parser *parser, struct report_condition **condition) {
    skip_blanks(parser);
    if (++parser->depth > REPORT_CONDITION_DEPTH) {
        return fault(parser, parser->at, "the condition is nested too deeply");
    }
    int r;
    if (take_word(parser, "not")) {
        struct report_condition *inner = NULL;
        r = parse_not(parser, &inner);
        *condition = new_node(NODE_NOT, inner);
        r = *condition ? r : -ENOMEM;
    } else if (byte_at(parser, parser->at) == '(' && holds_condition(parser)) {
        r = parse_parenthesis(parser, condition);
    } else {
        r = parse_comparison(parser, condition);
    }
    parser->depth--;
    return r;
}

// `part { WORD part }`, from the left.
static int parse_joined(struct parser *parser, struct report_condition **condition,
                        enum node_kind kind, const char *word,
                        int (*part)(struct parser *, struct report_condition **)) {
    int r = part(parser, condition);
    while (r == 0 && take_word(parser, word)) {
        struct report_condition *node = new_node(kind, *condition);
        *condition = node;
        r = node ? part(parser, &node->right) : -ENOMEM;
    }
    return r;
}

static int parse_and(struct parser *parser, struct report_condition **condition) {
    return parse_joined(parser, condition, NODE_AND, "and", parse_not);
}

static int parse_or(struct parser *parser, struct report_condition **condition) {
    return parse_joined(parser, condition, NODE_OR, "or", parse_and);
}

int report_condition_parse(struct report_condition **condition, struct nvtxt_slice text,
                           struct report_expression_fault *fault_) {
    struct parser parser = {.text = text, .fault = fault_};
    *condition = NULL;
    if (text.len > LONGEST) {
        return fault(&parser, LONGEST, "the condition is longer than 65,536 bytes");
    }
    int r = parse_or(&parser, condition);
    skip_blanks(&parser);
    if (r == 0 && parser.at < text.len) {
        bool one = text.data[parser.at] == '=';
        r = fault(&parser, parser.at,
                  one ? "'=' is no comparison; did you mean '=='?"
                      : "'and', 'or' or a comparison is missing here");
    }
    if (r != 0) {
        report_condition_free(*condition);
        *condition = NULL;
    }
    return r;
}

static void free_operand(struct operand *operand) {
    report_expression_free(operand->expression);
    free(operand->text);
}

// A long chain of `and` leans to the left: that side is a loop.
void report_condition_free(struct report_condition *condition) {
    while (condition) {
        struct report_condition *left = condition->left;
        report_condition_free(condition->right);
        free_operand(&condition->a);
        free_operand(&condition->b);
        free(condition);
        condition = left;
    }
}

// ---- Names --------------------------------------------------------------------------------------

static const char *operand_name(const struct operand *operand, size_t *n) {
    const char *name = NULL;
    for (size_t i = 0; operand->expression; i++) {
        name = report_expression_name(operand->expression, i);
        if (!name || (*n)-- == 0) {
            break;
        }
    }
    return name;
}

static const char *node_name(const struct report_condition *node, size_t *n) {
    const char *name = NULL;
    if (node) {
        name = node_name(node->left, n);
        name = name ? name : operand_name(&node->a, n);
        name = name ? name : operand_name(&node->b, n);
        name = name ? name : node_name(node->right, n);
    }
    return name;
}

const char *report_condition_name(const struct report_condition *condition, size_t n) {
    return node_name(condition, &n);
}

// ---- Testing ------------------------------------------------------------------------------------

struct order {
    bool less, equal, greater; // none of them: one is no number
};

static struct order order_doubles(double a, double b) {
    return (struct order){a<b, a == b, a> b};
}

static struct order order_integer_double(uint64_t a, double b) {
    if (isnan(b) || b < 0 || b >= 18446744073709551616.0) {
        return order_doubles(0, b); // zero stands for every integer here
    }
    uint64_t whole = (uint64_t)b;
    double rest = b - (double)whole;
    return (struct order){
        a < whole || (a == whole && rest > 0),
        a == whole && rest == 0,
        a > whole,
    };
}

static bool is_integer(const struct report_value *value) {
    return value->type == REPORT_U32 || value->type == REPORT_U64;
}

static struct order order_numbers(const struct report_value *a, const struct report_value *b) {
    if (is_integer(a) && is_integer(b)) {
        return (struct order){a->u64<b->u64, a->u64 == b->u64, a->u64> b->u64};
    }
    if (is_integer(a)) {
        return order_integer_double(a->u64, b->real);
    }
    if (is_integer(b)) {
        struct order turned = order_integer_double(b->u64, a->real);
        return (struct order){turned.greater, turned.equal, turned.less};
    }
    return order_doubles(a->real, b->real);
}

static bool holds(enum comparison comparison, struct order order) {
    switch (comparison) {
    case LESS:
        return order.less;
    case LESS_EQUAL:
        return order.less || order.equal;
    case GREATER:
        return order.greater;
    case GREATER_EQUAL:
        return order.greater || order.equal;
    case EQUAL:
        return order.equal;
    default:
        return !order.equal;
    }
}

// Returns TRUE when there is a value, else NA or -ENOMEM.
static int take_value(const struct operand *operand, struct report_rule_values *values,
                      struct report_value *value) {
    const struct report_metric *metric;
    if (operand->text) {
        *value =
            (struct report_value){.type = REPORT_STRING, .string = {operand->text, operand->len}};
        return REPORT_CONDITION_TRUE;
    }
    int r = report_rule_value(values, operand->expression, &metric);
    if (r != 0 || !metric) {
        return r != 0 ? r : REPORT_CONDITION_NA;
    }
    *value = metric->value;
    return REPORT_CONDITION_TRUE;
}

static int bad(struct report_rule_values *values, const char *why) {
    snprintf(values->reason, sizeof(values->reason), "%s", why);
    return REPORT_CONDITION_BAD;
}

static int compare(const struct report_condition *node, struct report_rule_values *values) {
    struct report_value a = {0}, b = {0};
    int r = take_value(&node->a, values, &a);
    r = r == REPORT_CONDITION_TRUE ? take_value(&node->b, values, &b) : r;
    if (r != REPORT_CONDITION_TRUE) {
        return r;
    }
    bool texts = a.type == REPORT_STRING;
    if (texts != (b.type == REPORT_STRING)) {
        return bad(values, "a text is compared with a number");
    }
    if (!texts) {
        return holds(node->comparison, order_numbers(&a, &b));
    }
    bool equal = nvtxt_slice_equal(a.string, b.string);
    return node->comparison == EQUAL       ? equal
           : node->comparison == NOT_EQUAL ? !equal
                                           : bad(values, "texts are compared with == and != only");
}

// A value alone holds when it is not 0.
static int test_value(const struct report_condition *node, struct report_rule_values *values) {
    struct report_value value = {0};
    int r = take_value(&node->a, values, &value);
    if (r != REPORT_CONDITION_TRUE) {
        return r;
    }
    if (value.type == REPORT_STRING) {
        return bad(values, "a text is compared with == or !=");
    }
    return is_integer(&value) ? value.u64 != 0 : !isnan(value.real) && value.real != 0;
}

int report_condition_test(const struct report_condition *condition,
                          struct report_rule_values *values) {
    int r;
    switch (condition->kind) {
    case NODE_OR:
        r = report_condition_test(condition->left, values);
        return r == REPORT_CONDITION_FALSE ? report_condition_test(condition->right, values) : r;
    case NODE_AND:
        r = report_condition_test(condition->left, values);
        return r == REPORT_CONDITION_TRUE ? report_condition_test(condition->right, values) : r;
    case NODE_NOT:
        r = report_condition_test(condition->left, values);
        return r == REPORT_CONDITION_FALSE  ? REPORT_CONDITION_TRUE
               : r == REPORT_CONDITION_TRUE ? REPORT_CONDITION_FALSE
                                            : r;
    case NODE_COMPARE:
        return compare(condition, values);
    default:
        return test_value(condition, values);
    }
}
