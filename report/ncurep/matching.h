// SPDX-License-Identifier: Apache-2.0
//
// Filter expressions of nvtxt-filter(7) against the states of results: an expression is true if one
// of its domains satisfies it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/ncurep/state.h"
#include "report/select/fault.h"
#include "report/select/selection.h"

struct report_matching {
    const struct report_selection *selection; // borrowed: its includes and excludes
    bool *now, *next;                         // owned
    bool *seen; // owned; of each include, then of each exclude: it was true once
};

// Returns 0 or -ENOMEM. Deinit in each case.
int report_matching_init(struct report_matching *matching,
                         const struct report_selection *selection);
void report_matching_deinit(struct report_matching *matching);

// Whether some expression was true in no result so far.
bool report_matching_is_unused(const struct report_matching *matching);

// Whether a result is taken: there is no include or one is true, and no exclude is true. Returns 0,
// REPORT_SELECT_WRONG with a fault for an expression that is too costly, or -ENOMEM.
int report_matching_take(struct report_matching *matching, const struct report_state *state,
                         struct report_fault *fault, bool *taken);
