// SPDX-License-Identifier: Apache-2.0
//
// All rules of a run as they are kept, and the parts that keep them. Only this room and the
// generators of its manual page include it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/buf.h"
#include "protocol/base/slice.h"
#include "report/metric/metric.h"
#include "report/text/fields.h"
#include "store/value/arena.h"

struct report_builtin;
struct report_declarative;
struct report_file;
struct report_program;
struct report_runner;

struct report_rule {
    struct nvtxt_slice identifier, name, description, section;
    const struct report_file *file;         // NULL: part of the program
    struct report_declarative *declarative; // owned; NULL: `program` or `builtin`
    const struct report_program *program;   // of the arena
    const struct report_builtin *builtin;
    const struct report_rule *hidden_by; // NULL: it counts
    size_t place;                        // as found: files in their order, then the program's
    const size_t *parents; // indexes of those that there are, in `parents` of all rules
    size_t parent_count;
    size_t number, component; // of the visit that finds the order: see order.c
    size_t way_to;            // the rule to which a way was looked for from here
    bool in_cycle;
    char *cycle; // owned; what its parents have to do with itself; NULL: nothing
};

struct report_rules {
    struct report_rule *list;
    size_t count, room;
    size_t *order;   // indexes of those that count
    size_t *parents; // indexes of all parents, rule by rule
    size_t order_count;
    size_t failed;
    struct report_runner *runner; // borrowed; NULL: programs are no rules
    struct store_arena arena;     // owns what files say
};

// ---- Files of rules -----------------------------------------------------------------------------

// A `.rule` file as it stands: nvtxt-rule(5), "MESSAGES". A struct is the message of that name; see
// report/text/fields.h. Its tables of fields are in rule_fields.c.
struct report_rule_required {
    struct report_place at;
    struct report_scalar name, default_;
};

struct report_rule_constant {
    struct report_place at;
    struct report_scalar name, value;
};

struct report_rule_speedup {
    struct report_place at;
    struct report_scalar type; // 1: global
    struct report_scalar expression;
};

struct report_rule_focus {
    struct report_place at;
    struct report_scalar name, severity, info; // enum report_focus_severity
};

struct report_rule_query {
    struct report_place at;
    struct report_scalar sql, title, rows;
};

struct report_rule_finding {
    struct report_place at;
    struct report_scalar condition, type, title, message; // enum report_level
    struct report_rule_speedup *speedup;                  // NULL: none
    struct report_list focus;                             // of report_rule_focus
    struct report_rule_query *query;                      // NULL: none
};

struct report_rule_file {
    struct report_place at;
    struct report_scalar identifier, display_name, description, section;
    struct report_list parents;   // of report_scalar
    struct report_list required;  // of report_rule_required
    struct report_list constants; // of report_rule_constant
    struct report_list findings;  // of report_rule_finding
};

extern const struct report_message_type report_rule_type;

// All messages of a rule, the outermost first, for the manual page; NULL ends it.
extern const struct report_message_type *const report_rule_types[];

// ---- Texts --------------------------------------------------------------------------------------

// Titles and messages of rules (nvtxt-rule(5), "TEXTS"): `{expr}` is a value, `{expr|unit}` a value
// with its unit, `{{` a brace.
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
// empty: none. At signs of a text are REPORT_LINK_AT (report/table/links.h).
void report_value_write(struct nvtxt_buf *out, const struct report_value *value,
                        struct nvtxt_slice unit);

// ---- Rules in C ---------------------------------------------------------------------------------

// The rules that are part of the program, because the language of rules cannot say them: those that
// name ranges, and those that look at single events (nvtxt-rule(5), "RULES OF THE PACKAGE").

struct report_builder;
struct report_metrics;
struct report_rules_wanted;

// What a rule is applied to.
struct report_builtin_call {
    struct report_metrics *metrics;
    struct report_builder *builder;
    const struct report_rules_wanted *wanted; // NULL: nothing special
};

