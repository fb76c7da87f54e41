// SPDX-License-Identifier: Apache-2.0
//
// The paths of ranges of both sides, next to each other: those of NEW as the flame graph has them,
// with the figures of the same path in BASE; then those that only BASE has. A path is the same if
// the texts of its steps are. One thread.
#pragma once

#include "report/stats/reports.h"

struct report_diff_path_side {
    uint64_t count, open; // selected ranges: closed ones, and open ones
    unsigned __int128 total, self;
};

struct report_diff_path {
    uint32_t parent;         // an index of the list, before this one; REPORT_NONE: a first step
    struct nvtxt_slice name; // of its last step: DOMAIN:MESSAGE
    struct nvtxt_slice step; // the same as paths have it: without a `;`
    struct report_diff_path_side base, new;
};

struct report_diff_paths {
    struct report_diff_path *list; // owned; the widest of NEW first, then those of BASE alone
    size_t count;
    size_t new_count;        // of NEW
    unsigned __int128 width; // of all first steps of NEW together
    // What `list` points to, owned.
    struct nvtxt_slice *names[2];
    char *texts[2];
};

// The models with their captures are not needed after it. Deinit in each case. Returns 0 or
// -ENOMEM.
int report_diff_paths_init(struct report_diff_paths *paths, const struct report_model *base,
                           const struct report_model *new);
void report_diff_paths_deinit(struct report_diff_paths *paths); // fine when zeroed

// The change of the self time in percent. False: there is none to tell, as a side has no range of
// the path, or NEW has some time where BASE has 0.
bool report_diff_path_change(const struct report_diff_path *path, double *percent);

// Whether selected ranges of that side have the path itself.
static inline bool report_diff_path_has(const struct report_diff_path_side *side) {
    return side->count > 0 || side->open > 0;
}
