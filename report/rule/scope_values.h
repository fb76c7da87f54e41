// SPDX-License-Identifier: Apache-2.0
//
// What the expressions of a rule stand for while it is applied: the metrics of the scope, with the
// rule's constants and defaults before them.
#pragma once

#include "protocol/base/slice.h"
#include "report/metric/expression.h"
#include "report/metric/metric.h"

struct report_rule_values {
    struct report_metrics *metrics;
    struct report_lookup lookup; // constants and defaults; they live as long as the metrics
    // Why something had no value, the first time: "NAME N/A: WHY", or what cannot be compared.
    char reason[256];
};

// The value of an expression; `*value` is NULL when it is N/A, with a reason then. Returns 0 or
// -ENOMEM.
int report_rule_value(struct report_rule_values *values, const struct report_expression *expression,
                      const struct report_metric **value);

enum report_condition_result {
    REPORT_CONDITION_FALSE,
    REPORT_CONDITION_TRUE,
    REPORT_CONDITION_NA,  // something that it needs has no value: `reason`
    REPORT_CONDITION_BAD, // a text is compared with a number: `reason`
};

// Returns a result as above of a REPORT_EXPRESSION_CONDITION, or -ENOMEM.
int report_rule_test(struct report_rule_values *values, const struct report_expression *condition);

// A metric by its name, N/A or not: a constant, a default, or the metric of the scope.
int report_rule_metric(const struct report_rule_values *values, const char *name,
                       const struct report_metric **metric);

// Sets `reason` to "NAME N/A: WHY" unless it is set.
void report_rule_say_na(struct report_rule_values *values, const char *name, const char *why);

// A number as double, whatever its type; of a text NaN.
double report_rule_number(const struct report_value *value);
