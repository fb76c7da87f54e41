// SPDX-License-Identifier: Apache-2.0
//
// The order in which rules are applied: parents before their children, else by identifier.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

struct report_rule;
struct report_rules;

#define REPORT_NO_RULE SIZE_MAX

// Puts all rules into their order, hides what comes twice, and finds cycles. Indexes of rules
// change. Returns 0 or -ENOMEM.
int report_rules_put_in_order(struct report_rules *rules);

// The rule of that identifier that counts; REPORT_NO_RULE: there is none.
size_t report_rules_find(const struct report_rules *rules, struct nvtxt_slice identifier);

// The n-th parent that a rule names; NULL after the last one.
const struct nvtxt_slice *report_rule_parent(const struct report_rule *rule, size_t index);
