// SPDX-License-Identifier: Apache-2.0
//
// Expressions over metrics: those of derived metrics (nvtxt-metrics(7)) and, with comparisons and
// words, the conditions of rules (nvtxt-rule(5)). A condition is an expression whose value is a
// truth.
#pragma once

#include "protocol/base/slice.h"
#include "report/metric/metric.h"

#define REPORT_EXPRESSION_DEPTH 64 // of parentheses and functions
#define REPORT_CONDITION_DEPTH 128 // of `not` and of parentheses that may hold a condition
#define REPORT_CONDITION_BYTES 65536

enum report_expression_kind {
    REPORT_EXPRESSION_DERIVED,
    // Also functions of instances: min(m) max(m) count(m), and at(m, "id") or at(m, 3). Their
    // result is single, and N/A when there is no such instance, or none at all.
    REPORT_EXPRESSION_OF_RULE,
    REPORT_EXPRESSION_CONDITION, // these and comparisons, `not`, `and`, `or`
};

struct report_expression; // never changes

// Returns 0, NVTXT_WRONG with a fault (`bad-expression`, a column of `text`), or -ENOMEM.
int report_expression_parse(struct report_expression **expression, struct nvtxt_slice text,
                            enum report_expression_kind kind,
                            struct report_expression_fault *fault);

// Parses the longest expression that begins at text.data[*at], after blanks, and puts *at at the
// next token. A token that cannot go on it is no fault: the caller looks at it.
int report_expression_parse_at(struct report_expression **expression, struct nvtxt_slice text,
                               size_t *at, enum report_expression_kind kind,
                               struct report_expression_fault *fault);
void report_expression_free(struct report_expression *expression); // NULL is fine

// The n-th name that it uses, from 0, each once, as first used; NULL after the last.
const char *report_expression_name(const struct report_expression *expression, size_t n);

// What stands for a metric in one evaluation, before the metrics of the scope: constants, defaults.
// NULL: nothing. The metric has to live as long as `metrics`.
struct report_lookup {
    const struct report_metric *(*find)(const void *context, const char *name);
    const void *context;
};

// Why there is no value: a metric that is N/A; of a condition the first one of what is compared, or
// its first metric when each has a value, but not the instance that was asked for. `name` is NULL
// when types do not fit.
struct report_lack {
    const char *name, *why; // they live as long as the expression and its metrics
};

// The value; `result` lives as long as `metrics` and may be N/A. A bare name gives that metric
// itself; a condition gives 1 or 0. It is evaluated from the left; what cannot change the result
// any more is not looked at. `lookup` may be NULL, and `lack` but for a condition. Returns
// 0 or -ENOMEM.
int report_expression_evaluate(const struct report_expression *expression,
                               struct report_metrics *metrics, const struct report_lookup *lookup,
                               enum report_aggregate aggregate, struct report_lack *lack,
                               const struct report_metric **result);
