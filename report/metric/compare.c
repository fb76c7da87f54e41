// SPDX-License-Identifier: Apache-2.0
//
// Integers and doubles are compared exactly, not as doubles.
#include <math.h>

#include "report/metric/program.h"

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

static struct order order_numbers(const struct report_value *a, const struct report_value *b) {
    if (report_type_is_integer(a->type) && report_type_is_integer(b->type)) {
        return (struct order){a->u64<b->u64, a->u64 == b->u64, a->u64> b->u64};
    }
    if (report_type_is_integer(a->type)) {
        return order_integer_double(a->u64, b->real);
    }
    if (report_type_is_integer(b->type)) {
        struct order turned = order_integer_double(b->u64, a->real);
        return (struct order){turned.greater, turned.equal, turned.less};
    }
    return order_doubles(a->real, b->real);
}

const char *report_compare(enum report_step_kind comparison, const struct report_value *left,
                           const struct report_value *right, bool *holds) {
    bool texts = left->type == REPORT_STRING;
    if (texts != (right->type == REPORT_STRING)) {
        return "a text is compared with a number";
    }
    if (texts && comparison < REPORT_STEP_EQUAL) {
        return "texts are compared with == and != only";
    }
    struct order order = {.equal = texts && nvtxt_slice_equal(left->string, right->string)};
    order = texts ? order : order_numbers(left, right);
    *holds = (comparison == REPORT_STEP_LESS && order.less) ||
             (comparison == REPORT_STEP_LESS_EQUAL && (order.less || order.equal)) ||
             (comparison == REPORT_STEP_GREATER && order.greater) ||
             (comparison == REPORT_STEP_GREATER_EQUAL && (order.greater || order.equal)) ||
             (comparison == REPORT_STEP_EQUAL && order.equal) ||
             (comparison == REPORT_STEP_NOT_EQUAL && !order.equal);
    return NULL;
}

const char *report_hold(const struct report_value *value, bool *holds) {
    if (value->type == REPORT_STRING) {
        return "a text is compared with == or !=";
    }
    *holds = report_type_is_integer(value->type) ? value->u64 != 0
                                                 : !isnan(value->real) && value->real != 0;
    return NULL;
}
