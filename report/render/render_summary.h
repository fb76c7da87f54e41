// SPDX-License-Identifier: Apache-2.0
//
// Report Summary and Session Summary: the stores with their counts, and their sources with the
// errors and warnings of their lines (nvtxt-report(1), "summary").
#pragma once

#include "report/render/kit/json.h"
#include "report/stats/overview.h"

// The members stores, sources and losses. `overviews` are those of the capture.
void report_render_summary_json(struct report_json *json, const struct report_capture *capture,
                                const struct report_overview *overviews);

void report_render_summary_text(struct nvtxt_out *out, const struct report_capture *capture,
                                const struct report_overview *overviews, bool markdown);