struct report_builtin {
    const char *identifier, *name, *description;
    int (*apply)(const struct report_builtin_call *call); // 0 or -ENOMEM
};

// All of them, by identifier; the last one has no identifier.
extern const struct report_builtin report_builtins[];

// Those of builtin_builds.c, builtin_data.c, builtin_logs.c, builtin_ranges.c, builtin_threads.c.
int report_rule_builds(const struct report_builtin_call *call);
int report_rule_clock_suspicion(const struct report_builtin_call *call);
int report_rule_dominant_range(const struct report_builtin_call *call);
int report_rule_error_burst(const struct report_builtin_call *call);
int report_rule_high_variation(const struct report_builtin_call *call);
int report_rule_idle_gaps(const struct report_builtin_call *call);
int report_rule_load_imbalance(const struct report_builtin_call *call);
int report_rule_mixed_kinds(const struct report_builtin_call *call);
int report_rule_no_iterations(const struct report_builtin_call *call);
int report_rule_outlier_iterations(const struct report_builtin_call *call);
int report_rule_serialized(const struct report_builtin_call *call);
int report_rule_tiny_ranges(const struct report_builtin_call *call);
int report_rule_warm_up(const struct report_builtin_call *call);

// Sets "not applicable" when the metric is N/A; then `*metric` is NULL. Returns 0 or -ENOMEM.
int report_rule_need(const struct report_builtin_call *call, const char *name,
                     const struct report_metric **metric);

// Of 100; 0 of nothing.
static inline double report_rule_percent(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}

// ---- Names of --rule ----------------------------------------------------------------------------

// An identifier, or regex:RE.
struct report_regex;
struct report_chooser {
    const char *name;           // borrowed
    struct report_regex *regex; // owned; NULL: the name counts as it is
};

enum { REPORT_CHOOSER_COSTLY = NVTXT_WRONG + 1 }; // an expression takes too many steps

// Returns 0, NVTXT_WRONG with a sentence (REPORT_SENTENCE_BYTES; may be NULL), or -ENOMEM.
int report_chooser_init(struct report_chooser *chooser, const char *name, char *sentence);
void report_chooser_deinit(struct report_chooser *chooser);

// 1: it chooses that rule; 0: it does not; REPORT_CHOOSER_COSTLY; or -ENOMEM.
int report_chooser_takes(const struct report_chooser *chooser, struct nvtxt_slice identifier);

// ---- Declarative rules --------------------------------------------------------------------------

struct report_definitions;
struct report_messages;
struct report_rules_wanted;
struct store_arena;

// Reads the text of a file. `*rule` is the caller's (report_declarative_free()); what it says is
// in `arena`. `definitions` (NULL: none) are for warnings about metrics that nobody knows. Returns
// 0, NVTXT_WRONG after an error in the messages, or -ENOMEM.
int report_declarative_read(struct report_declarative **rule, struct nvtxt_slice text,
                            const char *file, const struct report_definitions *definitions,
                            struct store_arena *arena, struct report_messages *messages);
void report_declarative_free(struct report_declarative *rule); // NULL is fine

const struct report_rule_file *report_declarative_file(const struct report_declarative *rule);

// Applies it to the scope of `metrics`. Returns 0, -ENOMEM or -EINTR; all else is in the result.
int report_declarative_apply(const struct report_declarative *rule, struct report_builder *builder,
                             struct report_metrics *metrics,
                             const struct report_rules_wanted *wanted);

// ---- Their order --------------------------------------------------------------------------------

#define REPORT_NO_RULE SIZE_MAX

// Puts all rules into their order, hides what comes twice, and finds cycles. Indexes of rules
// change. Returns 0 or -ENOMEM.
int report_rules_put_in_order(struct report_rules *rules);

// The rule of that identifier that counts; REPORT_NO_RULE: there is none.
size_t report_rules_find(const struct report_rules *rules, struct nvtxt_slice identifier);

// The n-th parent that a rule names; NULL after the last one.
const struct nvtxt_slice *report_rule_parent(const struct report_rule *rule, size_t index);
