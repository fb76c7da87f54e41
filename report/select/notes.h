// SPDX-License-Identifier: Apache-2.0
//
// Says in words why an option selects nothing, and what was perhaps meant.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/buf.h"
#include "report/select/conditions.h"
#include "report/select/filter_set.h"

struct report_outcome {
    const struct report_capture *capture;
    const struct report_selection *selection;
    const struct report_filter_set *filters;
    const uint64_t *seen; // final bits of filters that matched an event; NULL without filters
    unsigned fitted;      // enum report_condition: those that some event fits
    size_t selected;      // events
    bool of_results;      // the capture has stacks of results, each different one once
};

// Writes one line, ended by LF, for each option that selects nothing, without a word before it.
// Nothing if there is nothing to say. Returns 0 or -ENOMEM.
int report_notes_write(const struct report_outcome *outcome, struct nvtxt_buf *notes);
