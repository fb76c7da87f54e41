// SPDX-License-Identifier: Apache-2.0
//
// Metrics that the catalogue does not have: expressions (nvtxt-metrics(7), "DERIVED METRICS") and
// values of a file. They are collected here before anything is computed, so a definition may use
// any other, in any order.
#pragma once

#include "protocol/base/slice.h"
#include "report/catalogue/catalogue.h"
#include "report/metric/metric.h"

// Where a definition comes from. Listed names have this order.
enum report_origin { REPORT_FROM_FILE, REPORT_FROM_OPTION, REPORT_FROM_SECTION };

// All texts are copied. `owner` stands for the file that it comes from, for
// report_definitions_drop().
struct report_definition {
    struct nvtxt_slice name, expression;
    enum report_aggregate aggregate;
    struct nvtxt_slice unit, description; // data NULL: not said
    enum report_origin origin;            // of an option or a section
    const void *owner;
};

struct report_definitions;

int report_definitions_new(struct report_definitions **definitions);  // 0 or -ENOMEM
void report_definitions_free(struct report_definitions *definitions); // NULL is fine

// What definitions that do not say get: --derived-aggregate.
void report_definitions_set_aggregate(struct report_definitions *definitions,
                                      enum report_aggregate aggregate);

// Adds one. Returns 0, NVTXT_WRONG with a fault, or -ENOMEM. A name that is there already, or that
// the catalogue has, is `duplicate-definition`.
int report_definitions_add(struct report_definitions *definitions,
                           const struct report_definition *definition,
                           struct report_expression_fault *fault);

// The same of "NAME=EXPR" (--define); blanks around the name do not count. Columns are those in
// `text`.
int report_definitions_add_option(struct report_definitions *definitions, struct nvtxt_slice text,
                                  struct report_expression_fault *fault);

// Adds the metrics of a file (--metrics-from), given as its bytes. on_fault is called for each
// metric that is left out, and once when the text is no such JSON. Returns 0, NVTXT_WRONG when
// there was a fault, or -ENOMEM.
int report_definitions_add_file(struct report_definitions *definitions, struct nvtxt_slice json,
                                void (*on_fault)(void *context,
                                                 const struct report_expression_fault *fault),
                                void *context);

// After all were added: a definition that uses itself, directly or through others. Returns 0 when
// there is none (any more). Else NVTXT_WRONG: `fault` names the cycle, `*name` and `*owner` are of
// the first one in order of addition that lies on it. The caller drops its owner, or gives up, and
// asks again. Or -ENOMEM.
int report_definitions_cycle(const struct report_definitions *definitions,
                             struct report_expression_fault *fault, const char **name,
                             const void **owner);

// Takes out all definitions of that owner.
void report_definitions_drop(struct report_definitions *definitions, const void *owner);

// The n-th name from 0, in the order in which they are listed after the catalogue: of files,
// options, sections, each as added. NULL after the last.
const char *report_definitions_name(const struct report_definitions *definitions, size_t n);

// The names of a result stand where those of the catalogue are else, and what the result has goes
// before a definition of that name. It is borrowed until another is set; NULL: the catalogue.
void report_definitions_set_given(struct report_definitions *definitions,
                                  const struct report_given *given);

// Whether the catalogue (or the result), a file or a definition has that name. NULL: no
// definitions.
bool report_metric_exists(const struct report_definitions *definitions, const char *name);

// The same, or another result of the report file may have it.
bool report_metric_is_known(const struct report_definitions *definitions, const char *name);

// A definition whose filter does not match, so that messages can tell it from one that is not
// there. Returns 0 or -ENOMEM.
int report_definitions_leave_out(struct report_definitions *definitions, struct nvtxt_slice name);
bool report_definitions_left_out(const struct report_definitions *definitions,
                                 struct nvtxt_slice name);

// A text for "did you mean": the nearest listed name, or NULL.
const char *report_metric_near(const struct report_definitions *definitions,
                               struct nvtxt_slice name);

// ---- Names --------------------------------------------------------------------------------------

// The names of all metrics, one after the other, in the order in which they are listed: the
// catalogue or the result, then files, options, sections. The expansion of `regex:` goes through
// them. Zero it first.
struct report_name_cursor {
    struct report_catalogue_cursor catalogue;
    size_t given, defined;
    bool past_first;
};

// The next name, or NULL after the last. It lives until the next call. `definitions` may be NULL.
const char *report_name_next(struct report_name_cursor *cursor,
                             const struct report_definitions *definitions);
