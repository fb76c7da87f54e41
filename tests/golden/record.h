// SPDX-License-Identifier: Apache-2.0
//
// A sink that writes down what an interpreter makes, as text: events and names as the JSON arrays
// of the golden corpus (README.md in this folder), diagnostics as its lines. Tests print it, or
// compare two of them byte by byte.
#pragma once

#include <stdbool.h>

#include "protocol/base/buf.h"
#include "protocol/interp/interp.h"

// Names whose rows have this time are written as "opened".
#define RECORD_OPENED_NS INT64_C(1234567890123456789)

struct record {
    struct nvtxt_buf rows;  // events and names, in order
    struct nvtxt_buf diags; // diagnostics, in order
    bool full;              // more than the corpus compares: open_seq, messages, excerpts
};

struct nvtxt_sink record_sink(struct record *record);
void record_open_range(struct record *record, const struct nvtxt_open_range *range);
void record_clear(struct record *record);
void record_deinit(struct record *record);

// Moves the diagnostics after the rows and adds the counters, in a line that begins with '#'.
// Exits when memory was short for anything recorded.
void record_finish(struct record *record, const struct nvtxt_counters *counters);
bool record_equal(const struct record *a, const struct record *b); // both finished
