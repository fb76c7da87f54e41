// SPDX-License-Identifier: Apache-2.0
//
// Expressions over metrics: those of derived metrics (nvtxt-metrics(7)) and, with comparisons and
// words, the conditions of rules (nvtxt-rule(5)).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "report/metric/metric.h"

#define REPORT_EXPRESSION_DEPTH 64 // of parentheses and functions

// Also functions of instances: min(m) max(m) count(m), and at(m, "id") or at(m, 3). Their result is
// single, and N/A when there is no such instance, or none at all.
#define REPORT_EXPRESSION_INSTANCES 1

struct report_expression; // never changes

// Returns 0, 1 with a fault (`bad-expression`, a column of `text`), or -ENOMEM.
int report_expression_parse(struct report_expression **expression, struct nvtxt_slice text,
                            struct report_expression_fault *fault);

// Parses the longest expression that begins at text.data[*at], after blanks, and puts *at after its
// last token. A token that cannot go on it is no fault: the caller looks at what follows. `flags`:
// REPORT_EXPRESSION_INSTANCES or 0.
int report_expression_parse_at(struct report_expression **expression, struct nvtxt_slice text,
                               size_t *at, unsigned flags, struct report_expression_fault *fault);
void report_expression_free(struct report_expression *expression); // NULL is fine

// The n-th name that it uses, from 0, each once, as first used; NULL after the last.
const char *report_expression_name(const struct report_expression *expression, size_t n);

// What is known of the value before it is computed. A lone name is known when it is of the
// catalogue.
enum report_known { REPORT_KNOWN_NOTHING, REPORT_KNOWN_NUMBER, REPORT_KNOWN_TEXT };
enum report_known report_expression_known(const struct report_expression *expression);

// What stands for a metric in one evaluation, before the metrics of the scope: constants, defaults.
// NULL: nothing. The metric has to live as long as `metrics`.
struct report_lookup {
    const struct report_metric *(*find)(const void *context, const char *name);
    const void *context;
};

// The value; `result` lives as long as `metrics` and may be N/A. A bare name gives that metric
// itself. `lookup` may be NULL. Returns 0 or -ENOMEM.
int report_expression_evaluate(const struct report_expression *expression,
                               struct report_metrics *metrics, const struct report_lookup *lookup,
                               enum report_aggregate aggregate,
                               const struct report_metric **result);
