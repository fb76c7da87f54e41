// SPDX-License-Identifier: Apache-2.0
//
// Sections as they were laid out: as text, Markdown and the JSON of nvtxt-report(1), each with the
// results of its rules.
#pragma once

#include <stdbool.h>

#include "report/rule/rules.h"
#include "report/section/show.h"
#include "report/table/json.h"

// What of a section is printed for people.
struct report_section_view {
    bool markdown;
    bool full_names; // text cuts none
    bool base_units;
    size_t limit; // rows of a table; 0: all, but for those of charts
    bool no_header, no_body;
    bool instances;    // after each value
    bool instance_ids; // with their ids
    bool label, name;  // what a metric is called; at least one
    bool rule_details;
    bool descriptions; // of sections; Markdown has them always
};

// Without the results of its rules. Returns 0 or -ENOMEM.
int report_render_section(struct nvtxt_out *out, const struct report_shown_section *section,
                          const struct report_section_view *view);

// A chart of a rule: its figures with bars, without a title. Returns 0 or -ENOMEM.
int report_render_chart(struct nvtxt_out *out, const struct report_shown_item *item, size_t indent,
                        bool markdown, bool full_names);

// Metrics that were asked for by name.
int report_render_metrics(struct nvtxt_out *out, const struct report_shown_metrics *metrics,
                          const struct report_section_view *view);

// The results of a section's rules; with data NULL of those without one.
void report_render_rules(struct nvtxt_out *out, const struct report_results *results,
                         struct nvtxt_slice section, const struct report_section_view *view);

// The rules without a section, under their title.
void report_render_other_rules(struct nvtxt_out *out, const struct report_results *results,
                               const struct report_section_view *view);

void report_render_section_json(struct report_json *json,
                                const struct report_shown_section *section,
                                const struct report_results *results);

// The member "rules": the results of a section; with data NULL those without one.
void report_render_rules_json(struct report_json *json, const struct report_results *results,
                              struct nvtxt_slice section);
