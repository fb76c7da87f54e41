// SPDX-License-Identifier: Apache-2.0
//
// What ranges say about time together: how long one is open at least, the gaps between them, how
// many are open at a time, the blocking chain. The rules are those of nvtxt-report(1),
// "STATISTICS".
//
// Every function takes events of a capture as indexes in the order of the model. Of these the
// ranges count that have an end and a length, of the kinds that are asked for.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/load/capture.h"

// Kinds of ranges, as bits.
#define REPORT_KIND(kind) (1u << (kind))
#define REPORT_BOTH_KINDS (REPORT_KIND(REPORT_PUSH_POP) | REPORT_KIND(REPORT_START_END))

// The time in which at least one of the ranges is open, in ns.
uint64_t report_busy(const struct report_capture *capture, const uint32_t *events, size_t count,
                     unsigned kinds);

// A time without any range, between two ranges.
struct report_gap {
    int64_t at;      // its start
    uint64_t length; // ns
    uint32_t after;  // the first range in order that ends there
    uint32_t before; // the first range in order that begins at its end
};

// Finds the gaps between the push/pop ranges of one thread, as they come: set the first members,
// then call until the result is false.
struct report_gap_walk {
    const struct report_capture *capture;
    const uint32_t *events;
    size_t count;
    size_t at;     // from here on they were not looked at; begin with 0
    uint32_t last; // the range that reaches furthest; begin with REPORT_NONE
};
bool report_gap_next(struct report_gap_walk *walk, struct report_gap *gap);

// All of them. `*gaps` is the caller's to
// free. Returns 0 or -ENOMEM; then there are none.
int report_gaps(const struct report_capture *capture, const uint32_t *events, size_t count,
                struct report_gap **gaps, size_t *gap_count);

struct report_concurrency {
    unsigned __int128 area; // sum of number x time; divided by the elapsed time it is the average
    uint64_t max;           // the largest number at a time
    uint64_t overlap;       // the time with two or more, ns
};

// How many of the ranges are open at a time. Returns 0 or -ENOMEM.
int report_concurrency_of(const struct report_capture *capture, const uint32_t *events,
                          size_t count, unsigned kinds, struct report_concurrency *result);

// How many threads have a push/pop range open at a time. Returns 0 or -ENOMEM.
int report_thread_concurrency(const struct report_capture *capture, const uint32_t *events,
                              size_t count, struct report_concurrency *result);

// The blocking chain: the range that ends last, then again and again the one that ends last at or
// before the start of the one before; of several the first in order. So each moment belongs to one
// range at most. `*links`, events as time goes on, is the caller's to free. Returns 0 or -ENOMEM;
// then it is empty.
int report_chain(const struct report_capture *capture, const uint32_t *events, size_t count,
                 unsigned kinds, uint32_t **links, size_t *link_count);
