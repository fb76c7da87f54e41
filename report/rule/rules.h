// SPDX-License-Identifier: Apache-2.0
//
// report/rule: the rules that judge a scope: those of `.rule` files, read and checked, and those
// that are part of the program; what they are written in (conditions, texts with values, guarded
// SQL), and their results. It owns what it parsed, the results of one application, and the
// connections of queries, which are read-only. One thread. Nothing here prints. Programs are run by
// whoever fills in a runner.
//
// This header is the set of rules, in the order in which they are applied: parents before their
// children, else by identifier.
#pragma once

#include "report/rule/result.h"

struct report_definitions;
struct report_files;
struct report_messages;
struct report_metrics;
struct report_patterns; // report/logs
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

// No rules, or with `builtin` those that are part of the program. Returns 0 or -ENOMEM.
int report_rules_new(struct report_rules **rules, bool builtin);
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

// What is asked of the rules: which are applied, and of what span. A rule of a section is applied
// when `shown` says so of its section; a rule without one always. NULL: all (check).
struct report_rules_wanted {
    bool (*shown)(const void *context, struct nvtxt_slice section);
    const void *context;
    const char *const *names; // of --rule: identifiers, or regex:RE; none: all
    size_t name_count;
    // --apply-rules no: those that would be applied come as "not run".
    bool none;
    // --since and --until, which queries see as :since and :until.
    int64_t since_ns, until_ns;
    bool within; // --within names the ranges in which events start
    // Lines of logs before since_ns, counted; NULL: what is before the span is not known.
    const struct report_patterns *before;
    bool (*interrupted)(void); // asked now and then; NULL: never
};

// A name of --rule is of a rule that there is nothing to run with; `sentence` says which.
enum { REPORT_RULES_CANNOT_RUN = NVTXT_WRONG + 1 };

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

// Whether no rule was applied because nobody wanted that: one sentence says it for all.
#define REPORT_RULES_OFF "rules are not applied (--apply-rules no)"
bool report_results_off(const struct report_results *results);

// Whether a rule failed: the exit status is 1 then.
bool report_results_failed(const struct report_results *results);
