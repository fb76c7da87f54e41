// SPDX-License-Identifier: Apache-2.0
//
// What a store holds, in numbers: of its selected events, and of its sources and losses.
#pragma once

#include "report/model/model.h"

struct report_overview {
    size_t events, marks, pushpop, startend, open; // open ones are in the three kinds, too
    bool has_events;
    int64_t first_ns, last_ns; // smallest start, largest start or end
    size_t processes, threads, domains;
    uint64_t losses;
    uint64_t errors, warnings;
    size_t files_with_errors; // sources
};

// One for each store of the capture, which is one block of memory: free() it. NULL when memory is
// short.
struct report_overview *report_overviews(const struct report_model *model);
