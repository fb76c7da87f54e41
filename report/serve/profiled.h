// SPDX-License-Identifier: Apache-2.0
//
// A report file of Nsight Compute as objects: a range is a pair of context and stream, an action a
// result. There is no summary, and there are no events.
#pragma once

#include "report/ncurep/file/refusal.h"
#include "report/ncurep/ncurep.h"
#include "report/serve/objects.h"

// The profile is borrowed, and gets its index; `path` is borrowed. Of the filters includes and
// excludes count: results that they do not take are no actions. Returns 0, REPORT_NCUREP_TOO_LARGE
// with `why`, REPORT_OBJECTS_WRONG with `wrong` for a filter that is too costly, or -ENOMEM.
int report_profiled_new(struct report_objects **objects, struct report_ncurep *profile,
                        struct nvtxt_slice path, const struct report_selection *filters,
                        struct report_ncurep_fault *why, struct report_fault *wrong);
void report_profiled_free(struct report_objects *objects); // NULL is fine
