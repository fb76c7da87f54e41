// SPDX-License-Identifier: Apache-2.0
//
// Texts of rules with their links (nvtxt-rule(5), "LINKS").
#pragma once

#include "protocol/text/out.h"
#include "report/page/page.h"

// The text in <bdi>; what it links to is a link where the page or the web has it, else its text.
void page_links(struct nvtxt_out *out, const struct report_page *page, struct nvtxt_slice text);
