// SPDX-License-Identifier: Apache-2.0
//
// Sections on the page: metrics as tables, charts as tables with bars, which print and can be read
// aloud.
#pragma once

#include "protocol/text/out.h"
#include "report/page/page.h"

void page_sections(struct nvtxt_out *out, const struct report_page *page);
