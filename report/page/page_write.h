// SPDX-License-Identifier: Apache-2.0
//
// Writes a page: nvtxt-report(1), "THE PAGE".
#pragma once

#include "protocol/text/out.h"
#include "report/page/page.h"

// Returns 0 or -ENOMEM; a failure of the output is in `out`. `*single` is how many events stand in
// the timeline alone; fewer than are selected when some were merged.
int report_page_write(struct nvtxt_out *out, const struct report_page *page, size_t *single);
