// SPDX-License-Identifier: Apache-2.0
//
// Parents of ranges in other processes: nvtxt-report(1), "PARENTS". An outermost event of a source
// that was given a token, or of a key that was, is shown under the event that the token names. This
// changes no stack, no depth and no self time of a lane; it only says where trees show an event.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/load/capture.h"

struct report_parents {
    // By event; all NULL when no source and no key of the capture has a token.
    // The event that an outermost one is shown under, or REPORT_NONE; of what lies in a lane, that
    // of the outermost range there.
    uint32_t *under;
    // Of start/end ranges in trees: the time without any range under them; else 0.
    uint64_t *own_ns;
    uint8_t *in_tree; // of start/end ranges: whether trees show them
    size_t unknown;   // outermost events whose token leads nowhere
    bool was_cycle;   // of a stranger's store; it was cut
};

// Finds them for a capture in order, `lane_parents` being the parents of its events in their lanes,
// and sets `event` of the keys. Returns 0 or -ENOMEM; deinit is fine after both.
int report_parents_init(struct report_parents *parents, struct report_capture *capture,
                        const uint32_t *lane_parents);
void report_parents_deinit(struct report_parents *parents); // fine when zeroed
