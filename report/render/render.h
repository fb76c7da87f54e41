// SPDX-License-Identifier: Apache-2.0
//
// report/render: how results look: metrics, sections, rules, events, sources, summaries,
// differences and results of Nsight Compute as text, CSV, TSV, JSON and Markdown. It owns nothing
// but what one call needs; every function puts bytes into the output of its caller, which remembers
// a failure. One thread. It computes no figures and opens no file. Tables are written by
// report/table.
//
// This header is what is written in one or two calls.
#pragma once

#include <stdbool.h>

#include "report/diff/diff.h"
#include "report/model/model.h"
#include "report/rule/result.h"
#include "report/stats/reports.h"
#include "report/table/write.h"
#include "report/text/message.h"

// ---- What two captures differ in ----------------------------------------------------------------

struct report_diff_view {
    const char *base, *new; // paths as they were given
    double gate;
    const char *const *warnings;
    size_t warning_count;
};

// "push/pop", "start/end" or "kernel".
struct nvtxt_slice report_render_diff_kind(const struct report_diff *diff,
                                           const struct report_diff_row *row);

// The members from "base" to "warnings".
void report_render_diff_json(struct report_json *json, const struct report_diff *diff,
                             const struct report_diff_view *view);

// The verdict with its reason, then a table. Returns 0 or -ENOMEM.
int report_render_diff_text(struct nvtxt_out *out, const struct report_diff *diff,
                            const struct report_table_view *view, bool markdown);

// For continuous integration (render_ci.c): JUnit XML with a case for each name, and workflow
// commands of GitHub: an error, or a warning when it is not `gated`, for each name that got slower.
void report_render_diff_junit(struct nvtxt_out *out, const struct report_diff *diff,
                              const struct report_diff_view *view);
void report_render_diff_github(struct nvtxt_out *out, const struct report_diff *diff, bool gated);

// ---- Events -------------------------------------------------------------------------------------

// Those of a model, one each: as the members that nvtxt-export(1) writes and those of
// nvtxt-report(1), "events", and as the rows of a table. Nothing is kept of an event.
struct report_events {
    const struct report_model *model; // borrowed
    struct nvtxt_slice *names;        // owned: DOMAIN:MESSAGE
    uint32_t *selected;               // owned, only of a table: indexes of the selected events
};

int report_events_init(struct report_events *events, const struct report_model *model);
void report_events_deinit(struct report_events *events);

// An object, without a line end. `index` is that in the order of the model.
void report_event_json(struct report_events *events, struct nvtxt_out *out, size_t index);

// The selected events as a table whose rows are made when they are written. It borrows `events`.
// Returns 0 or -ENOMEM.
int report_events_table(struct report_events *events, struct report_table *table);

// ---- Messages about files -----------------------------------------------------------------------

// The member "messages": an array with an object for each message about a file of sections, rules
// or metrics.
void report_render_messages_json(struct report_json *json, const struct report_messages *messages);

// ---- Results of rules ---------------------------------------------------------------------------

// One result as an object, where a value may stand.
void report_render_rule_json(struct report_json *json, const struct report_result *result,
                             const struct report_scope *scope);

// `details`: also rules without an issue, descriptions, and what a rule printed
// (--print-rule-details). Without it only findings, and what was not applied and why, in short.
// `limit`: rows of a table; 0: all.
void report_render_rule_text(struct nvtxt_out *out, const struct report_result *result,
                             bool details, bool full_names, size_t limit);

// How a level looks on a screen.
enum report_style report_level_style(enum report_level level);

// All of it.
void report_render_rule_markdown(struct nvtxt_out *out, const struct report_result *result,
                                 size_t limit);

// The same two formats of rules: a case for each, which fails from this level on, and a command for
// each message. `scope`: what the results are of, for people.
struct report_checked {
    struct nvtxt_slice scope;
    const struct report_result *results;
    size_t count;
};
void report_render_check_junit(struct nvtxt_out *out, const struct report_checked *checked,
                               size_t count, enum report_level level);
void report_render_check_github(struct nvtxt_out *out, const struct report_checked *checked,
                                size_t count, enum report_level level);

// The line in place of all rules when none was applied.
void report_render_rules_off(struct nvtxt_out *out, bool markdown);

// ---- Stores and sources -------------------------------------------------------------------------

// Report Summary and Session Summary: the stores with their counts, and their sources with the
// errors and warnings of their lines. As JSON: the members stores, sources and losses. `overviews`
// are those of the capture. As text, of each store as many sources as the view has rows.
void report_render_summary_json(struct report_json *json, const struct report_capture *capture,
                                const struct report_overview *overviews);

void report_render_summary_text(struct nvtxt_out *out, const struct report_capture *capture,
                                const struct report_overview *overviews, bool markdown,
                                const struct report_table_view *view);
