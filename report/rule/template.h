// SPDX-License-Identifier: Apache-2.0
//
// Titles and messages of rules (nvtxt-rule(5), "TEXTS"): `{expr}` is a value, `{expr|unit}` a value
// with its unit, `{{` a brace.
#pragma once

#include <stddef.h>

#include "protocol/base/buf.h"
#include "protocol/base/slice.h"
#include "report/metric/metric.h"

struct report_rule_values;
struct report_template;

// Returns 0, NVTXT_WRONG with a fault, or -ENOMEM. `text` is borrowed.
int report_template_parse(struct report_template **parsed, struct nvtxt_slice text,
                          struct report_expression_fault *fault);
void report_template_free(struct report_template *parsed); // NULL is fine

// The n-th name of a metric in it, from 0; some may come more than once. NULL after the last.
const char *report_template_name(const struct report_template *parsed, size_t n);

// Appends the text to `out`; what has no value is "N/A". Returns 0 or -ENOMEM.
int report_template_write(const struct report_template *parsed, struct report_rule_values *values,
                          struct nvtxt_buf *out);

// Appends a value: integers as digits, doubles to 3 decimals without zeros at the end. `unit` "ns":
// the unit that fits, as in "1.5 ms"; "%": one decimal and the sign; any other after a blank;
// empty: none.
void report_value_write(struct nvtxt_buf *out, const struct report_value *value,
                        struct nvtxt_slice unit);
