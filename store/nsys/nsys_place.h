// SPDX-License-Identifier: Apache-2.0
//
// Where events go in an export, and counts of what was added.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Where events go.
struct store_nsys_place {
    uint16_t target; // upper 16 bits of globalTid
    int64_t zero_ns; // taken from every time
    bool prolong;    // keep events outside the session's window, and widen it
};

struct store_nsys_counts {
    uint64_t events;    // rows of type mark, push/pop range, start/end range that were added
    uint64_t outside;   // events that were left out because they are outside the session's window
    uint64_t payloads;  // payloads and JSON texts for which the export has no column
    uint64_t names;     // names that were left out because the export has another name there
    uint64_t resources; // names of resources and counters: an export has no table for them
    bool any_outside;   // the two below are set
    int64_t outside_first_ns, outside_last_ns; // as the events came, before zero_ns is taken away
};
