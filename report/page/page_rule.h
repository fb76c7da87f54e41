// SPDX-License-Identifier: Apache-2.0
//
// Results of rules on the page: an article each, with messages, estimates, focus metrics and
// tables. Links in texts become links where what they name is on the page.
#pragma once

#include "protocol/text/out.h"
#include "report/page/page.h"

// All of them: errors first, then warnings, optimizations, what failed, what found nothing, what
// was not run.
void page_findings(struct nvtxt_out *out, const struct report_page *page);

// Links to the articles of a section's rules; nothing without any.
void page_rules_of_section(struct nvtxt_out *out, const struct report_page *page,
                           struct nvtxt_slice section);
