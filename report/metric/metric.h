// SPDX-License-Identifier: Apache-2.0
//
// report/metric: figures with a name: those of the catalogue, derived ones, and those of a file. It
// owns the values that were computed, until it is freed. One thread. It prints nothing.
//
// This header is the metrics of one scope.
#pragma once

#include "report/catalogue/value.h"

enum report_aggregate {
    REPORT_AGGREGATE_UNSAID, // as the option says, else from instances
    REPORT_AGGREGATE_INSTANCES,
    REPORT_AGGREGATE_OPERANDS,
};

#define REPORT_EXPRESSION_FAULT_BYTES 512

// What is wrong with an expression, a definition or a file.
struct report_expression_fault {
    unsigned line;    // from 1; of a file only, 0 elsewhere or when it is not known
    unsigned column;  // in bytes from 1, within the expression or the line; 0: not of a place
    const char *code; // "bad-expression", "duplicate-definition", "definition-cycle", "bad-metrics"
    char text[REPORT_EXPRESSION_FAULT_BYTES];
};

struct report_definitions;
struct report_metrics; // all metrics of one scope

// `model` (NULL for a result), `scope` and `definitions` (NULL: none) are borrowed. Returns 0 or
// -ENOMEM.
int report_metrics_new(struct report_metrics **metrics, struct report_model *model,
                       const struct report_scope *scope,
                       const struct report_definitions *definitions);
void report_metrics_free(struct report_metrics *metrics);                        // NULL is fine
struct report_model *report_metrics_model(const struct report_metrics *metrics); // NULL: a result
const struct report_scope *report_metrics_scope(const struct report_metrics *metrics);

// The metric of that name: of the catalogue or the result, a file, or a definition. It is made once
// and lives as long as `metrics`. A name that is not there is a metric with `na` "no such metric".
// Returns 0 or -ENOMEM.
int report_metrics_get(struct report_metrics *metrics, const char *name,
                       const struct report_metric **metric);

// Forgets what was computed, for a caller that prints one metric after the other. No metric that
// was given lives longer.
void report_metrics_forget(struct report_metrics *metrics);
