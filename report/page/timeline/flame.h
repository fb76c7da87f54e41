// SPDX-License-Identifier: Apache-2.0
//
// The flame graph's part of the page's data: "flame", the last member of the object of data.h.
// Members: total, leftOut, names, paths. A path is [parent, name, count, open, total, self]; parent
// is 0, or 1 and the index of its parent. Its names are those that no item has; their numbers
// follow those of the object's.
#pragma once

#include "protocol/text/out.h"
#include "report/model/model.h"
#include "report/stats/reports.h"

// `numbers`: of page_data(); own names get theirs. A failure of the output is in `out`, which is in
// memory.
void page_flame(struct nvtxt_out *out, const struct report_capture *capture,
                const struct report_paths *paths, uint32_t *numbers);
