// SPDX-License-Identifier: Apache-2.0
//
// Iterations: the ranges of a name that a user declared as marker (--iterations), in the order of
// events. Markers are taken from all that is loaded, selected or not; without a declaration there
// are none. An open range is no iteration yet.
//
// An iteration has its number, from 0, also when the first ones are left out (--skip-iterations).
// To it belong the events that start in it, of any thread and process: its start counts, its end
// does not. They stand side by side in the order, so two indexes name them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/load/capture.h"

struct report_selection;

struct report_iteration {
    uint32_t event;      // the marker: its index in the order
    uint32_t number;     // from 0
    uint32_t first, end; // events that belong to it: from `first` to before `end`, not all selected
    uint64_t duration;   // ns
    uint64_t interval;   // ns from the start of the iteration before it in the same process
    bool has_interval;   // there is one before, and it is not left out
    bool is_outlier;     // longer than 1.5 times the median duration
};

struct report_iterations {
    bool declared;
    size_t skipped;                // iterations that were left out, of those that are there
    size_t open;                   // markers without an end
    struct report_iteration *list; // owned; those that are not left out, in order
    size_t count;
};

// Finds the iterations that the selection declares; the events are in order. Returns 0 or -ENOMEM;
// deinit in each case.
int report_iterations_init(struct report_iterations *iterations,
                           const struct report_capture *capture,
                           const struct report_selection *selection);
void report_iterations_deinit(struct report_iterations *iterations); // fine when zeroed

// The first event, from the index `from` on, that does not start before that time; the number of
// events: none. They are in order.
uint32_t report_first_at(const struct report_capture *capture, uint32_t from, int64_t time);
