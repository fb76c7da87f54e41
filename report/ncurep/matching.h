// SPDX-License-Identifier: Apache-2.0
//
// Filter expressions of nvtxt-filter(7) against the states of results: an expression is true if one
// of its domains satisfies it.
#pragma once

#include "protocol/base/buf.h"
#include "report/load/capture.h"
#include "report/ncurep/state.h"
#include "report/select/fault.h"
#include "report/select/selection.h"
#include "store/value/arena.h"

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
// NVTXT_WRONG with a fault for an expression that is too costly, or -ENOMEM.
int report_matching_take(struct report_matching *matching, const struct report_state *state,
                         struct report_fault *fault, bool *taken);

// What is open in results, gathered as a capture: each different pile once, with a thread of its
// own, at a time of its own. So a note can say of filters what it says of those of stores. One
// result after the other is added; it owns copies of all that it needs.

struct report_gathered { // inside; zeroed at first
    bool incomplete;     // there were too many piles, or no memory for all
    struct store_arena arena;
    struct nvtxt_hash known;
    struct nvtxt_buf key, events, names, messages, domains, threads, processes;
};

void report_gathered_deinit(struct report_gathered *gathered);

// Adds what is open in a result.
void report_gathered_add(struct report_gathered *gathered, const struct report_state *state);

// False: nothing is open in any result, or it is incomplete. The arrays of the capture are borrowed
// from here; it is not to be freed.
bool report_gathered_capture(const struct report_gathered *gathered,
                             struct report_capture *capture);
