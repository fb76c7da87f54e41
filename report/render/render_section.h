// SPDX-License-Identifier: Apache-2.0
//
// Sections as they were laid out: as text, Markdown and the JSON of nvtxt-report(1), each with the
// results of its rules.
#pragma once

#include <stdbool.h>

#include "report/judge/rules.h"
#include "report/render/kit/json.h"
#include "report/section/show.h"

// What of a section is printed for people.
struct report_section_view {
    bool markdown;
    bool base_units;
    bool no_header, no_body;
    bool instances;    // after each value
    bool instance_ids; // with their ids
    bool label, name;  // what a metric is called; at least one
    bool rule_details;
};

// `results` may be NULL. Returns 0 or -ENOMEM.
int report_render_section(struct nvtxt_out *out, const struct report_shown_section *section,
                          const struct report_results *results,
                          const struct report_section_view *view);

// Metrics that were asked for by name.
int report_render_metrics(struct nvtxt_out *out, const struct report_shown_metrics *metrics,
                          const struct report_section_view *view);

// The rules without a section.
void report_render_other_rules(struct nvtxt_out *out, const struct report_results *results,
                               const struct report_section_view *view);

void report_render_section_json(struct report_json *json,
                                const struct report_shown_section *section,
                                const struct report_results *results);

// The member "rules": the results of a section; with data NULL those without one.
void report_render_rules_json(struct report_json *json, const struct report_results *results,
                              struct nvtxt_slice section);
