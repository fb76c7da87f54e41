// SPDX-License-Identifier: Apache-2.0
//
// Results of rules: as the JSON of nvtxt-report(1), as text and as Markdown.
#pragma once

#include <stdbool.h>

#include "report/rule/result.h"

struct nvtxt_out;
struct report_json; // report/render/json.h

// One result as an object, where a value may stand.
void report_render_rule_json(struct report_json *json, const struct report_result *result);

// `details`: also rules without an issue, descriptions, and what a rule printed
// (--print-rule-details). Without it only findings, and what was not applied and why, in short.
void report_render_rule_text(struct nvtxt_out *out, const struct report_result *result,
                             bool details);

// All of it.
void report_render_rule_markdown(struct nvtxt_out *out, const struct report_result *result);
