// SPDX-License-Identifier: Apache-2.0
//
// How much came in lately, without a timer: when a batch is pushed and a second has passed, the
// totals are noted. A rate is what was added since the oldest note of the last seconds. An idle
// daemon notes nothing, and its rate falls to zero by itself. Loop thread only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/base/stats.h"

#define RATES_NOTES 16
#define RATES_SPAN_MS 10000 // of "lately"

struct rates {
    struct rates_note {
        uint64_t ms; // of a clock that does not jump
        uint64_t lines, events, bytes;
    } notes[RATES_NOTES];
    size_t count; // of all notes made; the newest is notes[(count - 1) % RATES_NOTES]
};

struct rates_per_second {
    uint64_t lines, events, bytes;
};

// Notes the totals. To be called before something is added to them.
void rates_note(struct rates *rates, uint64_t now_ms, const struct stats *stats);

struct rates_per_second rates_get(const struct rates *rates, uint64_t now_ms,
                                  const struct stats *stats);
