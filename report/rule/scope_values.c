// SPDX-License-Identifier: Apache-2.0
//
// An expression that is N/A says so through one of its metrics; the first of those is named, or the
// first of all when each has a value, but not the instance that was asked for.
#include "report/rule/scope_values.h"

#include <math.h>
#include <stdio.h>

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

static int say_why(struct report_rule_values *values, const struct report_expression *expression,
                   const struct report_metric *whole) {
    const char *name;
    for (size_t i = 0; (name = report_expression_name(expression, i)); i++) {
        const struct report_metric *metric;
        int r = report_rule_metric(values, name, &metric);
        if (r != 0) {
            return r;
        }
        if (metric->na) {
            report_rule_say_na(values, name, metric->na);
        }
    }
    name = report_expression_name(expression, 0);
    report_rule_say_na(values, name ? name : "an expression", whole->na);
    return 0;
}

int report_rule_value(struct report_rule_values *values, const struct report_expression *expression,
                      const struct report_metric **value) {
    int r = report_expression_evaluate(expression, values->metrics, &values->lookup,
                                       REPORT_AGGREGATE_UNSAID, value);
    if (r == 0 && (*value)->na) {
        r = say_why(values, expression, *value);
        *value = NULL;
    }
    return r;
}

double report_rule_number(const struct report_value *value) {
    switch (value->type) {
    case REPORT_U32:
    case REPORT_U64:
        return (double)value->u64;
    case REPORT_STRING:
        return NAN;
    default:
        return value->real;
    }
}
