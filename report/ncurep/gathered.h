// SPDX-License-Identifier: Apache-2.0
//
// What is open in results, gathered as a capture: each different pile once, with a thread of its
// own, at a time of its own. So a note can say of filters what it says of those of stores. One
// result after the other is added; it owns copies of all that it needs.
#pragma once

#include <stdbool.h>

#include "protocol/base/buf.h"
#include "protocol/base/hash.h"
#include "report/load/capture.h"
#include "report/ncurep/state.h"
#include "store/value/arena.h"

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
