// SPDX-License-Identifier: Apache-2.0
//
// The evaluation says which metric lacks a value; here it becomes a sentence.
#include "report/rule/scope_values.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "report/rule/builder.h"
#include "report/rule/rules_state.h"

int report_rule_metric(const struct report_rule_values *values, const char *name,
                       const struct report_metric **metric) {
    *metric = values->lookup.find ? values->lookup.find(values->lookup.context, name) : NULL;
    return *metric ? 0 : report_metrics_get(values->metrics, name, metric);
}

void report_rule_say_na(struct report_rule_values *values, const char *name, const char *why) {
    if (!values->reason[0]) {
        snprintf(values->reason, sizeof(values->reason), "%.120s N/A: %.100s", name, why);
    }
}

int report_rule_value(struct report_rule_values *values, const struct report_expression *expression,
                      const struct report_metric **value) {
    struct report_lack lack;
    int r = report_expression_evaluate(expression, values->metrics, &values->lookup,
                                       REPORT_AGGREGATE_UNSAID, &lack, value);
    if (r == 0 && (*value)->na) {
        report_rule_say_na(values, lack.name, lack.why);
        *value = NULL;
    }
    return r;
}

int report_rule_test(struct report_rule_values *values, const struct report_expression *condition) {
    const struct report_metric *value;
    struct report_lack lack;
    int r = report_expression_evaluate(condition, values->metrics, &values->lookup,
                                       REPORT_AGGREGATE_UNSAID, &lack, &value);
    if (r != 0) {
        return r;
    }
    if (lack.name) {
        report_rule_say_na(values, lack.name, lack.why);
        return REPORT_CONDITION_NA;
    }
    if (lack.why) {
        snprintf(values->reason, sizeof(values->reason), "%s", lack.why);
        return REPORT_CONDITION_BAD;
    }
    return value->value.u64 != 0 ? REPORT_CONDITION_TRUE : REPORT_CONDITION_FALSE;
}

double report_rule_number(const struct report_value *value) {
    switch (value->type) {
    case REPORT_U32:
    case REPORT_U64:
        return (double)value->u64;
    case REPORT_FLOAT:
    case REPORT_DOUBLE:
        return value->real;
    case REPORT_STRING:
        return NAN;
    }
    assert(false);
    return NAN;
}

int report_rule_need(const struct report_builtin_call *call, const char *name,
                     const struct report_metric **metric) {
    int r = report_metrics_get(call->metrics, name, metric);
    if (r == 0 && (*metric)->na) {
        report_build_status(call->builder, REPORT_RULE_NOT_APPLICABLE,
                            report_build_format(call->builder, "%s N/A: %s", name, (*metric)->na));
        *metric = NULL;
    }
    return r;
}
