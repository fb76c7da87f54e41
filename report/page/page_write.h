// SPDX-License-Identifier: Apache-2.0
//
// Writes a page: nvtxt-report(1), "THE PAGE".
#pragma once

#include "protocol/text/out.h"
#include "report/page/page.h"

// Begins to make the data of the pictures, beside all that is computed until the page is written;
// of `page` only the model and max_events are needed. Returns 0 or -ENOMEM.
int report_page_begin(struct report_page *page);
void report_page_end(struct report_page *page); // fine when it was not begun

// Of a page that was begun. Returns 0 or -ENOMEM; a failure of the output is in `out`. `*single` is
// how many events stand in the timeline alone; fewer than are selected when some were merged.
int report_page_write(struct nvtxt_out *out, const struct report_page *page, size_t *single);
