// SPDX-License-Identifier: Apache-2.0
//
// The four operations and the functions over metrics: types, instances, notes. The rules are those
// of nvtxt-metrics(7), "DERIVED METRICS". No operand is N/A or a text.
#pragma once

#include <stdbool.h>

#include "report/catalogue/value.h"
#include "report/metric/program.h"
#include "store/value/arena.h"

// Sets type, value, instances and notes of `result`, which was zeroed; they are of the arena, or
// those of the operands. Both return 0 or -ENOMEM.
//
// An operator. from_operands: the value comes of the operands' values.
int report_combine(struct report_metric *result, const struct report_step *step,
                   const struct report_metric *left, const struct report_metric *right,
                   bool from_operands, struct store_arena *arena);

// A function.
int report_apply(struct report_metric *result, const struct report_step *step,
                 const struct report_metric *operand, struct store_arena *arena);

// Adds the notes that `result` does not have yet. Returns 0 or -ENOMEM.
int report_add_notes(struct report_metric *result, const char *const *notes, size_t count,
                     struct store_arena *arena);
