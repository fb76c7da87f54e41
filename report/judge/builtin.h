// SPDX-License-Identifier: Apache-2.0
//
// The rules that are part of the program, because the language of rules cannot say them: those that
// name ranges, and those that look at single events (nvtxt-rule(5), "RULES OF THE PACKAGE").
#pragma once

#include <stddef.h>

struct report_builder;
struct report_metrics;

// What a rule is applied to.
struct report_builtin_call {
    struct report_metrics *metrics;
    struct report_builder *builder;
};

struct report_builtin {
    const char *identifier, *name, *description;
    int (*apply)(const struct report_builtin_call *call); // 0 or -ENOMEM
};

// All of them, by identifier; the last one has no identifier.
extern const struct report_builtin report_builtins[];

// Those of builtin_ranges.c and builtin_data.c.
int report_rule_clock_suspicion(const struct report_builtin_call *call);
int report_rule_dominant_range(const struct report_builtin_call *call);
int report_rule_high_variation(const struct report_builtin_call *call);
int report_rule_mixed_kinds(const struct report_builtin_call *call);
int report_rule_no_iterations(const struct report_builtin_call *call);
int report_rule_tiny_ranges(const struct report_builtin_call *call);
int report_rule_warm_up(const struct report_builtin_call *call);
