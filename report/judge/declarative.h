// SPDX-License-Identifier: Apache-2.0
//
// A rule of a `.rule` file: read, checked, and applied (nvtxt-rule(5)).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "report/judge/rule_file.h"

struct report_builder;
struct report_definitions;
struct report_metrics;
struct report_messages;
struct report_rules_wanted;
struct store_arena;

struct report_declarative; // a rule whose expressions, texts and queries are all good

#define REPORT_BAD_RULE 1

// Reads the text of a file. `*rule` is the caller's (report_declarative_free()); what it says is
// in `arena`. `definitions` (NULL: none) are for warnings about metrics that nobody knows. Returns
// 0, REPORT_BAD_RULE after an error in the messages, or -ENOMEM.
int report_declarative_read(struct report_declarative **rule, struct nvtxt_slice text,
                            const char *file, const struct report_definitions *definitions,
                            struct store_arena *arena, struct report_messages *messages);
void report_declarative_free(struct report_declarative *rule); // NULL is fine

const struct report_rule_file *report_declarative_file(const struct report_declarative *rule);

// Applies it to the scope of `metrics`. Returns 0, -ENOMEM or -EINTR; all else is in the result.
int report_declarative_apply(const struct report_declarative *rule, struct report_builder *builder,
                             struct report_metrics *metrics,
                             const struct report_rules_wanted *wanted);
