// SPDX-License-Identifier: Apache-2.0
//
// A heap of events by their ends: which of those that are open is over first. Events are indexes in
// the array that every call gets.
#pragma once

#include "report/load/capture.h"

struct report_ends {
    uint32_t *heap; // owned; heap[0] ends first
    size_t count, room;
};

void report_ends_deinit(struct report_ends *ends); // fine when zeroed

// Returns 0 or -ENOMEM.
int report_ends_add(struct report_ends *ends, const struct report_event *events, uint32_t event);

// Takes the first one out; there is one.
uint32_t report_ends_take(struct report_ends *ends, const struct report_event *events);

// Whether one is over at that time: its end is not after it.
static inline bool report_ends_by(const struct report_ends *ends, const struct report_event *events,
                                  int64_t time) {
    return ends->count > 0 && events[ends->heap[0]].end <= time;
}
