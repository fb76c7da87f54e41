// SPDX-License-Identifier: Apache-2.0
//
// What two captures differ in, as JSON, text and Markdown.
#pragma once

#include "report/render/render_table.h"
#include "report/stats/diff.h"

struct report_diff_view {
    const char *base, *new; // paths as they were given
    double gate;
    const char *const *warnings;
    size_t warning_count;
};

// The members from "base" to "warnings".
void report_render_diff_json(struct report_json *json, const struct report_diff *diff,
                             const struct report_diff_view *view);

// The verdict with its reason, then a table. Returns 0 or -ENOMEM.
int report_render_diff_text(struct nvtxt_out *out, const struct report_diff *diff, size_t width,
                            bool markdown);
