// SPDX-License-Identifier: Apache-2.0
//
// Report Summary and Session Summary of the page: the stores with their counts, the sources with
// each message about their lines. All that `summary --format json` says is in them.
#pragma once

#include "protocol/text/out.h"
#include "report/stats/overview.h"

void page_report_summary(struct nvtxt_out *out, const struct report_capture *capture,
                         const struct report_overview *overviews);
void page_session_summary(struct nvtxt_out *out, const struct report_capture *capture);

// What ids of the lines of a source's file begin with: "line-STORE-ID-"; the line follows.
#define PAGE_LINE_ID 48
const char *page_line_id(char id[PAGE_LINE_ID], const struct report_source *source);

// The id of a source in the page: "source-STORE-ID".
void page_source_id(struct nvtxt_out *out, const struct report_source *source);
