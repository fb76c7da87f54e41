// SPDX-License-Identifier: Apache-2.0
//
// report/judge: the rules that judge a scope: those of `.rule` files, read and checked, and those
// that are part of the program. It owns them, and the results of one application. One thread. What
// rules are written in, and what they say, is report/rule; nothing here prints.
//
// This header is the set of rules, in the order in which they are applied: parents before their
// children, else by identifier.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "report/judge/wanted.h"
#include "report/rule/result.h"

struct report_definitions;
struct report_files;
struct report_messages;
struct report_metrics;
struct report_runner;
struct report_rules; // the rules that are there

// A rule as `list rules` shows it.
struct report_rule_row {
    struct nvtxt_slice identifier, name, description;
    struct nvtxt_slice section; // data NULL: of none
    enum report_rule_kind kind;
    const struct report_file *file; // NULL: part of the program
    bool hidden;                    // by the rule of that identifier that counts
    const struct report_file *hidden_by;
};

// The rules that are part of the program. Returns 0 or -ENOMEM.
int report_rules_new(struct report_rules **rules);
void report_rules_free(struct report_rules *rules); // NULL is fine

// Reads all *.rule of `files`, and *.py if there is a `runner`; of two rules with one identifier
// the first one counts, and a file goes before the program's own. A file with an error is left out.
// All that is given has to live as long as the rules. `definitions` may be NULL; `has_section` too:
// whether there is such a section. A file that others may write to is refused if it is a program.
// Returns 0, -ENOMEM, or -EINTR after a signal that the runner saw.
int report_rules_load(struct report_rules *rules, const struct report_files *files,
                      const struct report_definitions *definitions,
                      bool (*has_section)(const void *context, struct nvtxt_slice section),
                      const void *context, struct report_runner *runner,
                      struct report_messages *messages);

// The files that report_rules_load() left out.
size_t report_rules_failed(const struct report_rules *rules);

size_t report_rules_count(const struct report_rules *rules);
struct report_rule_row report_rules_row(const struct report_rules *rules, size_t index);

#define REPORT_RULES_UNKNOWN 1    // a name of --rule is not there; `sentence` says which
#define REPORT_RULES_CANNOT_RUN 2 // ... is of a rule that there is nothing to run with

// Whether each name of `wanted` names a rule that can run. Returns 0, one of the above with a
// sentence (REPORT_SENTENCE_BYTES), which offers the nearest names, or -ENOMEM.
int report_rules_check(const struct report_rules *rules, const struct report_rules_wanted *wanted,
                       char *sentence);

// The results of a scope, in the order in which the rules were applied.
struct report_results {
    const struct report_result *results;
    size_t count;
    void *memory; // owned by rules.c
};

// Applies the rules to the scope of `metrics`, which is borrowed, as is what `rules` has: all
// must live as long as the results. Returns 0, -ENOMEM, or -EINTR when `interrupted` said so.
// What goes wrong in a rule is in its result.
int report_rules_apply(const struct report_rules *rules, struct report_metrics *metrics,
                       const struct report_rules_wanted *wanted, struct report_results *results);
void report_results_free(struct report_results *results); // fine when zeroed

// Whether a rule failed: the exit status is 1 then.
bool report_results_failed(const struct report_results *results);
