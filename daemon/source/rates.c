// SPDX-License-Identifier: Apache-2.0
//
// The notes are a ring: sixteen of them, a second apart, cover more than the ten seconds that a
// rate is of.
#include "daemon/source/rates.h"

#define NOTE_EVERY_MS 1000 // sixteen of them cover the span

static const struct rates_note *nth_newest(const struct rates *rates, size_t n) {
    return &rates->notes[(rates->count - 1 - n) % RATES_NOTES];
}

void rates_note(struct rates *rates, uint64_t now_ms, const struct stats *stats) {
    if (rates->count > 0 && now_ms < nth_newest(rates, 0)->ms + NOTE_EVERY_MS) {
        return;
    }
    rates->notes[rates->count++ % RATES_NOTES] =
        (struct rates_note){now_ms, stats->lines, stats->events, stats->bytes};
}

struct rates_per_second rates_get(const struct rates *rates, uint64_t now_ms,
                                  const struct stats *stats) {
    const struct rates_note *oldest = NULL;
    size_t kept = rates->count < RATES_NOTES ? rates->count : RATES_NOTES;
    for (size_t n = 0; n < kept && nth_newest(rates, n)->ms + RATES_SPAN_MS >= now_ms; n++) {
        oldest = nth_newest(rates, n);
    }
    if (!oldest) {
        return (struct rates_per_second){0, 0, 0};
    }
    uint64_t ms = now_ms - oldest->ms;
    if (ms < NOTE_EVERY_MS) {
        ms = NOTE_EVERY_MS; // else a burst a moment ago would look like many of them in a second
    }
    return (struct rates_per_second){
        .lines = (stats->lines - oldest->lines) * 1000 / ms,
        .events = (stats->events - oldest->events) * 1000 / ms,
        .bytes = (stats->bytes - oldest->bytes) * 1000 / ms,
    };
}
