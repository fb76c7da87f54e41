// SPDX-License-Identifier: Apache-2.0
//
// The evaluation of an expression with the memory of its metrics; see report_expression_evaluate().
#pragma once

#include "report/metric/expression.h"
#include "store/value/arena.h"

int report_expression_run(const struct report_expression *expression,
                          struct report_metrics *metrics, struct store_arena *arena,
                          const struct report_lookup *lookup, enum report_aggregate aggregate,
                          const struct report_metric **result);
