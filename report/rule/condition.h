// SPDX-License-Identifier: Apache-2.0
//
// Conditions of rules (nvtxt-rule(5), "CONDITIONS"): expressions of metrics, compared, joined by
// `not`, `and` and `or`.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "protocol/base/slice.h"
#include "report/metric/metric.h"

struct report_condition;
struct report_rule_values;

#define REPORT_CONDITION_DEPTH 64 // of parentheses and `not`

// Returns 0, 1 with a fault, or -ENOMEM. `text` is copied.
int report_condition_parse(struct report_condition **condition, struct nvtxt_slice text,
                           struct report_expression_fault *fault);
void report_condition_free(struct report_condition *condition); // NULL is fine

// The n-th name of a metric in it, from 0; some may come more than once. NULL after the last.
const char *report_condition_name(const struct report_condition *condition, size_t n);

enum report_condition_result {
    REPORT_CONDITION_FALSE,
    REPORT_CONDITION_TRUE,
    REPORT_CONDITION_NA,  // something that it needs has no value: `reason` of the values
    REPORT_CONDITION_BAD, // a text is compared with a number: `reason` of the values
};

// Evaluates from the left; what cannot change the result any more is not looked at. Returns a
// result as above, or -ENOMEM.
int report_condition_test(const struct report_condition *condition,
                          struct report_rule_values *values);
