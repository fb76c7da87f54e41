// SPDX-License-Identifier: Apache-2.0
//
// How much came in lately, without a timer: whenever a batch goes out and a second has passed, the
// totals are noted; a rate is what was added since the oldest note of the last seconds. An idle
// daemon notes nothing and its rate falls to zero by itself. Loop thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/base/stats.h"

#define RATES_NOTES 16
#define RATES_SPAN_MS 10000 // what "lately" is

struct rates {
    struct rates_note {
        uint64_t ms; // of a clock that does not jump
        uint64_t lines, events, bytes;
    } notes[RATES_NOTES];
    size_t count; // ever made; the newest is notes[(count - 1) % RATES_NOTES]
};

struct rates_per_second {
    uint64_t lines, events, bytes;
};

// Notes the totals as they are before something is added to them.
void rates_note(struct rates *rates, uint64_t now_ms, const struct stats *stats);

struct rates_per_second rates_get(const struct rates *rates, uint64_t now_ms,
                                  const struct stats *stats);
